# Translations and references of the test sets as plain text, for scores that others can reproduce:
# sacrebleu evaluation/test/reference.0.txt -i evaluation/test/{experiment}.txt -m bleu ter
#
# needs: experiments/{experiment}/best*/{split}.txt, corpus/{split}.raw*.gz, corpus/{preparation,recaser}.json
# makes: evaluation/{evaluated}/reference.{number}.txt, evaluation/{evaluated}/{experiment}.txt, and its sufficient
#        statistics, evaluation/{evaluated}/counts/{experiment}.h5

from importlib.metadata import version


localrules:
    write_references,


wildcard_constraints:
    evaluated=one_of(TEXTS.test_sets),


rule write_references:
    """takes no time"""
    input:
        TABLES.raw_reference,
    output:
        f"{RESULTS}/evaluation/{{evaluated}}/reference.{{number}}.txt",
    log:
        f"{LOGS}/evaluation/{{evaluated}}/reference.{{number}}.log",
    wildcard_constraints:
        number=r"\d+",
    conda:
        "../../envs/itersel.yaml"
    shell:
        "gzip -dc {input:q} > {output:q} 2> {log:q}"


rule detokenize:
    """detokenise the translations of {evaluated}"""
    input:
        translations=lambda wildcards: TABLES.translation(
            wildcards.experiment, wildcards.evaluated
        ),
        references=lambda wildcards: TABLES.plain_references(wildcards.evaluated),
        preparation=FILES.preparation,
        recaser=FILES.recaser,
    output:
        text=f"{RESULTS}/evaluation/{{evaluated}}/{{experiment}}.txt",
        counts=f"{RESULTS}/evaluation/{{evaluated}}/counts/{{experiment}}.h5",
    log:
        f"{LOGS}/evaluation/{{evaluated}}/{{experiment}}.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES["detokenize"],
    params:
        tokenizer=TABLES.tokenizer,
        # part of the signatures, which must be the same for all systems
        sacrebleu=version("sacrebleu"),
        code=step_digest("detokenize"),
    shell:
        "itersel detokenize --preparation {input.preparation:q} --recaser {input.recaser:q}"
        " --references {input.references:q} --tokenizer {params.tokenizer}"
        " --input {input.translations:q} --output {output.text:q} --counts {output.counts:q} &> {log:q}"
