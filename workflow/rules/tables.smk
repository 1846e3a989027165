# Scoring test, and the tables of a run.
#
# needs: experiments/{experiment}/best/{system.json,test.txt}, experiments/{experiment}/epoch-{epoch}/matrix.h5,
#        corpus/*.target.gz, evaluation/{test}/counts/*.h5, and the files of evaluation.user_scores
# makes: experiments/{experiment}/selection.{txt,tsv,json}, report/{table,corpus}.{txt,tsv,json}, report/table.{tex,md},
#        report/rules.{split}.json; with corpus/*.labels.gz: report/tasks.{split}.{txt,tsv,json} and, for independent tasks,
#        experiments/{independent}/tasks/{split}.txt

SYSTEMS = len(EXPANDED_CONFIG.experiments) + len(PLAN.tables.outputs)


rule describe_selection:
    """{experiment}: describe the selection"""
    input:
        PLAN.epochs.of_all(results.WEIGHT_MATRIX),
    output:
        text=f"{EXPERIMENT}/selection.txt",
        tsv=f"{EXPERIMENT}/selection.tsv",
        json=f"{EXPERIMENT}/{results.SELECTION_TABLE}",
    log:
        f"{LOGS}/selection/{{experiment}}.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(8000, 60),
    params:
        code=step_digest("step selection"),
    shell:
        "itersel step selection --matrix {input:q} --output {output:q} &> {log:q}"


rule compare_systems:
    """compare the experiments"""
    input:
        references=PLAN.tables.test_references,
        systems=PLAN.tables.of_test_sets(PLAN.tables.system_files),
        translations=PLAN.tables.of_test_sets(PLAN.tables.translations),
        counts=PLAN.tables.of_test_sets(PLAN.tables.counts),
        outputs=PLAN.tables.of_test_sets(PLAN.tables.output_texts),
        preparation=[PLAN.files.preparation] if PLAN.tables.outputs else [],
        scores=PLAN.tables.score_files,
    output:
        text=report(
            f"{REPORT}/table.txt",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "systems"},
        ),
        tsv=f"{REPORT}/table.tsv",
        json=f"{RESULTS}/{results.TABLE}",
    log:
        f"{LOGS}/compare.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(4000, 60 + 5 * SYSTEMS, compared=2000),
    params:
        settings=PLAN.tables.table_settings,
        code=step_digest("step table"),
    shell:
        # not an argument: Linux limits each to 128 KB
        "(printf %s {params.settings:q} | itersel step table --settings - --preparation {input.preparation:q}"
        " --output {output:q}) &> {log:q}"


# For independent tasks: the translation of each sentence with the weights of its task.
rule join_tasks:
    """takes no time"""
    input:
        labels=PLAN.files.text("{split}", "labels"),
        translations=PLAN.tables.task_translations,
    output:
        f"{EXPERIMENTS}/{{independent}}/{results.joined_translation('{split}')}",
    log:
        f"{LOGS}/join/{{independent}}/{{split}}.log",
    wildcard_constraints:
        independent=one_of(PLAN.tables.independent),
    localrule: True
    conda:
        "../../envs/itersel.yaml"
    params:
        settings=PLAN.tables.join_settings,
        code=step_digest("step join"),
    shell:
        "itersel step join --labels {input.labels:q} --settings {params.settings:q} --output {output:q} &> {log:q}"


rule compare_tasks:
    """compare tasks on {split}"""
    input:
        labels=PLAN.files.text("{split}", "labels"),
        references=lambda wildcards: PLAN.texts.references(wildcards.split),
        translations=lambda wildcards: list(
            dict(PLAN.tables.task_systems(wildcards.split))
        ),
    output:
        multiext(f"{REPORT}/tasks.{{split}}", text=".txt", tsv=".tsv", json=".json"),
    log:
        f"{LOGS}/compare-tasks/{{split}}.log",
    wildcard_constraints:
        split=one_of(PLAN.tables.task_splits),
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(4000, 60 + 5 * SYSTEMS, compared=2000),
    params:
        settings=PLAN.tables.task_settings,
        code=step_digest("step tasks"),
    shell:
        "(printf %s {params.settings:q} | itersel step tasks --settings - --labels {input.labels:q}"
        " --reference {input.references:q} --output {output:q}) &> {log:q}"


rule count_rules:
    """count rules"""
    input:
        PLAN.rule_counts.sentence_files,
    output:
        f"{RESULTS}/{results.rule_counts_file('{split}')}",
    log:
        f"{LOGS}/rules/{{split}}.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(2000, 60),
    params:
        files=lambda wildcards, input: sequence(input),
        code=step_digest("step rules"),
    shell:
        "(seq {params.files} | itersel step rules --inputs - --output {output:q}) &> {log:q}"


rule describe_corpus:
    """describe the corpus"""
    input:
        collection=PLAN.texts.collection,
        statistics=PLAN.texts.statistics,
        rules=PLAN.rule_counts.files,
    output:
        text=report(
            f"{REPORT}/corpus.txt",
            caption="../report/corpus.rst",
            category="Tables",
            labels={"table": "corpora"},
        ),
        tsv=f"{REPORT}/corpus.tsv",
        json=f"{RESULTS}/{results.CORPUS_TABLE}",
    log:
        f"{LOGS}/corpus-table.log",
    conda:
        "../../envs/itersel.yaml"
    params:
        settings=lambda wildcards: PLAN.rule_counts.settings,
        code=step_digest("step corpora"),
    shell:
        "itersel step corpora --settings {params.settings:q} --statistics {input.statistics:q}"
        " --collection {input.collection:q} --output {output:q} &> {log:q}"


rule write_paper_tables:
    """write the tables for papers"""
    input:
        f"{RESULTS}/{results.TABLE}",
    output:
        latex=f"{REPORT}/table.tex",
        markdown=f"{REPORT}/table.md",
    log:
        f"{LOGS}/paper-tables.log",
    localrule: True
    conda:
        "../../envs/itersel.yaml"
    params:
        code=step_digest("report paper"),
    shell:
        "itersel report paper --table {input:q} --output {output:q} &> {log:q}"
