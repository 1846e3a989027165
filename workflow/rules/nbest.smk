# N-best lists of another decoder (data.kind: lists): cleaned references, and lists divided into files.
#
# needs: the files of data.{train,dev,devtest,test}; the models of text_features.smk, if text_features name any
# makes: corpus/{split}.{target,source,labels}.gz, corpus/{split}.target.{number}.gz (further references),
#        corpus/{split}.first.gz (the translations that the decoder ranks first, of test),
#        corpus/{preparation,recaser}.json, statistics, sentences/{split}/{division}/{file}.h5
from itersel.corpus.text_names import FIRST_COLUMN

# Outputs cannot vary with a wildcard, so there is one rule for each split. Their names differ even if the test sets are
# called a-b and a__b.
IN_NAMES = str.maketrans({"-": "__", "_": "_u_", ".": "_"})

for list_split in PLAN.list_texts.splits:

    rule:
        """clean the references"""
        name:
            f"copy_references_{list_split.translate(IN_NAMES)}"
        input:
            **PLAN.list_texts.user_files(list_split),
        output:
            PLAN.list_texts.texts(list_split),
        log:
            f"{LOGS}/corpus/{list_split}.log",
        conda:
            "../../envs/itersel.yaml"
        params:
            split=lambda wildcards, split=list_split: split,
            folder=lambda wildcards: PLAN.files.corpus,
            settings=PLAN.list_texts.reference_settings,
            code=step_digest("corpus references"),
        shell:
            "itersel corpus references --split {params.split} --reference {input.reference:q} --source {input.source:q}"
            " --labels {input.labels:q} --settings {params.settings:q} --output {params.folder:q} &> {log:q}"


rule take_first_entries:
    """take the first entries of the lists of {split}"""
    input:
        PLAN.list_texts.lists,
    output:
        PLAN.files.text("{split}", FIRST_COLUMN),
    log:
        f"{LOGS}/corpus/{{split}}.first.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(1000, 120),
    params:
        lists=PLAN.list_texts.named_lists,
        code=step_digest("step first-entries"),
    shell:
        "itersel step first-entries --nbest {params.lists:q} --output {output:q} &> {log:q}"


rule divide_lists:
    """divide the lists of {split}"""
    input:
        lists=PLAN.list_texts.lists,
        references=PLAN.list_texts.references,
        quality=PLAN.list_texts.quality,
        source=PLAN.list_texts.sources,
        labels=PLAN.divisions.labels,
        devtest_labels=PLAN.divisions.devtest_labels,
    output:
        directory(f"{DIVISION}/{results.DIVIDED_TEXT}"),
    log:
        f"{LOGS}/sentences/{{split}}/{{division}}/text.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(1500, 240),
    params:
        lists=PLAN.list_texts.named_lists,
        settings=PLAN.list_texts.divide_settings,
        code=step_digest("step divide"),
    shell:
        "itersel step divide --nbest {params.lists:q} --reference {input.references:q} --quality {input.quality:q}"
        " --source {input.source:q}"
        " --labels {input.labels:q} --devtest-labels {input.devtest_labels:q}"
        " --settings {params.settings:q} --output {output:q} &> {log:q}"


rule import_lists:
    """read the lists of {split}"""
    input:
        text=f"{DIVISION}/{results.DIVIDED_TEXT}",
        aligners=PLAN.text_features.aligners,
        text_models=PLAN.text_features.text_models,
        user_models=PLAN.text_features.user_models,
    output:
        f"{DIVISION}/{results.sentence_file('{file}')}",
    log:
        f"{LOGS}/sentences/{{split}}/{{division}}/{{file}}.log",
    benchmark:
        f"{BENCHMARKS}/sentences/{{split}}/{{division}}/{{file}}.tsv"
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(500, 60, lists=9, train=(100, 0.5), language_model=(20, 0)),
    params:
        settings=PLAN.list_texts.list_settings,
        code=step_digest("step lists"),
    shell:
        "itersel step lists --divided-lists {input.text:q} --file-number {wildcards.file}"
        " --aligner {input.aligners:q} --text-models {input.text_models:q} --user-model {input.user_models:q}"
        " --settings {params.settings:q} --output {output:q} &> {log:q}"
