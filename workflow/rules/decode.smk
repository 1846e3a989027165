# Translations of devtest with the weights of every epoch, and of test with the weights of the best epoch.
#
# needs: sentences/{devtest,test}/{division}/{piece}.h5, experiments/{experiment}/{stage}/weights.h5, and mbr.json for
#        minimum Bayes risk
# makes: experiments/{experiment}/{stage}/{split}.txt; a stage is an epoch, `best`, or
#        `best-{test_set}`. Sentences of test sets and devtest are in the order of the corpus. Those of train and dev, which
#        can be translated, too, are in the order of their division (sentences/{split}/{division}/text).

PIECES_OF_SPLIT = PLAN.divisions.folder("{split}", PLAN.divisions.of_pieces)


rule decode_piece:
    """{experiment}: translate {split} ({stage})"""
    input:
        unpack(PLAN.epochs.passed_translation),
        sentences=f"{PIECES_OF_SPLIT}/{results.sentence_file('{piece}')}",
        language_model=PLAN.origin.language_models,
        weights=f"{EXPERIMENT}/{{stage}}/{results.WEIGHTS}",
        mbr=PLAN.choice.mbr,
    output:
        f"{EXPERIMENT}/{{stage}}/{results.translated_piece('{split}', '{piece}')}",
    log:
        f"{LOGS}/decode/{{experiment}}/{{stage}}/{{split}}/{{piece}}.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request_to_decode(minutes=120),
    params:
        settings=PLAN.origin.decode_settings,
        code=step_digest("decode"),
    shell:
        "itersel decode --sentences {input.sentences:q} --language-model {input.language_model:q} --weights {input.weights:q}"
        " --decision {input.decision:q} --passed-on {input.passed_on:q}"
        " --settings {params.settings:q} --chosen-mbr {input.mbr:q} --output {output:q} &> {log:q}"


# The command does not name the pieces. Snakemake writes a command that is too long to a script and calls it in double
# quotes, where the shell would execute parts of the folder's name.
rule join_pieces:
    """takes no time"""
    input:
        PLAN.epochs.translated_pieces,
    output:
        f"{EXPERIMENT}/{{stage}}/{results.translation_file('{split}')}",
    log:
        f"{LOGS}/join/{{experiment}}/{{stage}}/{{split}}.log",
    localrule: True
    conda:
        "../../envs/itersel.yaml"
    params:
        files=lambda wildcards, input: sequence(input),
    shell:
        "(seq {params.files} | xargs --delimiter='\\n' cat --) > {output:q} 2> {log:q}"
