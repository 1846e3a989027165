# A list of all files of a level. Jobs that need the level depend on this list, so they wait for all files, and no fewer
# are ever mixed.
#
# needs: the files of the level, see `level_files`
# makes: {level}/files.txt; a level is shards/{split}/{shards}, lm/{shards}-shards/{folds}-folds,
#        experiments/{experiment}/epoch-{epoch}, or epoch-{epoch}/lists, which includes the lists of earlier epochs
#
# Thousands of files do not fit on a command line, and Snakemake would check all of them for every job that needs them.


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
