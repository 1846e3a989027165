"""Independent tasks: an experiment of its own for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from itersel.config.tasks import IndependentTasks
from itersel.config.values import Config

# Between the name of the experiment and the label.
MARK = ".task-"


def with_own_tasks(config: Config) -> Config:
    """Make each task of independent ones an experiment of its own: ``<name>.task-<label>``.

    It starts from the same task of the experiment that it starts from, if that one has independent tasks.
    """
    experiments = {}
    for name, experiment in config.experiments.items():
        if not isinstance(experiment.tasks, IndependentTasks):
            experiments[name] = experiment
            continue
        for task in experiment.tasks.own_tasks(name):
            start = experiment.start_from
            if start and isinstance(config.experiments[start].tasks, IndependentTasks):
                start = own_name(start, task.label)
            experiments[own_name(name, task.label)] = replace(experiment, tasks=task, start_from=start)
    return replace(config, experiments=experiments)


def own_name(name: str, label: str) -> str:
    """Return the name of the experiment for a task."""
    return f"{name}{MARK}{label}"


def common_labels(labels: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the labels that all experiments with labels have, in the order of the first."""
    named = [one for one in labels if one]
    return tuple(label for label in named[0] if all(label in one for one in named)) if named else ()
