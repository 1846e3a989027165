# Batch tuning: a level is one job per shard that writes k-best lists or forests, then one job that tunes on them.
#
# needs: shards/{train,dev}/{shards}/{shard}.h5, lm/..., and epoch-{epoch}/mixed.h5 to tune mixed weights
# makes: experiments/{experiment}/epoch-{epoch}/{lists/{shard},weights}.h5; on dev the same in iteration-{iteration}/
#        for all iterations except the last
#
# A batch tuner reads the lists of all levels so far. The mixed weights of an online learner are tuned on lists of dev;
# the first of these lists are decoded with the mixed weights themselves.


rule write_lists:
    input:
        shard=listed_shard,
        model=listed_model,
        weights=listing_weights,
        level=listing_level,
    output:
        f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/lists/{{shard}}.h5",
    log:
        f"{LOGS}/write_lists/{{experiment}}/epoch-{{epoch}}/{{shard}}.log",
    benchmark:
        f"{BENCHMARKS}/write_lists/{{experiment}}/epoch-{{epoch}}/{{shard}}.tsv"
    wildcard_constraints:
        experiment=one_of([*BATCH, *HELD_OUT]),
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES["write_lists"],
        array=epoch_name,
        jobs_per_task=lists_per_job,
    params:
        command=list_command,
        options=list_options,
        code=lambda wildcards: step_digest(list_command(wildcards), "run"),
    shell:
        "itersel {params.command} --shard {input.shard:q} --model {input.model:q} {params.options}"
        " --output {output:q} &> {log:q}"


rule tune:
    input:
        lists=f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/lists/files.txt",
        weights=listing_weights,
        last=last_weights,
    output:
        f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/weights.h5",
    log:
        f"{LOGS}/tune/{{experiment}}/epoch-{{epoch}}.log",
    benchmark:
        f"{BENCHMARKS}/tune/{{experiment}}/epoch-{{epoch}}.tsv"
    wildcard_constraints:
        experiment=one_of([*BATCH, *HELD_OUT]),
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES["tune"],
        array=epoch_name,
    params:
        options=tune_options,
        code=step_digest("tune", "run"),
    shell:
        "itersel tune --lists {input.lists:q} {params.options} --output {output:q} &> {log:q}"


use rule write_lists as write_lists_again with:
    output:
        f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}/lists/{{shard}}.h5",
    log:
        f"{LOGS}/write_lists/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}/{{shard}}.log",
    benchmark:
        f"{BENCHMARKS}/write_lists/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}/{{shard}}.tsv"
    wildcard_constraints:
        experiment=one_of(HELD_OUT),


use rule tune as tune_again with:
    input:
        lists=f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}/lists/files.txt",
        weights=listing_weights,
        last=last_weights,
    output:
        f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}/weights.h5",
    log:
        f"{LOGS}/tune/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}.log",
    benchmark:
        f"{BENCHMARKS}/tune/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}.tsv"
    wildcard_constraints:
        experiment=one_of(HELD_OUT),
