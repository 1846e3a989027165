# Stopping, and choosing the epoch, on devtest; scoring test, tables, the page.
#
# needs: experiments/{experiment}/epoch-{epoch}/{weights.h5,selection.h5,devtest.txt}, best/test.txt,
#        corpus/*.target.gz, evaluation/{test}/counts/*.h5, benchmarks/, report/run.json
# makes: experiments/{experiment}/epoch-{epoch}/patience.json,
#        experiments/{experiment}/best/{system.json,weights.h5,resources.json}, and best-{test_set}/ for a test set
#        with its own devtest; experiments/{experiment}/selection.{txt,tsv,json}, report/{table,corpus}.{txt,tsv,json};
#        report/{table.{tex,md},derivations.json,index.html}; with corpus/*.task.gz: report/tasks.{split}.{txt,tsv,json}
#        and, for independent tasks, experiments/{independent}/tasks/{split}.txt

# Computing tokenised BLEU takes no time; other scores, which need detokenised text, may take long.
SCORES_LOCALLY = not TABLES.scores_text
PREPARATION_OF_TEXT = [] if SCORES_LOCALLY else [FILES.preparation]
RECASER_OF_TEXT = [] if SCORES_LOCALLY else [FILES.recaser]

SYSTEMS = len(CONFIG.experiments) + len(TABLES.outputs)


rule check_patience:
    """{experiment}: score epoch {epoch} on devtest"""
    input:
        references=TABLES.devtest_references,
        translations=f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/devtest.txt",
        previous=lambda wildcards: EPOCHS.of(wildcards).decision_before,
        labels=TABLES.scored_labels,
        originals=TABLES.devtest_originals,
        preparation=PREPARATION_OF_TEXT,
        recaser=RECASER_OF_TEXT,
    output:
        f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/patience.json",
    log:
        f"{LOGS}/patience/{{experiment}}/epoch-{{epoch}}.log",
    localrule: SCORES_LOCALLY
    conda:
        "../../envs/itersel.yaml"
    resources:
        **TEXT.request(2000, 120),
    params:
        settings=TABLES.patience_settings,
        code=step_digest("step patience"),
    shell:
        "itersel step patience --settings {params.settings:q} --references {input.references:q}"
        " --labels {input.labels:q} --raw-references {input.originals:q}"
        " --preparation {input.preparation:q} --recaser {input.recaser:q}"
        " --translations {input.translations:q} --previous {input.previous:q} --output {output:q} &> {log:q}"


# The weights of the best epoch are copied to a name known in advance, so the rules that use them do not depend on the
# number of the epoch. A checkpoint would build a new DAG for every experiment.
rule choose_epoch:
    """{experiment}: choose the best epoch"""
    input:
        references=TABLES.devtest_references,
        translations=EPOCHS.of_all("devtest.txt"),
        weights=EPOCHS.of_all("weights.h5"),
        labels=TABLES.scored_labels,
        originals=TABLES.devtest_originals,
        preparation=PREPARATION_OF_TEXT,
        recaser=RECASER_OF_TEXT,
    output:
        weights=f"{RESULTS}/experiments/{{experiment}}/best/weights.h5",
        system=f"{RESULTS}/experiments/{{experiment}}/best/system.json",
    log:
        f"{LOGS}/choose/{{experiment}}.log",
    localrule: SCORES_LOCALLY
    conda:
        "../../envs/itersel.yaml"
    resources:
        **TEXT.request(2000, 120),
    params:
        settings=TABLES.choose_settings,
        code=step_digest("step choose"),
    shell:
        "itersel step choose --settings {params.settings:q} --references {input.references:q}"
        " --labels {input.labels:q} --raw-references {input.originals:q}"
        " --preparation {input.preparation:q} --recaser {input.recaser:q}"
        " --translations {input.translations:q} --weights {input.weights:q}"
        " --output-weights {output.weights:q} --output {output.system:q} &> {log:q}"


