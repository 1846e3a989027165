"""Name files, and tell how an experiment tunes on dev, for several parts of the plan."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from itersel.config.defaults import never_null
from itersel.config.tuners import Batch, NoTuner
from itersel.config.values import Config, Experiment
from itersel.results import CORPUS, EXPERIMENTS, INDEX, PREPARATION, RECASER


def no_option(path: str) -> str:
    """Return a path that commands do not mistake for an option; Snakemake strips ./ from paths."""
    return os.path.abspath(path) if path.startswith(("-", "./-")) else path


def sequence(files: Sequence[str]) -> str:
    """Return the arguments with which `seq` prints the names of files that are numbered from 0."""
    folder, name = os.path.split(files[0])
    pattern = os.path.join(folder.replace("%", "%%"), re.sub(r"\d+", "%.0f", name, count=1))
    return shlex.join(["-f", pattern, "0", str(len(files) - 1)])


def sequences(files: Sequence[str]) -> str:
    """Return the commands that print the names of files numbered 0, 1, 2, ... in one or more folders."""
    folders: dict[str, list[str]] = {}
    for file in files:
        folders.setdefault(os.path.dirname(file), []).append(file)
    return "; ".join(f"seq {sequence(group)}" for group in folders.values())


def held_out_tuner(experiment: Experiment) -> Batch | None:
    """Return the tuner of mixed weights on dev, if any."""
    tuner = experiment.held_out.tuner
    return None if isinstance(tuner, NoTuner) else tuner


def held_out_iterations(experiment: Experiment) -> int:
    """Return how often dev is decoded and the weights are tuned in an epoch."""
    return never_null(experiment.held_out.iterations) if held_out_tuner(experiment) else 0


class Files:
    """Files that several kinds of jobs make or read."""

    def __init__(self, config: Config) -> None:
        results = no_option(os.path.join(config.output, config.name))
        # the folders of all results, and of downloads
        self.results, self.fetched = results, f"{results}/{CORPUS}/fetched"
        # the compiled language model of all text; the index of the training corpus
        self.model, self.index = f"{results}/lm/lm.bin", f"{results}/{INDEX}"
        # how train was prepared, and the recaser learned from it
        self.preparation = f"{results}/{PREPARATION}"
        self.recaser = f"{results}/{RECASER}"

    def text(self, split: str, column: str) -> str:
        """Return a column of a split: source, target, target.1, task, raw, ..."""
        return f"{self.results}/{CORPUS}/{split}.{column}.gz"

    def experiment(self, name: str, path: str) -> str:
        """Return a file of an experiment."""
        return f"{self.results}/{EXPERIMENTS}/{name}/{path}"

    def experiments(self, names: list[str], path: str) -> list[str]:
        """Return the file with this name for each of several experiments."""
        return [self.experiment(name, path) for name in names]
