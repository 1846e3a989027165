"""Experiments that expand into several: repeats with different seeds, and independent tasks."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from itersel.config.defaults import never_null
from itersel.config.values import Config, Experiment

_RESERVED = re.compile(r".+\.repeat-\d+|.*\.task-.*")


class PlannedRepeat(NamedTuple):
    """A repeat of an experiment of a config, or of one of its independent tasks."""

    experiment: str  # its name in the config
    label: str | None = None  # of an independent task
    repeat: int = 1

    @property
    def system(self) -> str:
        """The name that repeats share in tables, ``<experiment>`` or ``<experiment>.task-<label>``."""
        return self.experiment if self.label is None else f"{self.experiment}.task-{self.label}"

    @property
    def folder(self) -> str:
        """The name of its folder, which is also its name in the expanded config."""
        return repeat_folder(self.system, self.repeat)


def repeat_folder(system: str, repeat: int) -> str:
    """Return the name of the folder of a repeat, ``<system>``, or ``<system>.repeat-<N>`` from the second."""
    return system if repeat == 1 else f"{system}.repeat-{repeat}"


def is_reserved(name: str) -> bool:
    """Return whether a name looks like that of a repeat or an independent task."""
    return _RESERVED.fullmatch(name) is not None


def planned_repeats(config: Config) -> dict[str, PlannedRepeat]:
    """Return what the experiments of a config expand into, by name of the folder."""
    found = [
        PlannedRepeat(name, label, repeat)
        for name, one in config.experiments.items()
        for label in (one.tasks.label_names if one.tasks.are_independent else (None,))
        for repeat in range(1, one.repeats + 1)
    ]
    return {one.folder: one for one in found}


def expanded(config: Config) -> Config:
    """Turn each independent task and each repeat into a separate experiment; the config is resolved."""
    repeats = planned_repeats(config)
    return replace(
        config, experiments={folder: experiment_of(config, repeat) for folder, repeat in repeats.items()}
    )


def experiment_of(config: Config, planned: PlannedRepeat) -> Experiment:
    """Return the experiment of a repeat: its own tasks, and a seed that is greater by 1 for each repeat."""
    experiment = config.experiments[planned.experiment]
    return replace(
        experiment,
        tasks=experiment.tasks if planned.label is None else experiment.tasks.separate()[planned.label],
        seed=never_null(experiment.seed) + planned.repeat - 1,
        repeats=1,
        start_from=_start_of(config, planned),
    )


def _start_of(config: Config, planned: PlannedRepeat) -> str | None:
    """Return the experiment that a repeat starts from: the same task, if that one has independent tasks.

    It is the same repeat, or the first if there are fewer.
    """
    start = config.experiments[planned.experiment].start_from
    if not start:
        return start
    first = config.experiments[start]
    label = planned.label if first.tasks.are_independent else None
    repeat = planned.repeat if planned.repeat <= first.repeats else 1
    return PlannedRepeat(start, label, repeat).folder
