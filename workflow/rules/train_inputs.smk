# Inputs and options of train.smk, decode.smk and evaluate.smk. There are no rules here.
#
# needs: common.smk     gives: experiment_file, of_*, BATCH, HELD_OUT, MIXED, SELECTING, COMPARED, INDEPENDENT, and the
#                              inputs of epochs and tables
#
# Options are cached because there may be tens of thousands of jobs.
import functools

from itersel.config.independent import compared_labels
from itersel.config.mixing import EpochsMean, PathFollowing, Selection
from itersel.corpus.sharding import deal_files

# Most threads that a job requests; --set-threads train_shard=N changes the number.
MOST_THREADS = 8


def experiment_file(name, path):
    return f"{RESULTS}/experiments/{name}/{path}"


# Experiments for a single task translate only that task; they are compared together, see `task_systems`.
COMPARED = [
    name
    for name, one in CONFIG.experiments.items()
    if not isinstance(one.tasks, IndependentTask)
]


def of_experiments(path, names=tuple(CONFIG.experiments)):
    return [experiment_file(name, path) for name in names]


def of_epochs(path):
    """Return an input function for the files with this name in all epochs of an experiment."""

    def files(wildcards):
        epochs = range(1, CONFIG.experiments[wildcards.experiment].epochs + 1)
        name = path.format(**dict(wildcards.items()))
        return [
            experiment_file(wildcards.experiment, f"epoch-{epoch}/{name}")
            for epoch in epochs
        ]

    return files


# Experiments by how the weights of an epoch are made: by `tune` (BATCH), `tune` after `mix` (HELD_OUT), or `mix`.
BATCH = [name for name, one in CONFIG.experiments.items() if commands.is_batch(one)]
HELD_OUT = [
    name for name, one in CONFIG.experiments.items() if commands.held_out_tuner(one)
]
MIXED = [name for name in CONFIG.experiments if name not in (*BATCH, *HELD_OUT)]
SELECTING = [
    name
    for name in [*MIXED, *HELD_OUT]
    if isinstance(CONFIG.experiments[name].mixing, Selection | PathFollowing)
]


def mixed_weights(name, epoch):
    """Return the file of weights that `mix` makes."""
    file = "mixed.h5" if name in HELD_OUT else "weights.h5"
    return experiment_file(name, f"epoch-{epoch}/{file}")


@functools.cache
def dealt_files(name, epoch):
    """Return the numbers of the files in each shard of an epoch with resharding."""
    experiment = CONFIG.experiments[name]
    tasks, seed = experiment.tasks, commands.own_seed(CONFIG, experiment)
    return deal_files(files_of(tasks), tasks.shards, seed, epoch)


def files_of_shard(wildcards):
    """Return the numbers of the files with the sentences of a shard, in training order."""
    tasks, shard = CONFIG.experiments[wildcards.experiment].tasks, int(wildcards.shard)
    if isinstance(tasks, Resharding):
        return dealt_files(wildcards.experiment, int(wildcards.epoch))[shard]
    if isinstance(tasks, PooledTasks):
        return list(range(tasks.parts))
    return [tasks.first + shard] if isinstance(tasks, IndependentTask) else [shard]


def tuning_models(wildcards):
    """Return the language model for each file: that of all text, or the one without the file's text."""
    experiment = CONFIG.experiments[wildcards.experiment]
    folds = experiment.tasks.language_model_folds
    if folds == 1:
        return [MODEL]
    folder = fold_models(shards_name(experiment), folds)
    return [f"{folder}/{file % folds}.bin" for file in files_of_shard(wildcards)]


def tuning_files(wildcards):
    experiment = CONFIG.experiments[wildcards.experiment]
    folder = f"{RESULTS}/shards/{experiment.tune_on}/{shards_name(experiment)}"
    return [f"{folder}/{file}.h5" for file in files_of_shard(wildcards)]


def first_weights(experiment):
    """Return the weights of another experiment that the first epoch starts from, if any."""
    start = experiment.start_from
    return experiment_file(start, "best/weights.h5") if start else []


def start_weights(wildcards):
    """Return the weights that a shard starts an epoch with: none, its own, or the mixed ones."""
    experiment, epoch = CONFIG.experiments[wildcards.experiment], int(wildcards.epoch)
    if epoch == 1:
        return first_weights(experiment)
    if commands.goes_on_alone(experiment):
        own = f"epoch-{epoch - 1}/shard-{wildcards.shard}.h5"
        return experiment_file(wildcards.experiment, own)
    if experiment.held_out.start == "tuned":
        return experiment_file(wildcards.experiment, f"epoch-{epoch - 1}/weights.h5")
    return mixed_weights(wildcards.experiment, epoch - 1)


