# Word alignment of the training corpus.
#
# needs: corpus/train.{source,target}.gz     makes: align/train.align.gz
ALIGNMENT = (
    f"{RESULTS}/corpus/train.alignment.gz"
    if splits.is_aligned(CONFIG)
    else f"{RESULTS}/align/train.align.gz"
)


rule align:
    input:
        source=corpus_file("train", "source"),
        target=corpus_file("train", "target"),
    output:
        f"{RESULTS}/align/train.align.gz",
    log:
        f"{LOGS}/align.log",
    benchmark:
        f"{BENCHMARKS}/align.tsv"
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES["align"],
    params:
        options=commands.align_options(CONFIG),
        code=step_digest("align", "_align"),
    shell:
        "itersel align --source {input.source:q} --target {input.target:q}"
        " {params.options} --output {output:q} &> {log:q}"
