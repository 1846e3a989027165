# Names and helpers that the other files share. Nothing here makes files.
#
# needs: config     gives: CONFIG (checked), RESULTS, LOGS, paths and options by wildcards
import hashlib
import os
import re
import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path

from itersel.config import commands, read_config, splits
from itersel.config.reading import read_yaml
from itersel.config.independent import with_independent_tasks
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
from itersel.errors import InputError
from itersel.limits import TOKENIZED_BLEU
from itersel.storage.files import remove_leftovers
from itersel.sources import assets_digest, step_digest

try:
    # Snakemake has read them, but of keys that are there twice it took the last
    for file in workflow.overwrite_configfiles or ["config.yaml"]:
        read_yaml(file)
    CONFIG = with_repeats(with_independent_tasks(read_config(config)))
except InputError as error:
    sys.exit(f"itersel: {error}")


def no_option(path):
    """Return a path that commands do not read as an option; Snakemake takes ./ off a path."""
    return os.path.abspath(path) if path.startswith(("-", "./-")) else path


RESULTS = no_option(os.path.join(CONFIG.output, CONFIG.name))
LOGS = f"{RESULTS}/logs"
BENCHMARKS = f"{RESULTS}/benchmarks"
MODEL = f"{RESULTS}/lm/lm.bin"
INDEX = f"{RESULTS}/grammar/index"
PREPARATION = f"{RESULTS}/corpus/preparation.json"
RECASER = f"{RESULTS}/corpus/recaser.json"

# Memory in MB and time in minutes that jobs request on a cluster; rules not listed here take the profile's default.
# For train_shard and write_lists this is the time of one shard: a task with n of them requests n times as much. These
# are numbers rather than functions of `attempt`, which add ten seconds of planning to a run of 25,000 jobs.
SIZES = {
    "fetch_help": {"mem_mb": 2000, "runtime": 60},
    "prepare_help": {"mem_mb": 2000, "runtime": 60},
    "prepare_train": {"mem_mb": 4000, "runtime": 120},
    "align": {"mem_mb": 4000, "runtime": 240},
    "estimate_language_model": {"mem_mb": 8000, "runtime": 240},
    "compile_language_model": {"mem_mb": 8000, "runtime": 120},
    "estimate_fold_model": {"mem_mb": 8000, "runtime": 240},
    "compile_fold_model": {"mem_mb": 8000, "runtime": 120},
    "index_corpus": {"mem_mb": 8000, "runtime": 120},
    "shard_corpus": {"mem_mb": 4000, "runtime": 60},
    "extract_shard": {"mem_mb": 4000, "runtime": 120},
    "train_shard": {"mem_mb": 2000, "runtime": 240},
    "mix": {"mem_mb": 8000, "runtime": 60},
    "write_lists": {"mem_mb": 2000, "runtime": 240},
    "tune": {"mem_mb": 4000, "runtime": 120},
    "decode_shard": {"mem_mb": 2000, "runtime": 120},
    "describe_selection": {"mem_mb": 8000, "runtime": 60},
    # TER of 3,000 sentences takes a minute or two of processor time
    "detokenize": {"mem_mb": 2000, "runtime": 60},
    "choose_epoch": {"mem_mb": 2000, "runtime": 120},
    "compare_systems": {"mem_mb": 4000, "runtime": 60 + 5 * len(CONFIG.experiments)},
    "explain_translations": {"mem_mb": 2000, "runtime": 60},
    "write_page": {"mem_mb": 4000, "runtime": 60},
    "count_rules": {"mem_mb": 2000, "runtime": 60},
}

# Between the number of shards and the seed in the name of a folder of shards; the seed of the run is not named.
SEED_MARK = "-seed-"

# Folder of the compiled kernels; read again on the node of a job, where variables are filled in.
CACHE = os.path.abspath(os.path.expandvars(CONFIG.cache))

