# Names and helpers shared by the other files. There are no rules here.
#
# needs: config     gives: CONFIG (checked), RESULTS, LOGS, paths and options by wildcards
import functools
import hashlib
import json
import os
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from itersel import __version__, sources
from itersel.code_check import CODE_VARIABLE, CodeChangedError, check_code, fingerprint
from itersel.config import commands, read_config, splits
from itersel.config.file_checks import check_files_exist
from itersel.config.independent import with_independent_tasks
from itersel.config.requests import preparation_processes, requests, text_sizes
from itersel.config.repeats import repeat_name, split_repeat, with_repeats
from itersel.config.tasks import (
    IndependentTask,
    NaturalTasks,
    PooledTasks,
    RandomTasks,
    Resharding,
    files_of,
    labels_of,
)
from itersel.corpus.corpora import Corpus
from itersel.errors import InputError
from itersel.limits import TOKENIZED_BLEU
from itersel.project import PROJECT
from itersel.storage.files import remove_leftovers, remove_stale_lists
from itersel.sources import assets_digest

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
    CONFIG = with_repeats(with_independent_tasks(read_config(config)))
    # jobs on other machines need not see them
    if workflow.is_main_process:
        for warning in check_files_exist(CONFIG):
            print(f"itersel: warning: {warning}", file=sys.stderr)
except InputError as error:
    print(f"itersel: {error}", file=sys.stderr)
    # not repeated; see the README of snakemake-executor-plugin-arrays
    sys.exit(os.EX_CONFIG if isinstance(error, CodeChangedError) else 1)


def no_option(path):
    """Return a path that commands do not mistake for an option; Snakemake strips ./ from paths."""
    return os.path.abspath(path) if path.startswith(("-", "./-")) else path


RESULTS = no_option(os.path.join(CONFIG.output, CONFIG.name))
if workflow.is_main_process:
    # Mixing depends on a list alone: without it, Snakemake plans to make the missing files again. Jobs that use the
    # files of other lists depend on each of them.
    remove_stale_lists(os.path.join(RESULTS, "experiments"))
LOGS = f"{RESULTS}/logs"
BENCHMARKS = f"{RESULTS}/benchmarks"
MODEL = f"{RESULTS}/lm/lm.bin"
INDEX = f"{RESULTS}/grammar/index"
PREPARATION = f"{RESULTS}/corpus/preparation.json"
RECASER = f"{RESULTS}/corpus/recaser.json"

FETCHED_FOLDER = f"{RESULTS}/corpus/fetched"

# Memory in MB and time in minutes that jobs request on a cluster.
TEXT = text_sizes(CONFIG, FETCHED_FOLDER)
SIZES = requests(CONFIG, TEXT)

# Separates the number of shards from the seed in the name of a folder of shards; the run's own seed is left out.
SEED_MARK = "-seed-"

# Folder of the compiled kernels, None if the config names none; evaluated again on the node of each job, where
# variables are expanded.
CACHE = CONFIG.cache and os.path.abspath(os.path.expandvars(CONFIG.cache))

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


# Splits of the test sets by name, and of the devtests of those that have their own.
TEST_SETS = splits.test_sets(CONFIG)
OWN_DEVTESTS = splits.own_devtests(CONFIG)
HELD_OUT_SPLITS = ["dev", "devtest", *OWN_DEVTESTS.values(), *TEST_SETS.values()]
# Splits with files in the config; the others are taken from the LibreOffice Help, or cut from train.
GIVEN_SPLITS = [split for split in HELD_OUT_SPLITS if splits.is_given(CONFIG, split)]
# The split from whose text the others are made.
TRAIN = "hash" if CONFIG.data.kind == "libreoffice-help" else "train"
# Downloaded corpora, by the names of their folders.
FETCHED = {
    splits.fetched_name(split, name): text
    for split in ["train", *GIVEN_SPLITS]
    for name, text in splits.texts_of(CONFIG, split).items()
    if splits.is_fetched(text)
}