def level_before(wildcards):
    """Return the files that all shards of an epoch wait for, so that they start together: one array job."""
    experiment, epoch = CONFIG.experiments[wildcards.experiment], int(wildcards.epoch)
    if epoch == 1:
        lists = [
            f"{RESULTS}/shards/{experiment.tune_on}/{shards_name(experiment)}/files.txt"
        ]
        if experiment.tasks.language_model_folds > 1:
            folder = fold_models(
                shards_name(experiment), experiment.tasks.language_model_folds
            )
            lists.append(f"{folder}/files.txt")
        return [ancient(path) for path in lists]
    if commands.goes_on_alone(experiment):
        return ancient(
            experiment_file(wildcards.experiment, f"epoch-{epoch - 1}/files.txt")
        )
    return []


def epoch_name(wildcards):
    """Return the name of the array job of an epoch or iteration."""
    name = f"{wildcards.experiment}.{wildcards.epoch}"
    iteration = getattr(wildcards, "iteration", None)
    return f"{name}.{iteration}" if iteration else name


def shards_per_job(wildcards):
    return CONFIG.experiments[wildcards.experiment].tasks.shards_per_job


def decoding_threads(wildcards):
    """Return the number of threads that decode a shard; it does not change any result."""
    learner = CONFIG.experiments[wildcards.experiment].learner
    return min(learner.delay, MOST_THREADS)


@functools.cache
def experiment_options(name):
    return commands.train_options(CONFIG, CONFIG.experiments[name])


def train_options(wildcards):
    start = commands.options(
        weights=start_weights(wildcards) or None,
        epoch=wildcards.epoch,
        shard_number=wildcards.shard,
    )
    return f"{start} {experiment_options(wildcards.experiment)}"


def trained_shards(name, epoch):
    shards = CONFIG.experiments[name].tasks.shards
    folder = experiment_file(name, f"epoch-{epoch}")
    return [f"{folder}/shard-{shard}.h5" for shard in range(shards)]


def previous_weights(wildcards):
    """Return the mixed weights of the previous epoch, if this epoch's weights depend on them."""
    experiment, epoch = CONFIG.experiments[wildcards.experiment], int(wildcards.epoch)
    if epoch == 1 or not isinstance(experiment.mixing, EpochsMean | PathFollowing):
        return []
    return mixed_weights(wildcards.experiment, epoch - 1)


def mix_options(wildcards):
    options = commands.mix_options(CONFIG.experiments[wildcards.experiment])
    previous = previous_weights(wildcards) or None
    return f"{options} {commands.options(epoch=wildcards.epoch, previous=previous)}"


def decode_options(wildcards):
    return commands.decode_options(CONFIG, CONFIG.experiments[wildcards.experiment])


def translated_shards(wildcards):
    folder = experiment_file(
        wildcards.experiment, f"{wildcards.stage}/{wildcards.split}"
    )
    return [f"{folder}/{shard}.txt" for shard in range(CONFIG.decoder.jobs)]


def system_options(wildcards):
    split = OWN_DEVTESTS.get(getattr(wildcards, "test_set", None), "devtest")
    tasks = CONFIG.experiments[wildcards.experiment].tasks
    own = isinstance(tasks, IndependentTask)
    scored = commands.options(
        devtest=split,
        reference=references(split),
        labels=corpus_file(split, "task") if own else None,
        task=tasks.label if own else None,
    )
    if scored_as_text(split):
        raw = shlex.join(["--raw-references", *raw_references(split)])
        scored += f" {raw} {commands.options(preparation=PREPARATION, recaser=RECASER)}"
    return f"{commands.system_options(CONFIG, wildcards.experiment)} {scored}"


def scored_as_text(split):
    """Return the files needed to choose the epoch by scores of detokenised text; none for tokenised BLEU."""
    if CONFIG.evaluation.choose_by == TOKENIZED_BLEU:
        return []
    return [*raw_references(split), PREPARATION, RECASER]


def scored_labels(wildcards):
    """Return the labels of devtest if the epoch is chosen on the sentences of one task."""
    own = isinstance(CONFIG.experiments[wildcards.experiment].tasks, IndependentTask)
    return corpus_file("devtest", "task") if own else []


def resource_options(wildcards):
    return commands.resource_options(CONFIG, CONFIG.experiments[wildcards.experiment])


# ---- tables


def uses_whole_split(experiment):
    """Return whether the shards of an experiment contain all sentences of its tuning corpus."""
    tasks = experiment.tasks
    is_joined = isinstance(tasks, NaturalTasks) and tasks.others == "join"
    return is_joined or isinstance(tasks, RandomTasks | Resharding)


