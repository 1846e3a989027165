# A list of all files of a level. Jobs that need the level depend on this list, so they wait for all files, and no fewer
# are ever mixed.
#
# needs: the files of the level
# makes: {level}/files.txt; a level is shards/{split}/{shards}, lm/{shards}-shards/{folds}-folds,
#        experiments/{experiment}/epoch-{epoch}, or epoch-{epoch}/lists, which includes the lists of earlier epochs
#
# Thousands of files do not fit on a command line, and Snakemake would check all of them for every job that needs them.


# `use rule` does not inherit `localrule`, so all of them are named.
localrules:
    list_shards,
    list_fold_models,
    list_trained_shards,
    list_lists,
    list_lists_again,


rule list_shards:
    """takes no time"""
    input:
        lambda wildcards: SHARDS.grammars(wildcards.split, wildcards.shards),
    output:
        f"{RESULTS}/shards/{{split}}/{{shards}}/files.txt",
    log:
        f"{LOGS}/list/shards/{{split}}/{{shards}}.log",
    conda:
        "../../envs/itersel.yaml"
    params:
        commands=lambda wildcards, input: sequences(input),
    shell:
        "({params.commands}) > {output:q} 2> {log:q}"


use rule list_shards as list_fold_models with:
    input:
        SHARDS.fold_models,
    output:
        f"{SHARDS.fold_folder('{shards}', '{folds}')}/files.txt",
    log:
        f"{LOGS}/list/lm/{{shards}}-shards/{{folds}}-folds.log",


use rule list_shards as list_trained_shards with:
    input:
        EPOCHS.trained_shards,
    output:
        f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/files.txt",
    log:
        f"{LOGS}/list/experiments/{{experiment}}/epoch-{{epoch}}.log",


use rule list_shards as list_lists with:
    input:
        LISTS.written,
    output:
        f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/lists/files.txt",
    log:
        f"{LOGS}/list/experiments/{{experiment}}/epoch-{{epoch}}/lists.log",


use rule list_shards as list_lists_again with:
    input:
        LISTS.written,
    output:
        f"{RESULTS}/experiments/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}/lists/files.txt",
    log:
        f"{LOGS}/list/experiments/{{experiment}}/epoch-{{epoch}}/iteration-{{iteration}}/lists.log",
