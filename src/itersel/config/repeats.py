"""An experiment that is run several times, with another seed each time."""

from __future__ import annotations

import re
from dataclasses import replace

from itersel.config.values import Config

_REPEAT = re.compile(r"(.+)\.repeat-(\d+)")


def with_repeats(config: Config) -> Config:
    """Make each repeat an experiment of its own: the N-th is ``<name>.repeat-N``, its seed N - 1 greater.

    It starts from the N-th repeat of the experiment that the first one starts from, if there are as many.
    """
    experiments = {}
    for name, experiment in config.experiments.items():
        experiments[name] = replace(experiment, repeats=1)
        for repeat in range(2, experiment.repeats + 1):
            seed = (experiment.seed or config.seed) + repeat - 1
            start = experiment.start_from
            if start and repeat <= config.experiments[start].repeats:
                start = repeat_name(start, repeat)
            experiments[repeat_name(name, repeat)] = replace(experiments[name], seed=seed, start_from=start)
    return replace(config, experiments=experiments)


def repeat_name(name: str, repeat: int) -> str:
    """Return what the N-th run of an experiment is called; the first one has its name."""
    return name if repeat == 1 else f"{name}.repeat-{repeat}"


def split_repeat(name: str) -> tuple[str, int]:
    """Return the experiment that a name of `with_repeats` belongs to, and which repeat it is, from 1."""
    found = _REPEAT.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 1)
