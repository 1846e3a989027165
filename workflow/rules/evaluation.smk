# Translations and references of the test sets as plain text, and what their scores are computed from. Others can
# reproduce the scores:
# sacrebleu evaluation/test/reference.0.txt -i evaluation/test/{experiment}.txt -m bleu ter
#
# needs: experiments/{experiment}/best*/{split}.txt, corpus/{split}.raw*.gz, corpus/{preparation,recaser}.json, and
#        the files of evaluation.outputs
# makes: evaluation/{evaluated}/reference.{number}.txt, evaluation/{evaluated}/{scored}.txt of each experiment and other
#        system, and its sufficient statistics, evaluation/{evaluated}/counts/{scored}.h5

from importlib.metadata import version


wildcard_constraints:
    evaluated=one_of(PLAN.texts.test_sets),
    scored=one_of([*EXPANDED_CONFIG.experiments, *PLAN.tables.outputs]),


rule write_references:
    """takes no time"""
    input:
        PLAN.tables.raw_reference,
    output:
        f"{RESULTS}/{results.plain_reference('{evaluated}', '{number}')}",
    log:
        f"{LOGS}/evaluation/{{evaluated}}/reference.{{number}}.log",
    wildcard_constraints:
        number=r"\d+",
    localrule: True
    conda:
        "../../envs/itersel.yaml"
    shell:
        "gzip -dc {input:q} > {output:q} 2> {log:q}"


rule count_for_scores:
    """count matches of the translations of {evaluated}"""
    input:
        translations=lambda wildcards: PLAN.tables.scored_translation(
            wildcards.scored, wildcards.evaluated
        ),
        references=lambda wildcards: PLAN.tables.plain_references(wildcards.evaluated),
        preparation=PLAN.files.preparation,
        recaser=PLAN.tables.recaser,
    output:
        text=f"{RESULTS}/{results.detokenized_text('{evaluated}', '{scored}')}",
        counts=f"{RESULTS}/{results.counts_file('{evaluated}', '{scored}')}",
    log:
        f"{LOGS}/evaluation/{{evaluated}}/{{scored}}.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        # TER of 3,000 sentences takes a minute or two of processor time
        **SIZES.request(2000, 60),
    params:
        settings=PLAN.tables.count_settings,
        # part of the signatures, which must be the same for all systems
        sacrebleu=version("sacrebleu"),
        code=step_digest("step count"),
    shell:
        "itersel step count --preparation {input.preparation:q} --recaser {input.recaser:q}"
        " --translation {input.translations:q} --reference {input.references:q} --settings {params.settings:q}"
        " --output-text {output.text:q} --output {output.counts:q} &> {log:q}"
