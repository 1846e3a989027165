# The parallel text: fetched or given, prepared and split.
#
# needs: nothing (LibreOffice Help; downloaded corpora), or the files of data.{train,dev,devtest,test}
# makes: corpus/fetched/{fetched}/{source,target}.gz (downloaded corpora),
#        corpus/{split}.{source,target,labels}.gz, corpus/{split}.target.{number}.gz (further references),
#        corpus/{split}.raw.gz, corpus/{split}.raw.{number}.gz, corpus/{split}.raw.source.gz (raw references and
#        source of all splits except train),
#        corpus/preparation.json, corpus/recaser.json, statistics
from itertools import groupby

from itersel.config.splits import is_help
from itersel.corpus.text_names import (
    HELP_COLUMNS,
    RAW_SOURCE,
    STATISTICS,
    collected_file,
)

if is_help(EXPANDED_CONFIG):

    rule fetch_help:
        """fetch the LibreOffice Help"""
        input:
            HELP_FILES,
        output:
            [f"{PLAN.files.help}/{collected_file(column)}" for column in HELP_COLUMNS],
            f"{PLAN.files.help}/{STATISTICS}",
        log:
            f"{LOGS}/corpus/help.log",
        # a download; the nodes of many clusters have no network
        localrule: EXPANDED_CONFIG.data.folder is None
        conda:
            "../../envs/itersel.yaml"
        resources:
            **SIZES.request(2000, 60),
        params:
            given=PLAN.texts.help_folder,
            folder=lambda wildcards: PLAN.files.help,
            settings=PLAN.texts.help_settings,
            code=step_digest("corpus libreoffice-help"),
        shell:
            "itersel corpus libreoffice-help --folder {params.given:q} --settings {params.settings:q}"
            " --output {params.folder:q} &> {log:q}"


rule prepare_train:
    """prepare the text"""
    input:
        corpora=PLAN.texts.raw_files(PLAN.texts.first),
        monolingual=PLAN.texts.monolingual,
    output:
        PLAN.texts.prepared,
    log:
        f"{LOGS}/corpus/prepare.log",
    conda:
        "../../envs/itersel.yaml"
    threads: SIZES.preparation_processes
    resources:
        # 60 MB for each process
        **SIZES.request(700 + 60 * SIZES.preparation_processes, 60, train=(150, 2)),
    params:
        folder=lambda wildcards: PLAN.files.corpus,
        settings=PLAN.texts.prepare_settings,
        code=step_digest("corpus prepare"),
    shell:
        # not an argument: Linux limits each to 128 KB
        "(printf %s {params.settings:q} | itersel corpus prepare --settings -"
        " --monolingual {input.monolingual:q} --processes {threads} --output {params.folder:q}) &> {log:q}"


# Outputs cannot vary with a wildcard, so there is one rule for each number of references: fetch_corpus,
# fetch_corpus_target_1, ...
for columns, names in groupby(
    sorted(PLAN.texts.downloads, key=PLAN.texts.fetched_columns),
    PLAN.texts.fetched_columns,
):

    rule:
        """fetch {fetched}"""
        name:
            "_".join(["fetch_corpus", *columns[2:]]).replace(".", "_")
        output:
            [
                f"{PLAN.files.fetched}/{{fetched}}/{collected_file(column)}"
                for column in columns
            ],
            f"{PLAN.files.fetched}/{{fetched}}/{STATISTICS}",
        log:
            f"{LOGS}/corpus/fetched/{{fetched}}.log",
        wildcard_constraints:
            fetched=one_of(names),
        # the nodes of many clusters have no network
        localrule: True
        conda:
            "../../envs/itersel.yaml"
        params:
            folder=lambda wildcards: f"{PLAN.files.fetched}/{wildcards.fetched}",
            settings=PLAN.texts.fetch_settings,
            code=step_digest("corpus fetch"),
        shell:
            "itersel corpus fetch --settings {params.settings:q} --output {params.folder:q} &> {log:q}"


# Held-out text is prepared like train. Outputs cannot vary with a wildcard, so there is one rule for each set of
# further files: prepare_held_out, prepare_held_out_labels, prepare_held_out_target_1, ...
for further, held_out in groupby(
    sorted(PLAN.texts.given, key=PLAN.texts.further_columns), PLAN.texts.further_columns
):

    rule:
        """prepare {held_out}"""
        name:
            "_".join(["prepare_held_out", *further]).replace(".", "_")
        input:
            lambda wildcards: PLAN.texts.raw_files(wildcards.held_out),
            preparation=PLAN.files.preparation,
        output:
            source=PLAN.files.text("{held_out}", "source"),
            target=PLAN.files.text("{held_out}", "target"),
            further=[PLAN.files.text("{held_out}", column) for column in further],
            raw=[
                PLAN.files.text("{held_out}", column)
                for column in (*PLAN.origin.raw_columns(further), RAW_SOURCE)
            ],
            statistics=PLAN.files.statistics("{held_out}"),
        log:
            f"{LOGS}/corpus/{{held_out}}.log",
        wildcard_constraints:
            held_out=one_of(held_out),
        conda:
            "../../envs/itersel.yaml"
        params:
            folder=lambda wildcards: PLAN.files.corpus,
            settings=PLAN.texts.prepare_settings,
            code=step_digest("corpus prepare"),
        shell:
            "itersel corpus prepare --preparation {input.preparation:q} --settings {params.settings:q}"
            " --output {params.folder:q} &> {log:q}"
