# Reads the config, and names what the other files share. There are no rules here.
#
# gives: RESOLVED_CONFIG (the checked config, with the value of every key), EXPANDED_CONFIG (the same, with an
#        experiment for each repeat and independent task), PLAN (the files and options of all jobs, from itersel.plan),
#        SIZES (of the texts), RESULTS, LOGS, ...
import json
import os
import re
import sys
from pathlib import Path

from itersel import __version__
from itersel.code import digests
from itersel.code.edits import CODE_VARIABLE, CodeChangedError, check_code, fingerprint
from itersel.config.reading import read_config
from itersel.config.yaml_loader import read_yaml
from itersel.config.splits import has_given_lists
from itersel.config.file_checks import check_files_exist, help_files
from itersel.config.name_checks import check_names
from itersel.errors import InputError
from itersel.plan import Plan
from itersel.plan.shell import sequence, sequences
from itersel.code.plugins import imported_code
from itersel.project import PROJECT
from itersel import results
from itersel.run.atomic import remove_leftovers
from itersel.run.manifests import stale_manifests

# A file given with --configfile replaces config.yaml; Snakemake alone would merge the two and run the experiments of both.
GIVEN_CONFIG_FILES = list(workflow.overwrite_configfiles)
CONFIG_FILES = GIVEN_CONFIG_FILES or ["config.yaml"]

# Jobs read what the main process has checked.
if workflow.is_main_process:
    # Snakemake would silently use the last of duplicate keys, and read 1:30 as 90.
    try:
        for file in CONFIG_FILES:
            read_yaml(file)
    except InputError as error:
        is_missing = not GIVEN_CONFIG_FILES and not os.path.exists("config.yaml")
        advice = "; name your config with --configfile" if is_missing else ""
        sys.exit(f"itersel: {error}{advice}")

    if len(CONFIG_FILES) > 1:
        print(
            "itersel: warning: Snakemake merges the config files: all of their experiments run, and values in "
            f"{CONFIG_FILES[-1]} override those in earlier files",
            file=sys.stderr,
        )

if not GIVEN_CONFIG_FILES:

    configfile: "config.yaml"


RULES = Path(workflow.current_basedir.get_path_or_uri(secret_free=True))
RULES_VARIABLE = "ITERSEL_RULES"

try:
    # jobs end with one line if somebody has edited the code since the run started
    if workflow.is_main_process:
        os.environ[CODE_VARIABLE] = fingerprint()
        os.environ[RULES_VARIABLE] = fingerprint(RULES)
    else:
        check_code()
        check_code(RULES_VARIABLE, RULES)
    RESOLVED_CONFIG = read_config(config)
    if workflow.is_main_process:
        os.environ.update({code.variable: code.fingerprint for code in imported_code()})
    HELP_FILES = help_files(RESOLVED_CONFIG)
    # jobs on other machines need not see them
    if workflow.is_main_process:
        check_names(RESOLVED_CONFIG)
        for warning in check_files_exist(RESOLVED_CONFIG):
            print(f"itersel: warning: {warning}", file=sys.stderr)
except InputError as error:
    print(f"itersel: {error}", file=sys.stderr)
    # not repeated; see the README of snakemake-executor-plugin-arrays
    sys.exit(os.EX_CONFIG if isinstance(error, CodeChangedError) else 1)


# The parts of the plan have the names of their modules: `PLAN.epochs` is in itersel/plan/epochs.py.
PLAN = Plan(RESOLVED_CONFIG)
EXPANDED_CONFIG = PLAN.config

# Without a decoder, there is no language model; systems rerank the lists of new text.
HAS_GIVEN_LISTS = has_given_lists(EXPANDED_CONFIG)

