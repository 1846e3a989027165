# Stopping, and choosing the epoch, on devtest.
#
# needs: experiments/{experiment}/epoch-{epoch}/{weights.h5,devtest.txt}, corpus/*.target.gz;
#        for choose_by: quality, the files of data.devtest
# makes: experiments/{experiment}/epoch-{epoch}/decision.json,
#        experiments/{experiment}/best/{system.json,weights.h5}, and best-{test_set}/ for a test set with its own devtest;
#        with mbr, experiments/{experiment}/best/mbr.json, likewise

# Computing tokenized BLEU takes no time; other scores, which need detokenised text or read lists, may take long.
SCORES_LOCALLY = not (PLAN.choice.scores_text or PLAN.list_texts.scores_quality)
PREPARATION_OF_TEXT = [] if SCORES_LOCALLY else [PLAN.files.preparation]
RECASER_OF_TEXT = [PLAN.files.recaser] if PLAN.choice.scores_text else []
BEST_FOR_TEST_SET = results.best_folder("{test_set}")
# One job decodes all pieces of devtest to choose a scale.
PIECES = EXPANDED_CONFIG.decoder.pieces


rule check_patience:
    """{experiment}: score epoch {epoch} on devtest"""
    input:
        references=PLAN.choice.devtest_references,
        translations=f"{EPOCH}/{results.translation_file('devtest')}",
        previous=lambda wildcards: PLAN.epochs.of(wildcards).decision_before,
        labels=PLAN.choice.devtest_labels,
        raw_references=PLAN.choice.devtest_raw_references,
        preparation=PREPARATION_OF_TEXT,
        recaser=RECASER_OF_TEXT,
        lists=PLAN.list_texts.devtest_lists,
        quality=PLAN.list_texts.devtest_quality,
    output:
        f"{EPOCH}/{results.DECISION}",
    log:
        f"{LOGS}/patience/{{experiment}}/epoch-{{epoch}}.log",
    localrule: SCORES_LOCALLY
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(2000, 120),
    params:
        settings=PLAN.choice.patience_settings,
        lists=PLAN.list_texts.named_devtest_lists,
        code=step_digest("step patience"),
    shell:
        "itersel step patience --settings {params.settings:q} --reference {input.references:q}"
        " --labels {input.labels:q} --raw-reference {input.raw_references:q}"
        " --preparation {input.preparation:q} --recaser {input.recaser:q}"
        " --nbest {params.lists:q} --quality {input.quality:q}"
        " --translation {input.translations:q} --previous {input.previous:q} --output {output:q} &> {log:q}"


# The weights of the best epoch are copied to a name known in advance, so the rules that use them do not depend on the
# number of the epoch. A checkpoint would build a new DAG for every experiment.
rule choose_epoch:
    """{experiment}: choose the best epoch"""
    input:
        references=PLAN.choice.devtest_references,
        translations=PLAN.epochs.of_all(results.translation_file("devtest")),
        weights=PLAN.epochs.of_all(results.WEIGHTS),
        labels=PLAN.choice.devtest_labels,
        raw_references=PLAN.choice.devtest_raw_references,
        preparation=PREPARATION_OF_TEXT,
        recaser=RECASER_OF_TEXT,
        lists=PLAN.list_texts.devtest_lists,
        quality=PLAN.list_texts.devtest_quality,
    output:
        weights=f"{EXPERIMENT}/{results.BEST}/{results.WEIGHTS}",
        system=f"{EXPERIMENT}/{results.BEST}/{results.SYSTEM}",
    log:
        f"{LOGS}/choose/{{experiment}}.log",
    localrule: SCORES_LOCALLY
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(2000, 120),
    params:
        settings=PLAN.choice.choose_settings,
        lists=PLAN.list_texts.named_devtest_lists,
        code=step_digest("step choose"),
    shell:
        "itersel step choose --settings {params.settings:q} --reference {input.references:q}"
        " --labels {input.labels:q} --raw-reference {input.raw_references:q}"
        " --preparation {input.preparation:q} --recaser {input.recaser:q}"
        " --nbest {params.lists:q} --quality {input.quality:q}"
        " --translation {input.translations:q} --weights {input.weights:q}"
        " --output-weights {output.weights:q} --output {output.system:q} &> {log:q}"


# For a test set with its own devtest.
use rule choose_epoch as choose_epoch_for_test_set with:
    input:
        references=PLAN.choice.devtest_references,
        translations=PLAN.epochs.of_all(results.translation_file("devtest.{test_set}")),
        weights=PLAN.epochs.of_all(results.WEIGHTS),
        labels=[],
        raw_references=PLAN.choice.devtest_raw_references,
        preparation=PREPARATION_OF_TEXT,
        recaser=RECASER_OF_TEXT,
        lists=PLAN.list_texts.devtest_lists,
        quality=PLAN.list_texts.devtest_quality,
    output:
        weights=f"{EXPERIMENT}/{BEST_FOR_TEST_SET}/{results.WEIGHTS}",
        system=f"{EXPERIMENT}/{BEST_FOR_TEST_SET}/{results.SYSTEM}",
    log:
        f"{LOGS}/choose/{{experiment}}/{{test_set}}.log",
    localrule: SCORES_LOCALLY


# Minimum Bayes risk (`mbr` of the config): the scale that is best on devtest, at the best epoch.
rule choose_scale:
    """{experiment}: choose the scale of minimum Bayes risk"""
    input:
        pieces=PLAN.choice.devtest_pieces,
        language_model=PLAN.origin.language_models,
        weights=f"{EXPERIMENT}/{results.BEST}/{results.WEIGHTS}",
        references=PLAN.choice.devtest_references,
        labels=PLAN.choice.devtest_labels,
        raw_references=PLAN.choice.devtest_raw_references,
        preparation=PREPARATION_OF_TEXT,
        recaser=RECASER_OF_TEXT,
        lists=PLAN.list_texts.devtest_lists,
        quality=PLAN.list_texts.devtest_quality,
    output:
        f"{EXPERIMENT}/{results.BEST}/{results.MBR}",
    log:
        f"{LOGS}/scale/{{experiment}}.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request_to_decode(minutes=120 * (PIECES + 1)),
    params:
        pieces=lambda wildcards, input: sequence(input.pieces),
        settings=PLAN.choice.scale_settings,
        lists=PLAN.list_texts.named_devtest_lists,
        code=step_digest("step scale"),
    shell:
        "(seq {params.pieces} | itersel step scale --inputs - --language-model {input.language_model:q}"
        " --weights {input.weights:q}"
        " --settings {params.settings:q} --reference {input.references:q}"
        " --labels {input.labels:q} --raw-reference {input.raw_references:q}"
        " --preparation {input.preparation:q} --recaser {input.recaser:q}"
        " --nbest {params.lists:q} --quality {input.quality:q} --output {output:q}) &> {log:q}"


use rule choose_scale as choose_scale_for_test_set with:
    input:
        pieces=PLAN.choice.devtest_pieces,
        language_model=PLAN.origin.language_models,
        weights=f"{EXPERIMENT}/{BEST_FOR_TEST_SET}/{results.WEIGHTS}",
        references=PLAN.choice.devtest_references,
        labels=[],
        raw_references=PLAN.choice.devtest_raw_references,
        preparation=PREPARATION_OF_TEXT,
        recaser=RECASER_OF_TEXT,
        lists=PLAN.list_texts.devtest_lists,
        quality=PLAN.list_texts.devtest_quality,
    output:
        f"{EXPERIMENT}/{BEST_FOR_TEST_SET}/{results.MBR}",
    log:
        f"{LOGS}/scale/{{experiment}}/{{test_set}}.log",
