# Models that features of the text of n-best lists need (text_features), estimated on train.
#
# needs: corpus/train.{source,target}.gz, sentences/train/{division}/text; the files of text_features.{source,target}
# makes: text-features/words, text-features/{forward,reverse}.{align.gz,h5};
#        text-features/all, text-features/{division}/{folds}-folds/{fold}: the lexicon and the language model of
#        all text, and without every folds-th file; text-features/language-models: the user's own
from itersel.align.symmetrize import DIRECTIONS


rule prepare_words:
    """prepare train for the features of lists"""
    input:
        text=PLAN.text_features.text,
        sources=PLAN.text_features.further_sources,
        targets=PLAN.text_features.further_targets,
        excluded_source=PLAN.text_features.excluded_texts("source"),
        excluded_target=PLAN.text_features.excluded_texts("target"),
    output:
        directory(PLAN.text_features.words),
    log:
        f"{LOGS}/text-features/words.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(700, 60, train=(150, 2)),
    params:
        settings=PLAN.text_features.word_settings,
        code=step_digest("step words"),
    shell:
        "itersel step words --source {input.text[0]:q} {input.sources:q}"
        " --target {input.text[1]:q} {input.targets:q} --settings {params.settings:q}"
        " --exclude-source {input.excluded_source:q} --exclude-target {input.excluded_target:q}"
        " --output {output:q} &> {log:q}"


rule learn_aligner:
    """align words"""
    input:
        PLAN.text_features.words,
    output:
        align=PLAN.text_features.alignment("{direction}"),
        model=PLAN.text_features.aligner("{direction}"),
    log:
        f"{LOGS}/text-features/{{direction}}.log",
    benchmark:
        f"{BENCHMARKS}/text-features/{{direction}}.tsv"
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
        "itersel align --source {input:q}/source.gz --target {input:q}/target.gz --direction {wildcards.direction}"
        " --settings {params.settings:q} --save {output.model:q} --output {output.align:q} &> {log:q}"


rule estimate_text_models:
    """estimate the models of the features of lists"""
    input:
        words=PLAN.text_features.words,
        alignments=PLAN.text_features.alignments,
        divided=[],
    output:
        directory(PLAN.text_features.models_of_all_text),
    log:
        f"{LOGS}/text-features/models.log",
    benchmark:
        f"{BENCHMARKS}/text-features/models.tsv"
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(1500, 60, train=(90, 2)),
    params:
        fold=[],
        settings=PLAN.text_features.model_settings,
        code=step_digest("step text-models"),
    shell:
        "itersel step text-models --words {input.words:q} --alignment {input.alignments:q}"
        " --leave-out {input.divided:q} --fold {params.fold} --settings {params.settings:q}"
        " --output {output:q} &> {log:q}"


use rule estimate_text_models as estimate_fold_text_models with:
    """estimate the models of the features of lists without the text of a fold"""
    input:
        words=PLAN.text_features.words,
        alignments=PLAN.text_features.alignments,
        divided=PLAN.divisions.text_folder("train", "{division}"),
    output:
        directory(PLAN.text_features.fold_folder("{division}", "{folds}", "{fold}")),
    log:
        f"{LOGS}/text-features/{{division}}/{{folds}}-folds/{{fold}}.log",
    benchmark:
        f"{BENCHMARKS}/text-features/{{division}}/{{folds}}-folds/{{fold}}.tsv"
    params:
        fold="{fold}/{folds}",
        settings=PLAN.text_features.model_settings,
        code=step_digest("step text-models"),


rule compile_user_language_model:
    """compile the language model {model}"""
    input:
        PLAN.text_features.arpa,
    output:
        PLAN.text_features.compiled_user_model("{model}"),
    log:
        f"{LOGS}/text-features/language-models/{{model}}.log",
    wildcard_constraints:
        model="[^/]+",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(500, 60, language_model=(100, 1)),
    params:
        code=step_digest("lm compile"),
    shell:
        "itersel lm compile --input {input:q} --output {output:q} &> {log:q}"
