# Language model of the target side.
#
# needs: corpus/train.target.gz (corpus/monolingual.gz), or the user's ARPA file; sentences/train/{division}/text
# makes: lm/lm.bin; lm/{division}/{folds}-folds/{fold}.bin, without the text of every folds-th file
rule estimate_language_model:
    """estimate the language model"""
    input:
        text=PLAN.language_models.text,
        vocabulary=PLAN.language_models.vocabulary,
        divided=[],
    output:
        f"{RESULTS}/{results.ARPA}",
    log:
        f"{LOGS}/lm/estimate.log",
    benchmark:
        f"{BENCHMARKS}/lm/estimate.tsv"
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(1500, 60, language_model=(10, 1)),
    params:
        fold=[],
        settings=PLAN.language_models.estimate_settings,
        code=step_digest("lm estimate"),
    shell:
        "itersel lm estimate --input {input.text:q} --vocabulary {input.vocabulary:q}"
        " --leave-out {input.divided:q} --fold {params.fold} --settings {params.settings:q}"
        " --output {output:q} &> {log:q}"


rule compile_language_model:
    """compile the language model"""
    input:
        PLAN.language_models.arpa,
    output:
        PLAN.files.language_model,
    log:
        f"{LOGS}/lm/compile.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(500, 60, language_model=(100, 1)),
    params:
        settings=PLAN.language_models.compile_settings,
        code=step_digest("lm compile"),
    shell:
        "itersel lm compile --input {input:q} --settings {params.settings:q} --output {output:q} &> {log:q}"


use rule estimate_language_model as estimate_fold_model with:
    """estimate language models without the text of a fold"""
    input:
        text=PLAN.language_models.text,
        vocabulary=PLAN.language_models.vocabulary,
        divided=PLAN.divisions.text_folder("train", "{division}"),
    output:
        PLAN.language_models.fold_model("{division}", "{folds}", "{fold}"),
    log:
        f"{LOGS}/lm/{{division}}/{{folds}}-folds/estimate.{{fold}}.log",
    benchmark:
        f"{BENCHMARKS}/lm/{{division}}/{{folds}}-folds/estimate.{{fold}}.tsv"
    resources:
        **SIZES.request(1500, 60, language_model=(100, 2)),
    params:
        fold="{fold}/{folds}",
        settings=PLAN.language_models.estimate_settings,
        code=step_digest("lm estimate"),
