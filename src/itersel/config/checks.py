"""Check that the values of a config are consistent, and fill in defaults that depend on several of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from itersel.config.data import Data, ReferencedText
from itersel.config.independent import MARK
from itersel.config.learners import Perceptron, find_conflict
from itersel.config.messages import reject
from itersel.config.mixing import EpochsMean, Nothing, PathFollowing, Selection, mixing_name
from itersel.config.repeats import split_repeat
from itersel.config.splits import has_labels, is_aligned
from itersel.config.tasks import (
    IndependentTasks,
    NaturalTasks,
    PooledTasks,
    RandomTasks,
    Resharding,
    files_of,
    labels_of,
    tasks_name,
)
from itersel.config.tuners import ALL_DENSE, STEP, Batch, ForestMert, HeldOut, LineSearch, NoTuner
from itersel.config.values import Align, Config, Experiment
from itersel.errors import InputError, attempt_all
from itersel.limits import DENSE_FEATURES, MAX_SEED, TEMPLATES

DEFAULT_FOLDS = 10
# Labels that are part of the names of experiments.
_TASK = "[A-Za-z0-9_-]{1,60}"


def check_models(config: Config) -> None:
    """Reject keys that are set but would have no effect."""
    templates = config.grammar.templates
    for number, name in enumerate(templates):
        if name in templates[:number]:
            raise InputError(f"config key 'grammar.templates': '{name}' is listed twice; remove one")
    if is_aligned(config) and config.align != Align():
        raise InputError(
            "config key 'align.symmetrization' has no effect with data.train.alignment; remove one"
        )
    if config.language_model.arpa is not None:
        for key, value in (
            ("language_model.open_vocabulary", config.language_model.open_vocabulary),
            ("data.monolingual", config.data.monolingual),
        ):
            if value:
                raise InputError(
                    f"config key '{key}' has no effect with language_model.arpa; remove one of them"
                )


def check_experiments(config: Config) -> None:
    """Reject experiments with conflicting keys."""
    if not config.experiments:
        raise InputError("config key 'experiments' is missing or empty; name at least one experiment")
    attempt_all(partial(_check_experiment, config, name) for name in config.experiments)
    _check_compared(config)


def _check_experiment(config: Config, name: str) -> None:
    experiment = config.experiments[name]
    key, mixing = f"experiments.{name}", experiment.mixing
    if split_repeat(name) != (name, 1):
        raise InputError(f"config key '{key}': names like this are reserved for repeats; choose another")
    if (experiment.seed or config.seed) + experiment.repeats - 1 > MAX_SEED:
        raise InputError(
            f"config key '{key}.repeats' is {experiment.repeats}: the last seed would be larger than "
            f"{MAX_SEED}"
        )
    if experiment.k_best is not None and isinstance(experiment.learner, ForestMert):
        raise InputError(f"config key '{key}.k_best' has no effect with forests; remove it")
    if MARK in name:
        raise InputError(
            f"config key '{key}': names like this are reserved for independent tasks; choose another"
        )
    _check_tasks(config, experiment, f"{key}.tasks")
    _check_alone(experiment, f"{key}.tasks")
    if isinstance(mixing, Selection):
        _check_limits(mixing, f"{key}.mixing")
    if isinstance(mixing, PathFollowing):
        _check_path(experiment, mixing, key)
    if isinstance(mixing, Selection | PathFollowing):
        used = experiment.templates or config.grammar.templates
        _check_kept(mixing.keep, f"{key}.mixing.keep", used if experiment.features == "all" else ())
    conflict = None if isinstance(experiment.learner, Batch) else find_conflict(experiment.learner)
    if conflict:
        raise InputError(f"config key '{key}.learner.{conflict[0]}' {conflict[1]}")
    _check_templates(config, name)
    _check_start(config, name)
    _check_folds(config, experiment, key)
    _check_held_out(experiment, f"{key}.held_out")


def _check_compared(config: Config) -> None:
    """Reject independent tasks without other experiments to compare with, or with different labels."""
    independent = {
        name: labels_of(one.tasks)
        for name, one in config.experiments.items()
        if isinstance(one.tasks, IndependentTasks)
    }
    for name, labels in independent.items():
        key, first = f"config key 'experiments.{name}.tasks", next(iter(independent))
        if len(independent) == len(config.experiments):
            raise InputError(f"{key}': independent tasks need an experiment with other tasks to compare with")
        if set(labels) != set(independent[first]):
            raise InputError(
                f"{key}.labels' differ from those of '{first}'; independent tasks must be the same"
            )


def _check_alone(experiment: Experiment, key: str) -> None:
    """Reject several shards if their weights are not mixed."""
    tasks, is_sgd = experiment.tasks, experiment.algorithm == "sgd"
    is_alone = isinstance(experiment.mixing, Nothing) and not isinstance(experiment.learner, Batch)
    if not (is_sgd or is_alone):
        return
    why = "algorithm: sgd" if is_sgd else "mixing: {name: none}"
    if isinstance(tasks, IndependentTasks):
        for label, shards in (tasks.labels or {}).items():
            if shards > 1:
                raise InputError(f"config key '{key}.labels.{label}' is {shards}, must be 1 with {why}")
    elif tasks.shards > 1 and isinstance(tasks, NaturalTasks):
        raise InputError(f"config key '{key}.labels' makes {tasks.shards} shards, must make 1 with {why}")
    elif tasks.shards > 1:
        raise InputError(f"config key '{key}.shards' is {tasks.shards}, must be 1 with {why}")


def _check_tasks(config: Config, experiment: Experiment, key: str) -> None:
    """Reject tasks without labels, or that the learner cannot use."""
    tasks = experiment.tasks
    if isinstance(experiment.learner, Batch) and isinstance(tasks, Resharding | PooledTasks):
        raise InputError(
            f"config key '{key}.name' is {tasks_name(tasks)}, which needs an online learner; a batch tuner "
            "reads the lists of all shards at once"
        )
    if isinstance(tasks, RandomTasks | Resharding):
        return
    labels, key = labels_of(tasks), f"{key}.labels"
    if not labels:
        each = "" if isinstance(tasks, PooledTasks) else ", each with a number of shards"
        raise InputError(f"config key '{key}' is missing; name the tasks{each}")
    for number, label in enumerate(labels):
        if label in labels[:number]:
            raise InputError(f"config key '{key}': '{label}' is listed twice; remove one")
        if isinstance(tasks, IndependentTasks) and not re.fullmatch(_TASK, label):
            raise InputError(
                f"config key '{key}.{label}': labels of independent tasks may have at most 60 letters, "
                "digits, '_' and '-'; use other labels"
            )
    data, split = config.data, experiment.tune_on
    if isinstance(tasks, IndependentTasks):
        _check_scored_by_task(data, key)
    needed = [split, "devtest"] if isinstance(tasks, IndependentTasks) else [split]
    for name in needed if data.kind == "files" else []:
        if not has_labels(config, name):
            raise InputError(f"config key '{key}' needs data.{name}.task, a file with the label of each line")


def _check_scored_by_task(data: Data, key: str) -> None:
    """Reject test sets on which independent tasks cannot be compared."""
    tested = data.test.values()
    if data.kind == "files" and not any(one.task or one.columns.task for one in tested):
        raise InputError(f"config key '{key}' needs data.test.task, a file with the label of each line")
    for name, test_set in data.test.items():
        if test_set.devtest != ReferencedText():
            raise InputError(
                f"config key 'data.test.{name}.devtest' has no effect with independent tasks, which choose "
                "their epochs on data.devtest; remove one of them"
            )


def _check_templates(config: Config, name: str) -> None:
    """Reject templates that are not extracted, or not used."""
    key, experiment = f"experiments.{name}.templates", config.experiments[name]
    for number, template in enumerate(experiment.templates):
        if template not in config.grammar.templates:
            raise InputError(f"config key '{key}': '{template}' is not in grammar.templates; add it there")
        if template in experiment.templates[:number]:
            raise InputError(f"config key '{key}': '{template}' is listed twice; remove one")
    if experiment.features == "all" and not config.grammar.templates:
        raise InputError(
            f"config key 'grammar.templates' is empty, but experiment '{name}' has features: all"
        )
    if experiment.templates and experiment.features == "dense":
        raise InputError(f"config key '{key}' has no effect with features: dense; remove one of them")


def _check_limits(mixing: Selection, key: str) -> None:
    """Reject more than one limit."""
    first, *others = mixing.limits
    if others:
        raise InputError(
            f"config key '{key}.{others[0]}' cannot be combined with '{key}.{first}'; remove one of them"
        )


def _check_path(experiment: Experiment, mixing: PathFollowing, key: str) -> None:
    """Reject a path that ends before it begins, or whose losses cannot be compared."""
    for name in ("threshold", "epsilon"):
        if getattr(mixing, name) is None:
            raise InputError(
                f"config key '{key}.mixing.{name}' is missing; see path-following in docs/learning.md"
            )
    if mixing.threshold is not None and mixing.minimum > mixing.threshold:
        reject(f"{key}.mixing.minimum", mixing.minimum, "at most the threshold")
    if type(experiment.learner) is Perceptron and experiment.start_from is None:
        raise InputError(
            f"config key '{key}.learner.name' is perceptron, whose loss is 0 if all weights are 0: path "
            "following needs another learner, or start_from"
        )
    if isinstance(experiment.tasks, Resharding) and getattr(experiment.learner, "pairs", "") == "pro":
        raise InputError(
            f"config key '{key}.learner.pairs' is pro, which samples other pairs when a sentence moves to "
            "another shard: with resharding, path following cannot compare their losses"
        )
    if experiment.held_out.start == "tuned":
        raise InputError(
            f"config key '{key}.held_out.start' is tuned, but path following compares the losses of mixed "
            "weights"
        )


def _check_kept(names: tuple[str, ...], key: str, templates: Sequence[str]) -> None:
    """Reject features that no grammar has."""
    prefixes = tuple(TEMPLATES[template] for template in templates)
    for name in names:
        is_sparse = name.startswith(prefixes) and name not in prefixes and not re.search(r"\s", name)
        if name in (ALL_DENSE, *templates, *DENSE_FEATURES) or is_sparse:
            continue
        if not templates:
            reject(key, name, "dense or the name of a dense feature")
        reject(key, name, f"dense, a template ({', '.join(templates)}), or the name of a feature of one")


def _check_held_out(experiment: Experiment, key: str) -> None:
    """Reject a step on dev if dev is not held out, or if the step would change nothing."""
    held_out = experiment.held_out
    if isinstance(held_out.tuner, NoTuner):
        for name in ("iterations", "start"):
            if getattr(held_out, name) != getattr(HeldOut(), name):
                raise InputError(f"config key '{key}.{name}' has no effect without '{key}.tuner'; remove it")
        return
    if experiment.tune_on != "train":
        raise InputError(f"config key '{key}.tuner' needs tune_on: train; dev is not held out otherwise")
    if isinstance(experiment.learner, Batch):
        raise InputError(f"config key '{key}.tuner' changes mixed weights, but a batch tuner mixes nothing")
    if held_out.start == "tuned" and isinstance(experiment.mixing, Nothing | EpochsMean):
        raise InputError(
            f"config key '{key}.start' is tuned, but with mixing {mixing_name(experiment.mixing)} shards "
            "continue from their own weights"
        )
    if held_out.start == "tuned" and experiment.epochs == 1:
        raise InputError(f"config key '{key}.start' has no effect with epochs: 1; remove it")
    if isinstance(held_out.tuner, LineSearch):
        _check_directions(held_out.tuner.directions, f"{key}.tuner.directions", experiment.epochs)


def _check_directions(directions: Sequence[str], key: str, epochs: int) -> None:
    """Reject unknown directions, and those that add nothing."""
    allowed = (ALL_DENSE, STEP, *DENSE_FEATURES)
    if not directions:
        raise InputError(f"config key '{key}' is empty; name at least one")
    for place, name in enumerate(directions):
        if name not in allowed:
            reject(key, name, f"one of {', '.join(allowed)}")
        if name in directions[:place]:
            raise InputError(f"config key '{key}': '{name}' is listed twice; remove one")
        if name in DENSE_FEATURES and ALL_DENSE in directions:
            raise InputError(f"config key '{key}': {ALL_DENSE} includes '{name}'; remove one of them")
    if STEP in directions and epochs == 1:
        raise InputError(f"config key '{key}': {STEP} has no effect with epochs: 1; remove it")


def _check_start(config: Config, name: str) -> None:
    """Reject a start that does not exist, is circular, or has features that the experiment does not use."""
    key, experiments = f"experiments.{name}.start_from", config.experiments
    path = [name]
    while (start := experiments[path[-1]].start_from) is not None:
        if start not in experiments:
            reject(key, start, f"one of {', '.join(other for other in experiments if other != name)}")
        if start in path:
            raise InputError(f"config key '{key}' is circular: {', '.join([*path, start])}")
        path.append(start)
        if isinstance(experiments[start].tasks, IndependentTasks) and not isinstance(
            experiments[path[-2]].tasks, IndependentTasks
        ):
            reject(key, start, "an experiment with one weight vector; it has independent tasks")
    first = experiments[name].start_from
    used = set(experiments[name].templates or config.grammar.templates)
    if first and experiments[first].features == "all" == experiments[name].features:
        others = set(experiments[first].templates or config.grammar.templates) - used
        if others:
            raise InputError(
                f"config key '{key}': '{first}' has weights of templates {', '.join(sorted(others))}, which "
                "this experiment does not use"
            )
    if first and experiments[name].features == "dense" and experiments[first].features == "all":
        raise InputError(
            f"config key '{key}': '{first}' has features: all, but this experiment has features: dense"
        )


def _check_folds(config: Config, experiment: Experiment, key: str) -> None:
    folds = experiment.tasks.language_model_folds
    if folds is None or folds == 1:
        return
    key, files = f"{key}.tasks.language_model_folds", files_of(experiment.tasks)
    if experiment.tune_on != "train":
        raise InputError(f"config key '{key}' needs tune_on: train")
    if config.language_model.arpa is not None:
        raise InputError(f"config key '{key}' has no effect with language_model.arpa; remove one of them")
    if folds > files:
        what = "shards" if files == experiment.tasks.shards else "files"
        raise InputError(f"config key '{key}' is {folds}, must be at most {files}, its {what}")


def with_folds(config: Config) -> Config:
    """Fill in the numbers of held-out language models that the config does not set."""
    experiments = {}
    for name, experiment in config.experiments.items():
        tasks = experiment.tasks
        if tasks.language_model_folds is None:
            is_own = experiment.tune_on == "train" and config.language_model.arpa is None
            folds = min(DEFAULT_FOLDS, files_of(tasks)) if is_own else 1
            experiment = replace(experiment, tasks=replace(tasks, language_model_folds=folds))
        experiments[name] = experiment
    return replace(config, experiments=experiments)


def warnings(config: Config) -> list[str]:
    """Return one line for each setting that is allowed but probably not intended."""
    found = []
    for name, experiment in config.experiments.items():
        tasks, own = experiment.tasks, config.language_model.arpa is None
        if experiment.tune_on == "train" and own and tasks.language_model_folds == 1:
            where = "has one shard" if files_of(tasks) == 1 else "has language_model_folds: 1"
            found.append(
                f"experiments.{name} {where}: it is trained with a language model that has seen its text, "
                "and will trust it too much (docs/workflow.md)"
            )
    return found