def one_of(names):
    """Return a regular expression that matches any of the names, and nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    split=one_of(["train", *HELD_OUT_SPLITS]),
    held_out=one_of(HELD_OUT_SPLITS),
    test_set=one_of(OWN_DEVTESTS),
    shards=rf"\d+(-(natural|pooled)-[0-9a-f]{{8}})?({SEED_MARK}\d+)?",
    folds=r"\d+",
    fold=r"\d+",
    shard=r"\d+",
    epoch=r"\d+",
    iteration=r"\d+",
    stage=rf"{one_of(['best', *(f'best-{name}' for name in OWN_DEVTESTS)])}|epoch-\d+",
    experiment=one_of(CONFIG.experiments),
    level="(shards|lm|experiments)/.+",


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


def step_digest(step, function):
    name = f"{step} {function}"
    if name not in DIGESTS:
        DIGESTS[name] = sources.step_digest(step, function)
    return DIGESTS[name]


def pass_digests_to_jobs():
    os.environ[DIGESTS_VARIABLE] = json.dumps(DIGESTS)


def sequence(files):
    """Return the arguments for `seq` to print the names of files that are numbered from 0."""
    folder, name = os.path.split(files[0])
    pattern = os.path.join(
        folder.replace("%", "%%"), re.sub(r"\d+", "%.0f", name, count=1)
    )
    return shlex.join(["-f", pattern, "0", str(len(files) - 1)])


def sequences(files):
    """Return the commands that print the names of files numbered 0, 1, 2, ... in one or more folders."""
    folders = {}
    for file in files:
        folders.setdefault(os.path.dirname(file), []).append(file)
    return "; ".join(f"seq {sequence(group)}" for group in folders.values())


# ---- corpus, shards


def corpus_file(split, side):
    return f"{RESULTS}/corpus/{split}.{side}.gz"


def further_references(split):
    """Return the columns of the additional references of a held-out split: target.1, target.2, ..."""
    if split not in GIVEN_SPLITS:
        return []
    [corpus] = given_corpora(split)
    return [f"target.{number}" for number in range(1, 1 + len(corpus.further))]


def references(split):
    """Return the files of all reference translations of a held-out split."""
    return [corpus_file(split, side) for side in ("target", *further_references(split))]


def raw_columns(further):
    """Return the columns of the original references of a split with the given further columns."""
    numbers = [column.removeprefix("target") for column in further if column != "task"]
    return [f"raw{number}" for number in ["", *numbers]]


def raw_references(split):
    """Return the original references of a split, in the order of `references`."""
    return [
        corpus_file(split, column) for column in raw_columns(further_references(split))
    ]


def further_columns(split):
    """Return the columns that a split has in addition to source and target: target.1, ..., task."""
    tasks = ["task"] if splits.has_labels(CONFIG, split) else []
    return (*further_references(split), *tasks)


@functools.cache
def given_corpora(split):
    """Return the corpora of a split; `hash` is the text that is split by hash."""
    if split == "hash":
        source, target, task = (
            (f"{RESULTS}/corpus/help/{side}.gz",)
            for side in ("source", "target", "task")
        )
        return [Corpus(source=source, target=target, task=task)]
    return splits.corpora(CONFIG, split, FETCHED_FOLDER)


def given_files(split):
    """Return the raw files of a split."""
    files = [file for corpus in given_corpora(split) for file in corpus.files]
    if split in ("hash", "train"):
        # train is compared with them
        files += [file for held_out in GIVEN_SPLITS for file in given_files(held_out)]
        files += CONFIG.data.monolingual
    return files


def fetched_columns(text):
    """Return the columns of a downloaded corpus: source, target, target.1, ..."""
    return ("source", *splits.reference_names(CONFIG, text))


def fetch_options(wildcards):
    options = commands.fetch_options(CONFIG, FETCHED[wildcards.fetched])
    output = commands.options(output=f"{FETCHED_FOLDER}/{wildcards.fetched}")
    return f"{options} {output}"


def statistics_files():
    """Return the statistics of the preparation of all splits, train first."""
    first = "" if CONFIG.data.kind == "libreoffice-help" else "train."
    given = [f"{split}." for split in GIVEN_SPLITS]
    return [f"{RESULTS}/corpus/{split}statistics.json" for split in (first, *given)]


def help_files():
    """Return the files of the help if the config names its folder; it is read again when they change."""
    if CONFIG.data.folder is None:
        return []
    folder = Path(CONFIG.data.folder)
    try:
        files = sorted(folder.glob("*.deb")) or sorted(folder.rglob("*.html"))
    except OSError as error:
        # a folder that vanished while it was listed
        sys.exit(f"itersel: {error.filename}: {error.strerror}")
    return list(map(str, files)) or [str(folder)]


def collection_statistics():
    """Return the statistics of collecting the text; none if the config names the files."""
    given = CONFIG.data.kind == "files"
    return [] if given else [f"{RESULTS}/corpus/help/statistics.json"]


def prepared_files():
    """Return the outputs of preparing train, including the splits that are cut from the same text."""
    made = ["train", *(split for split in HELD_OUT_SPLITS if split not in GIVEN_SPLITS)]
    files = [
        corpus_file(split, side) for split in made for side in ("source", "target")
    ]
    files += [
        path for split in made if split != "train" for path in raw_references(split)
    ]
    if CONFIG.data.kind == "libreoffice-help":
        files += [corpus_file(split, "task") for split in made]
    elif splits.has_labels(CONFIG, "train"):
        files += [corpus_file(split, "task") for split in made if split != "train"]
    optional = {
        "train.task": splits.has_labels(CONFIG, "train"),
        "train.alignment": splits.is_aligned(CONFIG),
        "monolingual": CONFIG.data.monolingual,
    }
    files += [
        f"{RESULTS}/corpus/{name}.gz" for name, given in optional.items() if given
    ]
    return [*files, PREPARATION, RECASER, statistics_files()[0]]


def prepare_options(wildcards):
    split = getattr(wildcards, "held_out", TRAIN)
    monolingual = [*CONFIG.data.monolingual] if split in ("hash", "train") else []
    files = commands.options(monolingual=monolingual, output=f"{RESULTS}/corpus")
    corpora = commands.corpora_options(given_corpora(split))
    if split in ("hash", "train"):
        # last, because what follows describes these sets
        sets = {held_out: given_corpora(held_out)[0] for held_out in GIVEN_SPLITS}
        files = f"{files} {commands.held_out_options(sets)}"
    return f"{commands.prepare_options(CONFIG, split, PREPARATION)} {corpora} {files}"


def language_model_text():
    further = [f"{RESULTS}/corpus/monolingual.gz"] if CONFIG.data.monolingual else []
    return [corpus_file("train", "target"), *further]


def tasks_folder(tasks):
    """Return the name of a folder of shards without the seed; with labels, it has a digest of settings."""
    if isinstance(tasks, RandomTasks | Resharding):
        return str(files_of(tasks))
    digest = hashlib.sha256(commands.sharding_options(tasks).encode()).hexdigest()
    kind = "pooled" if isinstance(tasks, PooledTasks) else "natural"
    return f"{files_of(tasks)}-{kind}-{digest[:8]}"


# Folders of shards that depend on labels, and the options of `itersel shard` that create them.
LABELLED = {
    tasks_folder(one.tasks): commands.sharding_options(one.tasks)
    for one in CONFIG.experiments.values()
    if labels_of(one.tasks)
}
# Folders of independent tasks, whose epochs are chosen on the devtest sentences with their label.
SCORED_BY_TASK = {
    tasks_folder(one.tasks)
    for one in CONFIG.experiments.values()
    if isinstance(one.tasks, IndependentTask)
}


def shards_name(experiment):
    """Return the name of the folder of an experiment's shards: 4, or 4-seed-2 with its own seed."""
    name, seed = tasks_folder(experiment.tasks), commands.own_seed(CONFIG, experiment)
    return name if seed == CONFIG.seed else f"{name}{SEED_MARK}{seed}"