# Jobs inherit these: the compiled kernels of all jobs are in one place, where the first job on a kind of
# machine puts them for all others; ITERSEL_RUN tells whose jobs they are, see refuse_running_jobs; `itersel`
# is the one that belongs to the Snakemake in use, whether or not its environment is activated. The
# installation of a conda environment is told where the project is.
os.environ.update(
    ITERSEL_CACHE=CACHE,
    ITERSEL_PROJECT=str(workflow.basedir),
    ITERSEL_RUN=os.path.abspath(RESULTS),
    ITERSEL_WARM_UP="1",
    PATH=os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")]),
)


# Test sets by name, and the devtests of those that have their own: their splits.
TEST_SETS = splits.test_sets(CONFIG)
OWN_DEVTESTS = splits.own_devtests(CONFIG)
HELD_OUT_SPLITS = ["dev", "devtest", *OWN_DEVTESTS.values(), *TEST_SETS.values()]
# The others are taken from the help.
GIVEN_SPLITS = [split for split in HELD_OUT_SPLITS if splits.is_given(CONFIG, split)]


def one_of(names):
    """Return a regular expression for names; of none it matches nothing."""
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


# `step_digest` is a parameter of rules: Snakemake does not look into installed packages, and would not run
# an edited step again. Options are functions of wildcards alone: Snakemake does not keep those that take
# `input` or `output`, and would not run a job again when they change.


def sequence(files):
    """Return the arguments with which `seq` prints the names of files that end in a number from 0."""
    folder, name = os.path.split(files[0])
    pattern = os.path.join(
        folder.replace("%", "%%"), re.sub(r"\d+", "%.0f", name, count=1)
    )
    return shlex.join(["-f", pattern, "0", str(len(files) - 1)])


def sequences(files):
    """Return the commands that print the names of files, in each folder those that end in 0, 1, 2, ..."""
    folders = {}
    for file in files:
        folders.setdefault(os.path.dirname(file), []).append(file)
    return "; ".join(f"seq {sequence(group)}" for group in folders.values())


# ---- corpus, shards


def corpus_file(split, side):
    return f"{RESULTS}/corpus/{split}.{side}.gz"


def further_references(split):
    """Return what a held-out split has beside its first reference: target.1, target.2, ..."""
    if split not in GIVEN_SPLITS:
        return []
    count = len(given_files(split)["target"])
    return [f"target.{number}" for number in range(1, count)]


def references(split):
    """Return the reference translations of a held-out split, as many as the config gives."""
    return [corpus_file(split, side) for side in ("target", *further_references(split))]


def raw_columns(further):
    """Return the columns with references as they were given, of a split with some further columns."""
    numbers = [column.removeprefix("target") for column in further if column != "task"]
    return [f"raw{number}" for number in ["", *numbers]]


def raw_references(split):
    """Return the references of a split as they were given, in the order of `references`."""
    return [
        corpus_file(split, column) for column in raw_columns(further_references(split))
    ]


def further_columns(split):
    """Return what a given split has beside a source and a reference: target.1, ..., task."""
    tasks = ["task"] if "task" in given_files(split) else []
    return (*further_references(split), *tasks)


def given_files(split):
    """Return the raw files of a split by name; `hash` stands for the text that is split by hash."""
    if split == "hash":
        files = {
            side: f"{RESULTS}/corpus/help/{side}.gz"
            for side in ("source", "target", "task")
        }
    else:
        files = asdict(splits.text_of(CONFIG, split))
        files.pop("devtest", None)
    if split in ("hash", "train"):
        files["monolingual"] = CONFIG.data.monolingual
    return {
        name: list(path) if isinstance(path, tuple) else path
        for name, path in files.items()
        if path is not None
    }


def statistics_files():
    """Return what tells how the splits were prepared, first that of train."""
    first = "" if CONFIG.data.kind == "libreoffice-help" else "train."
    given = [f"{split}." for split in GIVEN_SPLITS]
    return [f"{RESULTS}/corpus/{split}statistics.json" for split in (first, *given)]


def help_files():
    """Return the files of a given folder of the help, so that it is read again when they change."""
    if CONFIG.data.folder is None:
        return []
    folder = Path(CONFIG.data.folder)
    files = sorted(folder.glob("*.deb")) or sorted(folder.rglob("*.html"))
    return list(map(str, files)) or [str(folder)]


