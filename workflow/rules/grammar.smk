# Per-sentence grammars and features, in one file for each part or piece of a split (docs/architecture.md).
#
# needs: corpus/{split}.{source,target}.gz, the alignment of train
# makes: grammar/index, sentences/{split}/{division}/{file}.h5; experiments with the same tasks and
#        the same seed share them
#
# train and dev are shuffled before they are divided, so that shards are alike; devtest and test are divided in
# order, because their translations are joined again. The grammar of a sentence in train is extracted from the
# rest of train (leave-one-out).


rule index_corpus:
    """index the corpus"""
    input:
        source=PLAN.files.text("train", "source"),
        target=PLAN.files.text("train", "target"),
        alignment=PLAN.texts.alignment,
    output:
        PLAN.files.index,
    log:
        f"{LOGS}/grammar/index.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request_to_index(),
    params:
        code=step_digest("grammar index"),
    shell:
        "itersel grammar index --source {input.source:q} --target {input.target:q}"
        " --alignment {input.alignment:q} --output {output:q} &> {log:q}"


rule divide_corpus:
    """divide {split}"""
    input:
        source=PLAN.files.text("{split}", "source"),
        target=PLAN.files.text("{split}", "target"),
        further=PLAN.divisions.further_texts,
        labels=PLAN.divisions.labels,
        devtest_labels=PLAN.divisions.devtest_labels,
    output:
        directory(f"{DIVISION}/{results.DIVIDED_TEXT}"),
    log:
        f"{LOGS}/sentences/{{split}}/{{division}}/text.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(500, 30, train=(30, 0.2)),
    params:
        settings=PLAN.divisions.divide_settings,
        code=step_digest("step divide"),
    shell:
        "itersel step divide --source {input.source:q} --target {input.target:q} {input.further:q}"
        " --labels {input.labels:q} --devtest-labels {input.devtest_labels:q}"
        " --settings {params.settings:q} --output {output:q} &> {log:q}"


rule extract_grammars:
    """extract grammars of {split}"""
    input:
        index=PLAN.files.index,
        text=f"{DIVISION}/{results.DIVIDED_TEXT}",
    output:
        f"{DIVISION}/{results.sentence_file('{file}')}",
    log:
        f"{LOGS}/sentences/{{split}}/{{division}}/{{file}}.log",
    benchmark:
        f"{BENCHMARKS}/sentences/{{split}}/{{division}}/{{file}}.tsv"
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request_to_extract(),
    params:
        source=PLAN.divisions.source,
        references=PLAN.divisions.references,
        leave_one_out=PLAN.divisions.lines_in_index,
        settings=PLAN.divisions.grammar,
        code=step_digest("grammar extract"),
    shell:
        "itersel grammar extract --index {input.index:q} --input {params.source:q}"
        " --reference {params.references:q} --leave-one-out {params.leave_one_out:q}"
        " --settings {params.settings:q} --output {output:q} &> {log:q}"