# For a test set with its own devtest.
use rule choose_epoch as choose_epoch_for_test_set with:
    input:
        references=TABLES.devtest_references,
        translations=EPOCHS.of_all("devtest.{test_set}.txt"),
        weights=EPOCHS.of_all("weights.h5"),
        labels=[],
        originals=TABLES.devtest_originals,
        preparation=PREPARATION_OF_TEXT,
        recaser=RECASER_OF_TEXT,
    output:
        weights=f"{RESULTS}/experiments/{{experiment}}/best-{{test_set}}/weights.h5",
        system=f"{RESULTS}/experiments/{{experiment}}/best-{{test_set}}/system.json",
    log:
        f"{LOGS}/choose/{{experiment}}/{{test_set}}.log",
    localrule: SCORES_LOCALLY


# For `itersel translate`.
rule describe_resources:
    """takes no time"""
    input:
        model=FILES.model,
        index=FILES.index,
        preparation=FILES.preparation,
        recaser=FILES.recaser,
    output:
        f"{RESULTS}/experiments/{{experiment}}/best/resources.json",
    log:
        f"{LOGS}/resources/{{experiment}}.log",
    localrule: True
    conda:
        "../../envs/itersel.yaml"
    params:
        settings=TABLES.resource_settings,
        code=step_digest("step resources"),
    shell:
        "itersel step resources --model {input.model:q} --index {input.index:q}"
        " --preparation {input.preparation:q} --recaser {input.recaser:q}"
        " --settings {params.settings:q} --output {output:q} &> {log:q}"


rule describe_selection:
    """{experiment}: describe the selection"""
    input:
        EPOCHS.of_all("selection.h5"),
    output:
        multiext(
            f"{RESULTS}/experiments/{{experiment}}/selection",
            text=".txt",
            tsv=".tsv",
            json=".json",
        ),
    log:
        f"{LOGS}/selection/{{experiment}}.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **TEXT.request(8000, 60),
    params:
        code=step_digest("step selection"),
    shell:
        "itersel step selection --matrices {input:q} --output {output:q} &> {log:q}"


rule compare_systems:
    """compare the experiments"""
    input:
        references=TABLES.test_references,
        systems=TABLES.of_test_sets(TABLES.system_files),
        translations=TABLES.of_test_sets(TABLES.translations),
        counts=TABLES.of_test_sets(TABLES.counts),
        outputs=TABLES.of_test_sets(TABLES.output_texts),
        preparation=[FILES.preparation] if TABLES.outputs else [],
    output:
        text=report(
            f"{RESULTS}/report/table.txt",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "systems"},
        ),
        tsv=f"{RESULTS}/report/table.tsv",
        json=f"{RESULTS}/report/table.json",
    log:
        f"{LOGS}/compare.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **TEXT.request(4000, 60 + 5 * SYSTEMS, compared=2000),
    params:
        settings=TABLES.table_settings,
        code=step_digest("step table"),
    shell:
        # not an argument: Linux limits each to 128 KB
        "(printf %s {params.settings:q} | itersel step table --settings - --preparation {input.preparation:q}"
        " --output {output:q}) &> {log:q}"


# For independent tasks: the translation of each sentence with the weights of its task.
rule join_tasks:
    """takes no time"""
    input:
        labels=FILES.text("{split}", "task"),
        translations=TABLES.own_translations,
    output:
        f"{RESULTS}/experiments/{{independent}}/tasks/{{split}}.txt",
    log:
        f"{LOGS}/join/{{independent}}/{{split}}.log",
    wildcard_constraints:
        independent=one_of(TABLES.independent),
    localrule: True
    conda:
        "../../envs/itersel.yaml"
    params:
        settings=TABLES.join_settings,
        code=step_digest("step join"),
    shell:
        "itersel step join --labels {input.labels:q} --settings {params.settings:q} --output {output:q} &> {log:q}"


