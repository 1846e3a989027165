# From parallel text to BLEU with significance: `snakemake`, `snakemake -n`, `snakemake --rulegraph`.
# Every rule calls one `itersel` command; what it does is in src/itersel, what is run is in config.yaml.
import sys

# Snakemake lets files beside a Snakefile take the place of Python's modules. They do not if their folder is last in the
# path; Snakemake does not add a folder that is there already.
HERE = workflow.current_basedir.get_path_or_uri(secret_free=True)
sys.path.append(f"{HERE}/workflow/rules")
sys.path.sort(key=(HERE, workflow.basedir).__contains__)

from snakemake.utils import min_version

min_version("9.14")


include: "workflow/rules/common.smk"


# Jobs read this file, too, but start no run.
if workflow.is_main_process:

    include: "workflow/rules/refuse.smk"
    include: "workflow/rules/run.smk"
    include: "workflow/rules/scheduler.smk"


if HAS_GIVEN_LISTS:

    include: "workflow/rules/text_features.smk"
    include: "workflow/rules/nbest.smk"
    include: "workflow/rules/reranker.smk"

else:

    include: "workflow/rules/corpus.smk"
    include: "workflow/rules/align.smk"
    include: "workflow/rules/lm.smk"
    include: "workflow/rules/grammar.smk"
    include: "workflow/rules/translator.smk"


include: "workflow/rules/manifests.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/tune.smk"
include: "workflow/rules/decode.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/choose.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/page.smk"


rule all:
    """takes no time"""
    default_target: True
    input:
        table=f"{REPORT}/table.txt",
        corpus=f"{REPORT}/corpus.txt",
        tasks=[f"{REPORT}/tasks.{split}.txt" for split in PLAN.tables.task_splits],
        # no other job may need them any more, but they are what the run is for
        systems=[
            path
            for stage in BEST_FOLDERS
            for name in (results.WEIGHTS, results.SYSTEM)
            for path in PLAN.files.experiments(
                list(EXPANDED_CONFIG.experiments), f"{stage}/{name}"
            )
        ],
        resources=PLAN.files.experiments(
            list(EXPANDED_CONFIG.experiments), f"{results.BEST}/{results.RESOURCES}"
        ),
        selections=PLAN.files.experiments(PLAN.epochs.selecting, "selection.txt"),
        paper=multiext(f"{REPORT}/table", ".tex", ".md"),
        page=f"{RESULTS}/{results.PAGE}",


onstart:
    lift_rate_limit()
    lock_folder()
    refuse_running_jobs()
    refuse_future_inputs()
    remove_leftovers(RESULTS)
    remove_stale_manifests()
    note_start()
    copy_config()
    write_run(Path(RESULTS), config, RESOLVED_CONFIG)
    write_config(Path(RESULTS), RESOLVED_CONFIG)
    announce_jobs()
    pass_digests_to_jobs()


onsuccess:
    show_results()


onerror:
    show_killed(log)
    show_progress()
