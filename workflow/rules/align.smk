# Word alignment of the training corpus.
#
# needs: corpus/train.{source,target}.gz     makes: align/{forward,reverse,train}.align.gz
from itersel.align.symmetrize import DIRECTIONS


rule align_direction:
    """align words"""
    input:
        source=PLAN.files.text("train", "source"),
        target=PLAN.files.text("train", "target"),
    output:
        f"{RESULTS}/{results.alignment_file('{direction}')}",
    log:
        f"{LOGS}/align/{{direction}}.log",
    benchmark:
        f"{BENCHMARKS}/align/{{direction}}.tsv"
    wildcard_constraints:
        direction=one_of(DIRECTIONS),
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(500, 30, train=(75, 0.5)),
    params:
        settings=PLAN.texts.sampler_settings,
        code=step_digest("align"),
    shell:
        "itersel align --source {input.source:q} --target {input.target:q}"
        " --direction {wildcards.direction} --settings {params.settings:q} --output {output:q} &> {log:q}"


rule align:
    """align words"""
    input:
        directions=[
            f"{RESULTS}/{results.alignment_file(direction)}"
            for direction in DIRECTIONS
        ],
    output:
        f"{RESULTS}/{results.alignment_file('train')}",
    log:
        f"{LOGS}/align.log",
    benchmark:
        f"{BENCHMARKS}/align.tsv"
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(500, 30, train=(10, 0.5)),
    params:
        settings=PLAN.texts.symmetrization_settings,
        code=step_digest("align"),
    shell:
        "itersel align --forward {input.directions[0]:q} --reverse {input.directions[1]:q}"
        " --settings {params.settings:q} --output {output:q} &> {log:q}"