rule compare_tasks:
    """compare tasks on {split}"""
    input:
        labels=FILES.text("{split}", "task"),
        references=lambda wildcards: TEXTS.references(wildcards.split),
        translations=lambda wildcards: list(dict(TABLES.task_systems(wildcards.split))),
    output:
        multiext(
            f"{RESULTS}/report/tasks.{{split}}", text=".txt", tsv=".tsv", json=".json"
        ),
    log:
        f"{LOGS}/compare-tasks/{{split}}.log",
    wildcard_constraints:
        split=one_of(TABLES.task_splits),
    conda:
        "../../envs/itersel.yaml"
    resources:
        **TEXT.request(4000, 60 + 5 * SYSTEMS, compared=2000),
    params:
        settings=TABLES.task_settings,
        code=step_digest("step tasks"),
    shell:
        "(printf %s {params.settings:q} | itersel step tasks --settings - --labels {input.labels:q}"
        " --references {input.references:q} --output {output:q}) &> {log:q}"


rule count_rules:
    """count rules"""
    input:
        lambda wildcards: SHARDS.grammars(
            wildcards.split, TABLES.counted[wildcards.split]
        ),
    output:
        f"{RESULTS}/report/rules.{{split}}.json",
    log:
        f"{LOGS}/rules/{{split}}.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **TEXT.request(2000, 60),
    params:
        shards=lambda wildcards, input: sequence(input),
        code=step_digest("step rules"),
    shell:
        "(seq {params.shards} | itersel step rules --shards - --output {output:q}) &> {log:q}"


rule describe_corpus:
    """describe the corpus"""
    input:
        collection=TEXTS.collection,
        statistics=TEXTS.statistics,
        rules=TABLES.counts_of_rules,
    output:
        text=report(
            f"{RESULTS}/report/corpus.txt",
            caption="../report/corpus.rst",
            category="Tables",
            labels={"table": "corpora"},
        ),
        tsv=f"{RESULTS}/report/corpus.tsv",
        json=f"{RESULTS}/report/corpus.json",
    log:
        f"{LOGS}/corpus-table.log",
    conda:
        "../../envs/itersel.yaml"
    params:
        settings=lambda wildcards: TABLES.corpora_settings,
        code=step_digest("step corpora"),
    shell:
        "itersel step corpora --settings {params.settings:q} --preparation {input.statistics:q}"
        " --collection {input.collection:q} --output {output:q} &> {log:q}"


rule write_paper_tables:
    """write the tables for papers"""
    input:
        f"{RESULTS}/report/table.json",
    output:
        latex=f"{RESULTS}/report/table.tex",
        markdown=f"{RESULTS}/report/table.md",
    log:
        f"{LOGS}/paper-tables.log",
    localrule: True
    conda:
        "../../envs/itersel.yaml"
    params:
        code=step_digest("report paper"),
    shell:
        "itersel report paper --table {input:q} --output {output:q} &> {log:q}"


rule explain_translations:
    """explain the translations that differ most"""
    input:
        table=f"{RESULTS}/report/table.json",
        model=FILES.model,
        shards=TABLES.explained_shards,
    output:
        f"{RESULTS}/report/derivations.json",
    log:
        f"{LOGS}/explain.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **TEXT.request(2000, 60),
    params:
        shards=lambda wildcards, input: sequence(input.shards),
        results=lambda wildcards, output: os.path.dirname(os.path.dirname(output[0])),
        settings=PLAN.explain_settings,
        code=step_digest("step explain"),
    shell:
        "(seq {params.shards} | itersel step explain --shards - --model {input.model:q}"
        " --results={params.results:q} --settings {params.settings:q}"
        " --output {output:q}) &> {log:q}"


# The page shows all files that exist, so it only needs to wait for those that are written last.
rule write_page:
    """write the page"""
    input:
        table=f"{RESULTS}/report/table.json",
        corpus=f"{RESULTS}/report/corpus.json",
        selections=FILES.experiments(EPOCHS.selecting, "selection.json"),
        derivations=TABLES.explained_derivations,
    output:
        report(
            f"{RESULTS}/report/index.html",
            caption="../report/page.rst",
            category="Charts and translations",
            labels={"page": "the whole run"},
        ),
    log:
        f"{LOGS}/page.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **TEXT.request(4000, 60),
    params:
        results=lambda wildcards, output: os.path.dirname(os.path.dirname(output[0])),
        config=PLAN.config_digest(),
        code=step_digest("report page"),
        assets=sources.assets_digest(),
    shell:
        "itersel report page --results={params.results:q} --output {output:q} &> {log:q}"
