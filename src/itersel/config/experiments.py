"""Experiments that expand into several: repeats with different seeds, and independent tasks."""

from __future__ import annotations

import re
from dataclasses import replace

from itersel.config.defaults import never_null
from itersel.config.values import Config

# Between the name of the experiment and the label.
MARK = ".task-"
_REPEAT = re.compile(r"(.+)\.repeat-(\d+)")


def expanded(config: Config) -> Config:
    """Turn each independent task and each repeat into a separate experiment; the config is resolved."""
    return with_repeats(with_independent_tasks(config))


def with_independent_tasks(config: Config) -> Config:
    """Turn each independent task into a separate experiment, ``<name>.task-<label>``.

    It starts from the same task of `start_from`, if that one has independent tasks.
    """
    experiments = {}
    for name, experiment in config.experiments.items():
        if not experiment.tasks.are_independent:
            experiments[name] = experiment
            continue

        for label, task in experiment.tasks.separate(name).items():
            start = experiment.start_from
            if start and config.experiments[start].tasks.are_independent:
                start = f"{start}{MARK}{label}"
            experiments[f"{name}{MARK}{label}"] = replace(experiment, tasks=task, start_from=start)

    return replace(config, experiments=experiments)


def with_repeats(config: Config) -> Config:
    """Turn each repeat into a separate experiment: the N-th is ``<name>.repeat-N``, its seed N - 1 greater.

    With `start_from`, it starts from the N-th repeat of that experiment, or the first if there are fewer.
    """
    experiments = {}
    for name, experiment in config.experiments.items():
        experiments[name] = replace(experiment, repeats=1)
        for repeat in range(2, experiment.repeats + 1):
            seed = never_null(experiment.seed) + repeat - 1
            start = experiment.start_from
            if start and repeat <= config.experiments[start].repeats:
                start = repeat_name(start, repeat)
            experiments[repeat_name(name, repeat)] = replace(experiments[name], seed=seed, start_from=start)
    return replace(config, experiments=experiments)


def repeat_name(name: str, repeat: int) -> str:
    """Return the name of the N-th repeat of an experiment; the first has the experiment's name."""
    return name if repeat == 1 else f"{name}.repeat-{repeat}"


def split_repeat(name: str) -> tuple[str, int]:
    """Return the experiment and the number of the repeat, from 1, of a name made by `with_repeats`."""
    found = _REPEAT.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 1)
