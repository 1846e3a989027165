# Manifests, which list all files of a level. Jobs that need the level depend on its manifest, so they wait for all files,
# and no fewer are ever mixed.
#
# needs: the files of the level
# makes: {level}/files.txt; a level is sentences/{split}/{division}, lm/{division}/{folds}-folds,
#        experiments/{experiment}/epoch-{epoch}, or epoch-{epoch}/tuning, which includes the files of earlier epochs
#
# Thousands of files do not fit on a command line, and Snakemake would check all of them for every job that needs them.


def treat_as_missing(file):
    """Let Snakemake plan as if a stale manifest did not exist; deleting it here would do so even in a dry run."""
    if os.path.abspath(file) in STALE_MANIFESTS:
        workflow.iocache.exists_local[file] = False


def checked(level, files_of_level):
    """Return the input function of the manifest of a level; Snakemake calls it before it looks for the manifest."""

    def files(wildcards):
        treat_as_missing(f"{RESULTS}/{level}/{results.MANIFEST}".format(**wildcards))
        return files_of_level(wildcards)

    return files


epoch_level = f"{results.EXPERIMENTS}/{{experiment}}/{results.epoch_folder('{epoch}')}"
iteration_level = f"{epoch_level}/{results.iteration_folder('{iteration}')}"

for manifest_rule, level, files_of_level in (
    (
        "manifest_of_sentences",
        results.division_folder("{split}", "{division}"),
        lambda wildcards: PLAN.divisions.sentence_files(
            wildcards.split, wildcards.division
        ),
    ),
    (
        "manifest_of_fold_models",
        results.fold_folder("{division}", "{folds}"),
        PLAN.language_models.fold_models,
    ),
    ("manifest_of_trained_shards", epoch_level, PLAN.epochs.trained_shards),
    (
        "manifest_of_tuning_files",
        f"{epoch_level}/{results.TUNING}",
        PLAN.tuning.tuning_files,
    ),
    (
        "manifest_of_tuning_files_again",
        f"{iteration_level}/{results.TUNING}",
        PLAN.tuning.tuning_files,
    ),
):

    rule:
        """takes no time"""
        name:
            manifest_rule
        input:
            checked(level, files_of_level),
        output:
            f"{RESULTS}/{level}/{results.MANIFEST}",
        log:
            f"{LOGS}/manifests/{level}.log",
        localrule: True
        conda:
            "../../envs/itersel.yaml"
        params:
            commands=lambda wildcards, input: sequences(input),
        shell:
            "({params.commands}) > {output:q} 2> {log:q}"
