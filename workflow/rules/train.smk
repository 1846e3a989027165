# Online learning: an epoch is one job per shard, then one job that selects and mixes.
#
# needs: sentences/{train,dev}/{division}/{file}.h5, lm/lm.bin or lm/{division}/{folds}-folds/{fold}.bin
# makes: experiments/{experiment}/epoch-{epoch}/{shard-{shard},matrix}.h5, and weights.h5, or mixed.h5 if
#        tune.smk makes weights.h5 from it
#
# All algorithms are this chain of epochs. They differ in what a shard does, which weights it starts from, and how the
# weights are mixed. Weights are never mixed while a shard is missing.


rule train_shard:
    """{experiment}: train epoch {epoch}"""
    input:
        sentences=PLAN.epochs.training_files,
        language_model=PLAN.epochs.training_language_models,
        start=PLAN.epochs.start_of_shard,
        decision=lambda wildcards: PLAN.epochs.of(wildcards).decision_needed,
        level=lambda wildcards: ancient(PLAN.epochs.of(wildcards).level_before),
    output:
        f"{EPOCH}/{results.shard_weights('{shard}')}",
    log:
        f"{LOGS}/train/{{experiment}}/epoch-{{epoch}}/{{shard}}.log",
    benchmark:
        f"{BENCHMARKS}/train/{{experiment}}/epoch-{{epoch}}/{{shard}}.tsv"
    conda:
        "../../envs/itersel.yaml"
    threads: PLAN.origin.decoding_threads
    resources:
        **SIZES.request_to_decode(minutes=240),
        array=PLAN.epochs.array_name,
        jobs_per_task=PLAN.epochs.shards_per_array_task,
    params:
        settings=PLAN.origin.train_settings,
        code=step_digest("train"),
    shell:
        "itersel train --sentences {input.sentences:q} --language-model {input.language_model:q} --start {input.start:q}"
        " --decision {input.decision:q} --settings {params.settings:q}"
        " --epoch {wildcards.epoch} --shard-number {wildcards.shard} --threads {threads}"
        " --output {output:q} &> {log:q}"


rule mix:
    """{experiment}: mix epoch {epoch}"""
    input:
        unpack(PLAN.epochs.passed_mixed),
        shards=f"{EPOCH}/{results.MANIFEST}",
        previous=lambda wildcards: PLAN.epochs.of(wildcards).mixed_before,
    output:
        weights=f"{EPOCH}/{results.WEIGHTS}",
        matrix=f"{EPOCH}/{results.WEIGHT_MATRIX}",
    log:
        f"{LOGS}/mix/{{experiment}}/epoch-{{epoch}}.log",
    benchmark:
        f"{BENCHMARKS}/mix/{{experiment}}/epoch-{{epoch}}.tsv"
    wildcard_constraints:
        experiment=one_of(PLAN.epochs.mixed),
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(8000, 60),
        array=PLAN.epochs.array_name,
    params:
        settings=PLAN.epochs.mix_settings,
        code=step_digest("step mix"),
    shell:
        "itersel step mix --inputs {input.shards:q} --previous {input.previous:q}"
        " --decision {input.decision:q} --passed-on {input.passed_on:q}"
        " --settings {params.settings:q} --epoch {wildcards.epoch}"
        " --matrix {output.matrix:q} --output {output.weights:q} &> {log:q}"


use rule mix as mix_before_tuning with:
    output:
        weights=f"{EPOCH}/{results.MIXED}",
        matrix=f"{EPOCH}/{results.WEIGHT_MATRIX}",
    wildcard_constraints:
        experiment=one_of(PLAN.epochs.retuned),
