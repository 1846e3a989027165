# Choice of the epoch on devtest, scores on test, tables.
#
# needs: experiments/{experiment}/epoch-{epoch}/{weights.h5,selection.h5,devtest.txt}, best/test.txt,
#        corpus/*.target.gz
# makes: experiments/{experiment}/best/{system.json,weights.h5,resources.json}, and best-{test_set}/ for a test set
#        with its own devtest; experiments/{experiment}/selection.{txt,tsv,json}, report/{table,corpus}.{txt,tsv,json};
#        of tasks, with corpus/*.task.gz, report/tasks.{split}.{txt,tsv,json}, and of independent ones
#        experiments/{independent}/tasks/{split}.txt


localrules:
    all,
    join_translations,
    choose_epoch,
    choose_epoch_for_test_set,
    describe_resources,
    join_tasks,


# The weights of the best epoch are copied under a name known beforehand, so that the rules that use
# them need not wait for the number: a checkpoint would cost a new DAG for every experiment.
rule choose_epoch:
    input:
        references=references("devtest"),
        translations=of_epochs("devtest.txt"),
        weights=of_epochs("weights.h5"),
        labels=scored_labels,
    output:
        weights=f"{RESULTS}/experiments/{{experiment}}/best/weights.h5",
        system=f"{RESULTS}/experiments/{{experiment}}/best/system.json",
    log:
        f"{LOGS}/choose/{{experiment}}.log",
    conda:
        "../../envs/itersel.yaml"
    params:
        options=system_options,
        code=step_digest("report", "_choose"),
    shell:
        "itersel report choose {params.options} --translations {input.translations:q}"
        " --weights {input.weights:q}"
        " --output-weights {output.weights:q} --output {output.system:q} &> {log:q}"


# For a test set that has its own devtest.
use rule choose_epoch as choose_epoch_for_test_set with:
    input:
        references=lambda wildcards: references(OWN_DEVTESTS[wildcards.test_set]),
        translations=of_epochs("devtest.{test_set}.txt"),
        weights=of_epochs("weights.h5"),
    output:
        weights=f"{RESULTS}/experiments/{{experiment}}/best-{{test_set}}/weights.h5",
        system=f"{RESULTS}/experiments/{{experiment}}/best-{{test_set}}/system.json",
    log:
        f"{LOGS}/choose/{{experiment}}/{{test_set}}.log",


# For `itersel translate`.
rule describe_resources:
    input:
        model=MODEL,
        index=INDEX,
        preparation=PREPARATION,
    output:
        f"{RESULTS}/experiments/{{experiment}}/best/resources.json",
    log:
        f"{LOGS}/resources/{{experiment}}.log",
    conda:
        "../../envs/itersel.yaml"
    params:
        options=resource_options,
        code=step_digest("report", "_resources"),
    shell:
        "itersel report resources --model {input.model:q} --index {input.index:q}"
        " --preparation {input.preparation:q} {params.options} --output {output:q} &> {log:q}"


rule describe_selection:
    input:
        of_epochs("selection.h5"),
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
        **SIZES["describe_selection"],
    params:
        code=step_digest("report", "_selection"),
    shell:
        "itersel report selection --matrices {input:q} --output {output:q} &> {log:q}"


rule compare_systems:
    input:
        references=[path for split in TEST_SETS.values() for path in references(split)],
        systems=sum(of_test_sets("system.json").values(), []),
        translations=sum(of_test_sets("{split}.txt").values(), []),
    output:
        multiext(f"{RESULTS}/report/table", text=".txt", tsv=".tsv", json=".json"),
    log:
        f"{LOGS}/compare.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES["compare_systems"],
    params:
        names=COMPARED,
        options=comparison_options(),
        code=step_digest("report", "_table"),
    shell:
        "itersel report table {params.options} --output {output:q} &> {log:q}"


# Of independent tasks: for each sentence the translation with the weights of its task.
rule join_tasks:
    input:
        labels=corpus_file("{split}", "task"),
        translations=own_translations,
    output:
        f"{RESULTS}/experiments/{{independent}}/tasks/{{split}}.txt",
    log:
        f"{LOGS}/join/{{independent}}/{{split}}.log",
    wildcard_constraints:
        independent=one_of(INDEPENDENT),
    conda:
        "../../envs/itersel.yaml"
    params:
        tasks=lambda wildcards: shlex.join(INDEPENDENT[wildcards.independent]),
        code=step_digest("report", "_join"),
    shell:
        "itersel report join --labels {input.labels:q} --tasks {params.tasks}"
        " --translations {input.translations:q} --output {output:q} &> {log:q}"


rule compare_tasks:
    input:
        labels=corpus_file("{split}", "task"),
        references=lambda wildcards: references(wildcards.split),
        translations=lambda wildcards: list(dict(task_systems(wildcards.split))),
    output:
        multiext(
            f"{RESULTS}/report/tasks.{{split}}", text=".txt", tsv=".tsv", json=".json"
        ),
    log:
        f"{LOGS}/compare-tasks/{{split}}.log",
    wildcard_constraints:
        split=one_of(TASK_SPLITS),
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES["compare_systems"],
    params:
        tasks=shlex.join(TASK_LABELS),
        options=task_options,
        code=step_digest("report", "_tasks"),
    shell:
        "itersel report tasks {params.options} --tasks {params.tasks} --output {output:q} &> {log:q}"


rule count_rules:
    input:
        counted_shards,
    output:
        f"{RESULTS}/report/rules.{{split}}.json",
    log:
        f"{LOGS}/rules/{{split}}.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES["count_rules"],
    params:
        shards=lambda wildcards, input: sequence(input),
        code=step_digest("report", "_rules"),
    shell:
        "(seq {params.shards} | itersel report rules --shards - --output {output:q}) &> {log:q}"


rule describe_corpus:
    input:
        collection=collection_statistics(),
        statistics=statistics_files(),
        rules=counts_of_rules(),
    output:
        multiext(f"{RESULTS}/report/corpus", text=".txt", tsv=".tsv", json=".json"),
    log:
        f"{LOGS}/corpus-table.log",
    conda:
        "../../envs/itersel.yaml"
    params:
        options=corpus_options(),
        code=step_digest("report", "_corpus"),
    shell:
        "itersel report corpus {params.options} --output {output:q} &> {log:q}"
