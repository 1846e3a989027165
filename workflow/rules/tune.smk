# Batch tuning: an iteration is one job per file of sentences that writes a tuning file, then one job that tunes on all of
# them. A tuning file has the k-best lists, or the forests, of one file of sentences in one iteration.
# Each epoch of a batch tuner is an iteration; mixed weights are retuned in several iterations per epoch.
#
# needs: sentences/{train,dev}/{division}/{file}.h5, lm/..., and epoch-{epoch}/mixed.h5 to tune mixed weights
# makes: experiments/{experiment}/epoch-{epoch}/{tuning/{file},weights}.h5; on dev the same in iteration-{iteration}/
#        for all iterations except the last
#
# A batch tuner reads the tuning files of all iterations so far, but only the newest forests of dev. The mixed weights of
# an online learner are tuned on dev, which is first decoded with the mixed weights themselves. With `data.kind: lists`,
# nothing is decoded: the tuning files are the lists in sentences/{train,dev}/{division}/, the same in all iterations.


rule write_tuning_files:
    """{experiment}: decode epoch {epoch} for tuning"""
    input:
        sentences=PLAN.tuning.decoded_files,
        language_model=PLAN.tuning.decoding_language_models,
        start=PLAN.tuning.start_of_iteration,
        decision=lambda wildcards: PLAN.epochs.of(wildcards).decision_needed,
        level=lambda wildcards: ancient(PLAN.tuning.level_before_decoding(wildcards)),
    output:
        f"{EPOCH}/{results.tuning_file('{file}')}",
    log:
        f"{LOGS}/write_tuning_files/{{experiment}}/epoch-{{epoch}}/{{file}}.log",
    benchmark:
        f"{BENCHMARKS}/write_tuning_files/{{experiment}}/epoch-{{epoch}}/{{file}}.tsv"
    wildcard_constraints:
        experiment=one_of([*PLAN.epochs.batch, *PLAN.epochs.retuned]),
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request_to_decode(minutes=240),
        array=PLAN.epochs.array_name,
        jobs_per_task=PLAN.tuning.files_per_array_task,
    params:
        step=PLAN.tuning.step,
        settings=PLAN.tuning.decoding_settings,
        iteration=PLAN.tuning.iteration,
        code=lambda wildcards: step_digest(f"step {PLAN.tuning.step(wildcards)}"),
    shell:
        "itersel step {params.step} --sentences {input.sentences:q} --language-model {input.language_model:q}"
        " --start {input.start:q} --decision {input.decision:q} --settings {params.settings:q}"
        " --iteration {params.iteration} --file-number {wildcards.file} --output {output:q} &> {log:q}"


rule tune:
    """{experiment}: tune epoch {epoch}"""
    input:
        unpack(PLAN.epochs.passed_weights),
        tuning_files=f"{EPOCH}/{results.TUNING}/{results.MANIFEST}",
        start=PLAN.tuning.start_of_iteration,
        epoch_start=PLAN.tuning.start_of_epoch,
    output:
        f"{EPOCH}/{results.WEIGHTS}",
    log:
        f"{LOGS}/tune/{{experiment}}/epoch-{{epoch}}.log",
    benchmark:
        f"{BENCHMARKS}/tune/{{experiment}}/epoch-{{epoch}}.tsv"
    wildcard_constraints:
        experiment=one_of([*PLAN.epochs.batch, *PLAN.epochs.retuned]),
    conda:
        "../../envs/itersel.yaml"
    resources:
        # k-best MIRA keeps all lists: with sparse features, 3.7 GB for 1,029 sentences, 100-best, ten iterations
        **SIZES.request(2000, 120, tuned=4500),
        array=PLAN.epochs.array_name,
    params:
        settings=PLAN.tuning.tune_settings,
        iteration=PLAN.tuning.iteration,
        code=step_digest("step tune"),
    shell:
        "itersel step tune --inputs {input.tuning_files:q} --start {input.start:q}"
        " --epoch-start {input.epoch_start:q}"
        " --decision {input.decision:q} --passed-on {input.passed_on:q}"
        " --settings {params.settings:q} --iteration {params.iteration} --output {output:q} &> {log:q}"


use rule write_tuning_files as write_tuning_files_again with:
    output:
        f"{ITERATION}/{results.tuning_file('{file}')}",
    log:
        f"{LOGS}/write_tuning_files/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}/{{file}}.log",
    benchmark:
        f"{BENCHMARKS}/write_tuning_files/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}/{{file}}.tsv"
    wildcard_constraints:
        experiment=one_of(PLAN.epochs.retuned),


use rule tune as tune_again with:
    input:
        unpack(PLAN.epochs.passed_weights),
        tuning_files=f"{ITERATION}/{results.TUNING}/{results.MANIFEST}",
        start=PLAN.tuning.start_of_iteration,
        epoch_start=PLAN.tuning.start_of_epoch,
    output:
        f"{ITERATION}/{results.WEIGHTS}",
    log:
        f"{LOGS}/tune/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}.log",
    benchmark:
        f"{BENCHMARKS}/tune/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}.tsv"
    wildcard_constraints:
        experiment=one_of(PLAN.epochs.retuned),
