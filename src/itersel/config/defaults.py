"""Defaults that depend on other keys; those of each tuning corpus devtest chose (docs/experiments.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from itersel.config.mixing import ALGORITHMS, MIXINGS, Nothing, PathFollowing
from itersel.config.splits import has_lists
from itersel.config.tasks import RandomTasks, Resharding, files_of
from itersel.config.tuners import Batch, KBestMira
from itersel.config.values import Config, Experiment

Section = TypeVar("Section")

TASKS, PATH_TASKS = Resharding(shards=4, parts=8), RandomTasks(shards=4)
ITERATIONS = 6
FOLDS = 10


def with_tuning_defaults(config: Config, given: Mapping[str, Any]) -> Config:
    """Return a config whose experiments have the defaults for their tuning corpora, except keys `given`."""
    settings = given.get("experiments") or {}
    # of dev, which tuners need
    has_references = not has_lists(config) or bool(config.data.dev.target)
    experiments = {
        name: _with_defaults(one, settings[name] or {}, has_references)
        for name, one in config.experiments.items()
    }
    return replace(config, experiments=experiments)


def _with_defaults(experiment: Experiment, given: Mapping[str, Any], has_references: bool) -> Experiment:
    """Return an experiment with its defaults; with algorithm 1 and batch tuners, it is tuned on dev."""
    is_batch, is_sgd = isinstance(experiment.learner, Batch), experiment.algorithm == "sgd"
    if "mixing" not in given:
        # a batch tuner produces one weight vector
        mixing = "none" if is_batch else ALGORITHMS.get(experiment.algorithm or "", "selection")
        experiment = replace(experiment, mixing=MIXINGS[mixing]())
    if "tune_on" not in given and (is_batch or is_sgd):
        experiment = replace(experiment, tune_on="dev")
    if experiment.tune_on == "dev":
        return experiment
    experiment = _on_train(experiment, given)
    experiment = replace(experiment, learner=_on_train(experiment.learner, given.get("learner") or {}))
    if is_batch:
        return experiment
    if "tasks" not in given and not is_sgd and not isinstance(experiment.mixing, Nothing):
        is_path = isinstance(experiment.mixing, PathFollowing)
        experiment = replace(experiment, tasks=PATH_TASKS if is_path else TASKS)
    held_out, steps = experiment.held_out, given.get("held_out") or {}
    if "tuner" not in steps and has_references:
        iterations = steps.get("iterations", ITERATIONS)
        held_out = replace(held_out, tuner=KBestMira(), iterations=iterations)
    tuner = _on_train(held_out.tuner, steps.get("tuner") or {})
    return replace(experiment, held_out=replace(held_out, tuner=tuner))


def _on_train(section: Section, given: Mapping[str, Any]) -> Section:
    """Return a section with the defaults of its options for train."""
    chosen = {
        item.name: item.metadata["on_train"]
        for item in fields(section)  # type: ignore[arg-type]
        if "on_train" in item.metadata and item.name not in given
    }
    return replace(section, **chosen)  # type: ignore[type-var]


def with_folds(config: Config) -> Config:
    """Fill in the numbers of held-out language models that the config does not set."""
    has_model = config.language_model.arpa is not None or has_lists(config)
    experiments = {}
    for name, experiment in config.experiments.items():
        tasks = experiment.tasks
        if tasks.language_model_folds is None:
            is_own = experiment.tune_on == "train" and not has_model
            folds = min(FOLDS, files_of(tasks)) if is_own else 1
            experiment = replace(experiment, tasks=replace(tasks, language_model_folds=folds))
        experiments[name] = experiment
    return replace(config, experiments=experiments)
