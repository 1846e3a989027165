# Language model of the target side.
#
# needs: corpus/train.target.gz (corpus/monolingual.gz), or the user's ARPA file     makes: lm/lm.bin
ARPA = CONFIG.language_model.arpa or f"{RESULTS}/lm/lm.arpa.gz"


rule estimate_language_model:
    input:
        language_model_text(),
    output:
        f"{RESULTS}/lm/lm.arpa.gz",
    log:
        f"{LOGS}/lm/estimate.log",
    benchmark:
        f"{BENCHMARKS}/lm/estimate.tsv"
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES["estimate_language_model"],
    params:
        options=commands.estimate_options(CONFIG, corpus_file("train", "target")),
        code=step_digest("lm", "_estimate"),
    shell:
        "itersel lm estimate --input {input:q} {params.options} --output {output:q} &> {log:q}"


rule compile_language_model:
    input:
        ARPA,
    output:
        MODEL,
    log:
        f"{LOGS}/lm/compile.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES["compile_language_model"],
    params:
        order=CONFIG.language_model.order,
        code=step_digest("lm", "_compile"),
    shell:
        "itersel lm compile --order {params.order} --input {input:q} --output {output:q} &> {log:q}"