def fold_models(shards, folds):
    """Return the folder of the language models that each leave out every `folds`-th shard."""
    return f"{RESULTS}/lm/{shards}-shards/{folds}-folds"


def fold_options(wildcards):
    fold = f"{wildcards.fold}/{wildcards.folds}"
    shards = f"{RESULTS}/shards/train/{wildcards.shards}/text"
    return commands.fold_options(CONFIG, corpus_file("train", "target"), shards, fold)


def shard_files(split, shards):
    count = int(shards.partition("-")[0])
    return [f"{RESULTS}/shards/{split}/{shards}/{shard}.h5" for shard in range(count)]


def learned_references(split):
    """Return the columns of the additional references used in learning: target.1, target.2, ... of dev."""
    return further_references(split) if split == "dev" else []


def further_texts(wildcards):
    split = wildcards.split
    return [corpus_file(split, column) for column in learned_references(split)]


def sharding_options(wildcards):
    further = commands.options(target=further_texts(wildcards))
    return " ".join(filter(None, [further, cutting_options(wildcards)]))


def cutting_options(wildcards):
    """Return the options for cutting a split: train and dev are shuffled, the others keep their order."""
    shards, _, seed = wildcards.shards.partition(SEED_MARK)
    if shards in LABELLED:
        labels = commands.options(
            task=corpus_file(wildcards.split, "task"),
            scored=corpus_file("devtest", "task") if shards in SCORED_BY_TASK else None,
        )
        return (
            f"{labels} {commands.options(seed=seed or CONFIG.seed)} {LABELLED[shards]}"
        )
    if wildcards.split in ("train", "dev"):
        return commands.options(shards=shards, seed=seed or CONFIG.seed)
    return commands.options(shards=shards, keep_order=True)


def task_labels(wildcards):
    """Return the labels by which sentences are divided into shards, and those needed to choose epochs."""
    shards = wildcards.shards.partition(SEED_MARK)[0]
    splits = [wildcards.split] if shards in LABELLED else []
    splits += ["devtest"] if shards in SCORED_BY_TASK else []
    return [corpus_file(split, "task") for split in splits]


def extract_options(wildcards):
    shard = (
        f"{RESULTS}/shards/{wildcards.split}/{wildcards.shards}/text/{wildcards.shard}"
    )
    files = commands.options(
        input=f"{shard}.source.gz",
        references=[
            f"{shard}.{column}.gz"
            for column in ["target", *learned_references(wildcards.split)]
        ],
        leave_one_out=f"{shard}.ids" if wildcards.split == "train" else None,
    )
    return f"{files} {commands.extract_options(CONFIG)}"


# ---- levels


def level_files(wildcards):
    """Return the files of a level (see list.smk)."""
    kind, *parts = wildcards.level.split("/")
    if kind == "shards":
        return shard_files(*parts)
    if kind == "lm":
        shards, folds = (part.rpartition("-")[0] for part in parts)
        folder = fold_models(shards, folds)
        return [f"{folder}/{fold}.bin" for fold in range(int(folds))]
    name, epoch, *rest = parts
    number = int(epoch.removeprefix("epoch-"))
    if not rest:
        return trained_shards(name, number)
    iteration = [int(part.removeprefix("iteration-")) for part in rest[:-1]]
    return written_lists(name, number, *iteration or [last_iteration(name, number)])