def collection_statistics():
    """Return what tells how the text was collected; of given files there is nothing to tell."""
    given = CONFIG.data.kind == "files"
    return [] if given else [f"{RESULTS}/corpus/help/statistics.json"]


def prepared_files():
    """Return what the preparation of train makes; with the splits that are cut out of the same text."""
    made = ["train", *(split for split in HELD_OUT_SPLITS if split not in GIVEN_SPLITS)]
    files = [
        corpus_file(split, side) for split in made for side in ("source", "target")
    ]
    files += [
        path for split in made if split != "train" for path in raw_references(split)
    ]
    if CONFIG.data.kind == "libreoffice-help":
        files += [corpus_file(split, "task") for split in made]
    optional = {
        "train.task": CONFIG.data.train.task,
        "train.alignment": CONFIG.data.train.alignment,
        "monolingual": CONFIG.data.monolingual,
    }
    files += [
        f"{RESULTS}/corpus/{name}.gz" for name, given in optional.items() if given
    ]
    return [*files, PREPARATION, RECASER, statistics_files()[0]]


def prepare_options(wildcards):
    split = getattr(
        wildcards,
        "held_out",
        "hash" if CONFIG.data.kind == "libreoffice-help" else "train",
    )
    options = commands.prepare_options(CONFIG, split, PREPARATION)
    return f"{options} {commands.options(**given_files(split), output=f'{RESULTS}/corpus')}"


def language_model_text():
    further = [f"{RESULTS}/corpus/monolingual.gz"] if CONFIG.data.monolingual else []
    return [corpus_file("train", "target"), *further]


def tasks_folder(tasks):
    """Return the name of the folder of shards without the seed; of labels, it has a digest of the settings."""
    if isinstance(tasks, RandomTasks | Resharding):
        return str(files_of(tasks))
    digest = hashlib.sha256(commands.sharding_options(tasks).encode()).hexdigest()
    kind = "pooled" if isinstance(tasks, PooledTasks) else "natural"
    return f"{files_of(tasks)}-{kind}-{digest[:8]}"


# Folders of shards that depend on labels, and the options of `itersel shard` that make them.
LABELLED = {
    tasks_folder(one.tasks): commands.sharding_options(one.tasks)
    for one in CONFIG.experiments.values()
    if labels_of(one.tasks)
}
# Those of independent tasks, which choose their epochs on the devtest sentences with their label.
SCORED_BY_TASK = {
    tasks_folder(one.tasks)
    for one in CONFIG.experiments.values()
    if isinstance(one.tasks, IndependentTask)
}


def shards_name(experiment):
    """Return the name of the folder of an experiment's shards: 4, or with another seed 4-seed-2."""
    name, seed = tasks_folder(experiment.tasks), commands.own_seed(CONFIG, experiment)
    return name if seed == CONFIG.seed else f"{name}{SEED_MARK}{seed}"


def fold_models(shards, folds):
    """Return the folder of the language models that leave out every `folds`-th shard."""
    return f"{RESULTS}/lm/{shards}-shards/{folds}-folds"


def fold_options(wildcards):
    fold = f"{wildcards.fold}/{wildcards.folds}"
    shards = f"{RESULTS}/shards/train/{wildcards.shards}/text"
    return commands.fold_options(CONFIG, corpus_file("train", "target"), shards, fold)


def shard_files(split, shards):
    count = int(shards.partition("-")[0])
    return [f"{RESULTS}/shards/{split}/{shards}/{shard}.h5" for shard in range(count)]


def learned_references(split):
    """Return what is learned from beside the first reference: target.1, target.2, ... of dev."""
    return further_references(split) if split == "dev" else []


def further_texts(wildcards):
    split = wildcards.split
    return [corpus_file(split, column) for column in learned_references(split)]


def sharding_options(wildcards):
    further = commands.options(target=further_texts(wildcards))
    return " ".join(filter(None, [further, cutting_options(wildcards)]))


def cutting_options(wildcards):
    """Shuffle what is learned from; keep the order of what is translated."""
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
    """Return the labels that sentences are sorted by, and those that are needed to choose epochs."""
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
    """Return the files of a level, see list.smk."""
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
