"""Independent tasks: a separate experiment for each task."""

from __future__ import annotations

from dataclasses import replace

from itersel.config.tasks import IndependentTask, IndependentTasks, labels_of
from itersel.config.values import Config

# Between the name of the experiment and the label.
MARK = ".task-"


def with_independent_tasks(config: Config) -> Config:
    """Turn each independent task into a separate experiment, ``<name>.task-<label>``.

    With `start_from`, it starts from the same task of that experiment, if that one has independent tasks.
    """
    experiments = {}
    for name, experiment in config.experiments.items():
        if not isinstance(experiment.tasks, IndependentTasks):
            experiments[name] = experiment
            continue
        for task in experiment.tasks.single_tasks(name):
            start = experiment.start_from
            if start and isinstance(config.experiments[start].tasks, IndependentTasks):
                start = task_name(start, task.label)
            experiments[task_name(name, task.label)] = replace(experiment, tasks=task, start_from=start)
    return replace(config, experiments=experiments)


def task_name(name: str, label: str) -> str:
    """Return the name of the experiment for a task."""
    return f"{name}{MARK}{label}"


def compared_labels(config: Config) -> tuple[str, ...]:
    """Return the labels for the table by task: of independent tasks, otherwise of all experiments."""
    tasks = [experiment.tasks for experiment in config.experiments.values()]
    independent = [one for one in tasks if isinstance(one, IndependentTask)]
    return tuple(dict.fromkeys(label for one in independent or tasks for label in labels_of(one)))
