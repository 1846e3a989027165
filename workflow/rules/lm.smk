# Language model of the target side.
#
# needs: corpus/train.target.gz (corpus/monolingual.gz), or the user's ARPA file; shards/train/{shards}/text
# makes: lm/lm.bin; lm/{shards}-shards/{folds}-folds/{fold}.bin, without the text of every folds-th shard
rule estimate_language_model:
    """estimate the language model"""
    input:
        text=PLAN.texts.of_language_model,
        vocabulary=PLAN.shards.vocabulary,
        shards=[],
    output:
        f"{RESULTS}/lm/lm.arpa.gz",
    log:
        f"{LOGS}/lm/estimate.log",
    benchmark:
        f"{BENCHMARKS}/lm/estimate.tsv"
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(1500, 60, model=(10, 1)),
    params:
        fold=[],
        settings=PLAN.shards.estimate_settings,
        code=step_digest("lm estimate"),
    shell:
        "itersel lm estimate --input {input.text:q} --vocabulary {input.vocabulary:q}"
        " --leave-out {input.shards:q} --fold {params.fold} --settings {params.settings:q}"
        " --output {output:q} &> {log:q}"


rule compile_language_model:
    """compile the language model"""
    input:
        PLAN.arpa,
    output:
        PLAN.files.model,
    log:
        f"{LOGS}/lm/compile.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(500, 60, model=(100, 1)),
    params:
        settings=PLAN.shards.compile_settings,
        code=step_digest("lm compile"),
    shell:
        "itersel lm compile --input {input:q} --settings {params.settings:q} --output {output:q} &> {log:q}"


use rule estimate_language_model as estimate_fold_model with:
    """estimate language models without some shards"""
    input:
        text=PLAN.texts.of_language_model,
        vocabulary=PLAN.shards.vocabulary,
        shards=f"{RESULTS}/shards/train/{{shards}}/text",
    output:
        f"{PLAN.shards.fold_folder('{shards}', '{folds}')}/{{fold}}.bin",
    log:
        f"{LOGS}/lm/{{shards}}-shards/{{folds}}-folds/estimate.{{fold}}.log",
    benchmark:
        f"{BENCHMARKS}/lm/{{shards}}-shards/{{folds}}-folds/estimate.{{fold}}.tsv"
    resources:
        **SIZES.request(1500, 60, model=(100, 2)),
    params:
        fold="{fold}/{folds}",
        settings=PLAN.shards.estimate_settings,
        code=step_digest("lm estimate"),