# Splits with grammars, and the folders of shards in which their rules are counted. Grammars do not depend on how a
# split is cut, so the folder with the fewest shards is used, regardless of the order of experiments.
COUNTED_SPLITS = {
    **{
        experiment.tune_on: shards_name(experiment)
        for experiment in sorted(
            filter(uses_whole_split, CONFIG.experiments.values()),
            key=lambda one: (one.tune_on, -files_of(one.tasks), -(one.seed or 0)),
        )
    },
    **{split: str(CONFIG.decoder.jobs) for split in HELD_OUT_SPLITS if split != "dev"},
}
if HELD_OUT:
    COUNTED_SPLITS.setdefault("dev", str(CONFIG.decoder.jobs))


def chosen_stage(name):
    """Return the stage whose weights translate a test set: `best`, or its own with its own devtest."""
    return f"best-{name}" if name in OWN_DEVTESTS else "best"


def of_test_sets(path):
    """Return, for each test set, the files of the compared experiments at the epochs chosen for it."""
    return {
        name: of_experiments(
            f"{chosen_stage(name)}/{path.format(split=split)}", COMPARED
        )
        for name, split in TEST_SETS.items()
    }


def evaluated_references(name):
    """Return the plain-text references of a test set."""
    return [
        f"{RESULTS}/evaluation/{name}/reference.{number}.txt"
        for number in range(len(references(TEST_SETS[name])))
    ]


def counts_of_systems(name):
    """Return the counts from which the translations of a test set are scored, in the order of the table."""
    return [
        f"{RESULTS}/evaluation/{name}/counts/{experiment}.h5" for experiment in COMPARED
    ]


def comparison_options():
    """Return the options of `itersel report table`, with the files of each test set."""
    systems, translations = of_test_sets("system.json"), of_test_sets("{split}.txt")
    groups = [
        shlex.join(
            ["--test-set", name, *references(split), "--systems", *systems[name]]
        )
        + " "
        + shlex.join(["--translations", *translations[name]])
        + " "
        + shlex.join(["--counts", *counts_of_systems(name)])
        for name, split in TEST_SETS.items()
    ]
    return " ".join([commands.table_options(CONFIG), *groups])


# Test sets with labels get a table by task. A module held out from training is not one of the tasks.
TASK_LABELS = compared_labels(CONFIG)
TASK_SPLITS = [
    split
    for split in TEST_SETS.values()
    if TASK_LABELS
    and (
        split == "test"
        if TRAIN == "hash" and split not in GIVEN_SPLITS
        else splits.has_labels(CONFIG, split)
    )
]


# For each experiment with independent tasks, the experiments for its tasks, by label.
INDEPENDENT = {}
for name, one in CONFIG.experiments.items():
    if isinstance(one.tasks, IndependentTask):
        whole = repeat_name(one.tasks.experiment, split_repeat(name)[1])
        INDEPENDENT.setdefault(whole, {})[one.tasks.label] = name


def task_systems(split):
    """Return pairs of a file of translations and the name of its experiment, which all its repeats share."""
    stage = next(chosen_stage(name) for name, one in TEST_SETS.items() if one == split)
    # in the order of the other tables, followed by the independent tasks, which those leave out
    files = {name: experiment_file(name, f"{stage}/{split}.txt") for name in COMPARED}
    files |= {name: experiment_file(name, f"tasks/{split}.txt") for name in INDEPENDENT}
    return [(file, split_repeat(name)[0]) for name, file in files.items()]


def task_options(wildcards):
    systems = [
        shlex.join(["--system", name, file])
        for file, name in task_systems(wildcards.split)
    ]
    labels = commands.options(
        labels=corpus_file(wildcards.split, "task"),
        reference=references(wildcards.split),
    )
    return " ".join([commands.task_table_options(CONFIG), labels, *systems])


def own_translations(wildcards):
    names = INDEPENDENT[wildcards.independent].values()
    return of_experiments(f"best/{wildcards.split}.txt", names)


def counted_shards(wildcards):
    return shard_files(wildcards.split, COUNTED_SPLITS[wildcards.split])


def counts_of_rules():
    return [f"{RESULTS}/report/rules.{split}.json" for split in COUNTED_SPLITS]


def corpus_options():
    counts = [
        f"--rules {split} {shlex.quote(path)}"
        for split, path in zip(COUNTED_SPLITS, counts_of_rules())
    ]
    preparation = f"--preparation {shlex.join(statistics_files())}"
    collection = commands.options(collection=next(iter(collection_statistics()), None))
    return " ".join([preparation, collection, *counts])


# ---- page


def explained_shards():
    """Return the shards of the first test set, whose derivations the page shows."""
    return shard_files(next(iter(TEST_SETS.values())), str(CONFIG.decoder.jobs))


def explained_derivations():
    return [f"{RESULTS}/report/derivations.json"] if CONFIG.report.derivations else []


def config_digest():
    """Return a digest of all config values that results depend on."""
    return hashlib.sha256(repr(replace(CONFIG, cache="")).encode()).hexdigest()[:12]


def explain_options():
    return f"{commands.options(results=RESULTS)} {commands.explain_options(CONFIG)}"
