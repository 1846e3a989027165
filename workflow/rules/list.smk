# The files of a level, named in a file: what waits for one waits for all of them, and no fewer are mixed.
#
# needs: the files of the level, see `level_files`
# makes: {level}/files.txt; a level is shards/{split}/{shards}, lm/{shards}-shards/{folds}-folds,
#        experiments/{experiment}/epoch-{epoch}, or epoch-{epoch}/lists, with those of all epochs before
#
# Thousands do not fit on a command line, and Snakemake would search them once for every job that waits for them.


rule list_files:
    input:
        level_files,
    output:
        f"{RESULTS}/{{level}}/files.txt",
    log:
        f"{LOGS}/list/{{level}}.log",
    localrule: True
    conda:
        "../../envs/itersel.yaml"
    params:
        commands=lambda wildcards, input: sequences(input),
    shell:
        "({params.commands}) > {output:q} 2> {log:q}"
