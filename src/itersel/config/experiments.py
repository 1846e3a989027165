"""Experiments that expand into several: repeats with different seeds, and independent tasks."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from itersel.config.defaults import never_null
from itersel.config.values import Config, Experiment

_RESERVED = re.compile(r".+\.repeat-\d+|.*\.task-.*")


class Member(NamedTuple):
    """One of the experiments that an experiment of a config expands into."""

    experiment: str  # its name in the config
    label: str | None = None  # of an independent task
    repeat: int = 1

    @property
    def system(self) -> str:
        """The name that its repeats share, ``<experiment>`` or ``<experiment>.task-<label>``."""
        return self.experiment if self.label is None else f"{self.experiment}.task-{self.label}"

    @property
    def name(self) -> str:
        """The name of its folder: that of the system; the N-th repeat is ``<system>.repeat-N``."""
        return repeat_name(self.system, self.repeat)


def repeat_name(system: str, repeat: int) -> str:
    """Return the name of the N-th repeat of a system; the first has the system's name."""
    return system if repeat == 1 else f"{system}.repeat-{repeat}"


def is_reserved(name: str) -> bool:
    """Return whether a name looks like that of a repeat or an independent task."""
    return _RESERVED.fullmatch(name) is not None


def members(config: Config) -> dict[str, Member]:
    """Return what the experiments of a config expand into, by name."""
    found = [
        Member(name, label, repeat)
        for name, one in config.experiments.items()
        for label in (one.tasks.label_names if one.tasks.are_independent else (None,))
        for repeat in range(1, one.repeats + 1)
    ]
    return {one.name: one for one in found}


def expanded(config: Config) -> Config:
    """Turn each independent task and each repeat into a separate experiment; the config is resolved."""
    return replace(
        config, experiments={name: experiment_of(config, one) for name, one in members(config).items()}
    )


def experiment_of(config: Config, member: Member) -> Experiment:
    """Return the experiment of one member: its own tasks, and a seed that is greater by 1 for each repeat."""
    experiment = config.experiments[member.experiment]
    return replace(
        experiment,
        tasks=experiment.tasks if member.label is None else experiment.tasks.separate()[member.label],
        seed=never_null(experiment.seed) + member.repeat - 1,
        repeats=1,
        start_from=_start_of(config, member),
    )


def _start_of(config: Config, member: Member) -> str | None:
    """Return the experiment that a member starts from: the same task, if that one has independent tasks.

    It is the same repeat, or the first if there are fewer.
    """
    start = config.experiments[member.experiment].start_from
    if not start:
        return start
    first = config.experiments[start]
    label = member.label if first.tasks.are_independent else None
    return Member(start, label, member.repeat if member.repeat <= first.repeats else 1).name
