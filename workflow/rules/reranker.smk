# What a system needs to rerank the n-best lists of new text, for `itersel rescore --system`.
#
# needs: sentences/{split}/{division}/text of the split that an experiment learns from; models of text_features.smk, if its
#        features need any
# makes: experiments/{experiment}/best/resources.json


rule describe_reranker:
    """takes no time"""
    input:
        lists=PLAN.list_texts.learned_lists,
        aligners=PLAN.text_features.aligners_of_system,
        text_models=PLAN.text_features.text_models_of_system,
        user_models=PLAN.text_features.user_models,
        mbr=PLAN.choice.mbr,
    output:
        f"{EXPERIMENT}/{results.BEST}/{results.RESOURCES}",
    log:
        f"{LOGS}/resources/{{experiment}}.log",
    localrule: True
    conda:
        "../../envs/itersel.yaml"
    params:
        settings=PLAN.list_texts.reranker_settings,
        code=step_digest("step reranker"),
    shell:
        "itersel step reranker --divided-lists {input.lists:q} --aligner {input.aligners:q}"
        " --text-models {input.text_models:q} --user-model {input.user_models:q} --chosen-mbr {input.mbr:q}"
        " --settings {params.settings:q} --output {output:q} &> {log:q}"