RESULTS = PLAN.files.results
EXPERIMENTS = os.path.join(RESULTS, results.EXPERIMENTS)
# Folders of the best epochs of an experiment: on devtest, and on the own devtest of a test set.
BEST_FOLDERS = [
    results.best_folder(name) for name in (None, *PLAN.texts.test_set_devtests)
]
# Manifests of files that were deleted after a run. Mixing depends on a manifest alone, so Snakemake has to treat it as
# missing, to make the missing files again. Jobs that use the files of other manifests depend on each of them.
STALE_MANIFESTS = (
    set(map(os.path.abspath, stale_manifests(EXPERIMENTS, results.MANIFEST)))
    if workflow.is_main_process
    else set()
)


def remove_stale_manifests():
    """Remove stale manifests when a run starts: once their files exist again, they would only look outdated."""
    for path in (
        stale_manifests(EXPERIMENTS, results.MANIFEST) if STALE_MANIFESTS else ()
    ):
        if os.path.abspath(path) in STALE_MANIFESTS:
            path.unlink(missing_ok=True)


# Folders in which rules write, with their wildcards; itersel/results.py has the names of files in them.
DIVISION = f"{RESULTS}/{results.division_folder('{split}', '{division}')}"
EXPERIMENT = f"{EXPERIMENTS}/{{experiment}}"
EPOCH = f"{EXPERIMENT}/{results.epoch_folder('{epoch}')}"
ITERATION = f"{EPOCH}/{results.iteration_folder('{iteration}')}"
REPORT = f"{RESULTS}/{results.REPORT}"
LOGS = f"{RESULTS}/{results.LOGS}"
BENCHMARKS = f"{RESULTS}/{results.BENCHMARKS}"

# Sizes of the texts: the memory and time that jobs request on a cluster depend on them (`TextSizes.request`).
SIZES = PLAN.origin.sizes()

# Folder of the compiled kernels, None if the config names none; evaluated again on the node of each job, where
# variables are expanded.
CACHE = EXPANDED_CONFIG.cache and os.path.abspath(
    os.path.expandvars(EXPANDED_CONFIG.cache)
)

# Jobs inherit these variables. The first job on each kind of machine compiles the kernels for all others. ITERSEL_RUN
# identifies the jobs of this run, see refuse_running_jobs. PATH finds the `itersel` next to the Snakemake in use, even
# if its environment is not activated. The conda environment is installed from ITERSEL_PROJECT, with ITERSEL_VERSION.
os.environ.update(
    **({"ITERSEL_CACHE": CACHE} if CACHE else {}),
    ITERSEL_PROJECT=str(PROJECT),
    ITERSEL_RUN=os.path.abspath(RESULTS),
    ITERSEL_VERSION=__version__,
    ITERSEL_WARM_UP="1",
    PATH=os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")]),
)


def one_of(names):
    """Return a regular expression that matches any of the names, and nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    split=one_of(["train", *PLAN.texts.held_out]),
    held_out=one_of(PLAN.texts.held_out),
    test_set=one_of(PLAN.texts.test_set_devtests),
    division=one_of(PLAN.divisions.names),
    folds=r"\d+",
    fold=r"\d+",
    file=r"\d+",
    piece=r"\d+",
    shard=r"\d+",
    epoch=r"\d+",
    iteration=r"\d+",
    stage="|".join([one_of(BEST_FOLDERS), results.epoch_folder(r"\d+")]),
    experiment=one_of(EXPANDED_CONFIG.experiments),


# `step_digest` is a parameter of rules because Snakemake does not look into installed packages and would not
# rerun a step whose code was edited. Options are functions of wildcards alone because Snakemake does not record
# parameters that use `input` or `output`, and would not rerun a job when they change.

# Jobs on a cluster get the digests from the run that submits them: following all imports takes a third of a second.
DIGESTS_VARIABLE = "ITERSEL_DIGESTS"
DIGESTS = (
    {}
    if workflow.is_main_process
    else json.loads(os.environ.get(DIGESTS_VARIABLE, "{}"))
)


def step_digest(command):
    if command not in DIGESTS:
        DIGESTS[command] = digests.step_digest(command)
    return DIGESTS[command]


def pass_digests_to_jobs():
    os.environ[DIGESTS_VARIABLE] = json.dumps(DIGESTS)
