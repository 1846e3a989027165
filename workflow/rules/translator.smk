# What a system needs to translate new text, for `itersel translate`.
#
# needs: lm/lm.bin, grammar/index, corpus/{preparation,recaser}.json
# makes: experiments/{experiment}/best/resources.json


rule describe_resources:
    """takes no time"""
    input:
        language_model=PLAN.files.language_model,
        index=PLAN.files.index,
        preparation=PLAN.files.preparation,
        recaser=PLAN.files.recaser,
        mbr=PLAN.choice.mbr,
    output:
        f"{EXPERIMENT}/{results.BEST}/{results.RESOURCES}",
    log:
        f"{LOGS}/resources/{{experiment}}.log",
    localrule: True
    conda:
        "../../envs/itersel.yaml"
    params:
        settings=PLAN.choice.resource_settings,
        code=step_digest("step resources"),
    shell:
        "itersel step resources --language-model {input.language_model:q} --index {input.index:q}"
        " --preparation {input.preparation:q} --recaser {input.recaser:q}"
        " --chosen-mbr {input.mbr:q} --settings {params.settings:q} --output {output:q} &> {log:q}"
