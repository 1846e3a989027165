# The parallel text: fetched or given, prepared and split.
#
# needs: nothing (LibreOffice Help), or the files of data.{train,dev,devtest,test}
# makes: corpus/{split}.{source,target,task}.gz, corpus/{split}.target.{number}.gz (further references),
#        corpus/{split}.raw.gz, corpus/{split}.raw.{number}.gz (references as given, of all splits but train),
#        corpus/preparation.json, corpus/recaser.json, statistics
if CONFIG.data.kind == "libreoffice-help":

    rule fetch_help:
        input:
            help_files(),
        output:
            multiext(
                f"{RESULTS}/corpus/help/",
                source="source.gz",
                target="target.gz",
                task="task.gz",
                statistics="statistics.json",
            ),
        log:
            f"{LOGS}/corpus/help.log",
        conda:
            "../../envs/itersel.yaml"
        resources:
            **SIZES["fetch_help"],
        params:
            options=commands.help_options(CONFIG),
            folder=lambda wildcards, output: os.path.dirname(output.source),
            code=step_digest("corpus", "_libreoffice_help"),
        shell:
            "itersel corpus libreoffice-help {params.options} --output {params.folder:q} &> {log:q}"

    rule prepare_help:
        input:
            **given_files("hash"),
        output:
            prepared_files(),
        log:
            f"{LOGS}/corpus/prepare.log",
        conda:
            "../../envs/itersel.yaml"
        resources:
            **SIZES["prepare_help"],
        params:
            options=prepare_options,
            code=step_digest("corpus", "_prepare"),
        shell:
            "itersel corpus prepare {params.options} &> {log:q}"

else:

    rule prepare_train:
        input:
            **given_files("train"),
        output:
            prepared_files(),
        log:
            f"{LOGS}/corpus/prepare.log",
        conda:
            "../../envs/itersel.yaml"
        resources:
            **SIZES["prepare_train"],
        params:
            options=prepare_options,
            code=step_digest("corpus", "_prepare"),
        shell:
            "itersel corpus prepare {params.options} &> {log:q}"


# Held-out text is prepared like train. Outputs cannot vary with a wildcard, so there is one rule for each set of further
# files: prepare_held_out, prepare_held_out_task, prepare_held_out_target_1, ...
for further in sorted({further_columns(split) for split in GIVEN_SPLITS}):

    rule:
        name:
            "_".join(["prepare_held_out", *further]).replace(".", "_")
        input:
            unpack(lambda wildcards: given_files(wildcards.held_out)),
            preparation=PREPARATION,
        output:
            source=corpus_file("{held_out}", "source"),
            target=corpus_file("{held_out}", "target"),
            further=[corpus_file("{held_out}", column) for column in further],
            raw=[corpus_file("{held_out}", column) for column in raw_columns(further)],
            statistics=f"{RESULTS}/corpus/{{held_out}}.statistics.json",
        log:
            f"{LOGS}/corpus/{{held_out}}.log",
        wildcard_constraints:
            held_out=one_of(
                split for split in GIVEN_SPLITS if further_columns(split) == further
            ),
        conda:
            "../../envs/itersel.yaml"
        params:
            options=prepare_options,
            code=step_digest("corpus", "_prepare"),
        shell:
            "itersel corpus prepare {params.options} &> {log:q}"
