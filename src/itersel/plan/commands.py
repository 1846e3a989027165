"""What the plan and the rules share: options of commands, names of files, settings of an experiment."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from itersel.config.search import ListSettings, Search
from itersel.config.splits import has_lists
from itersel.config.tuners import Batch, LineSearch, NoTuner
from itersel.config.values import Config, Experiment


def options(**values: object) -> str:
    """Return keyword arguments as long options, quoted for a shell.

    ``k_best=5`` becomes ``--k-best 5`` and ``tokenized=True`` becomes ``--tokenized``; `None` and `False` are
    left out; a list repeats the option. A value that begins with a dash would be read as an option, and a
    single dash as standard input, so they become ``--source=-n.de`` and ``--source ./-``.
    """
    words: list[str] = []
    for name, given in values.items():
        option = "--" + name.replace("_", "-")
        for value in given if isinstance(given, list) else [given]:
            if value is None or value is False:
                continue
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            if value is True:
                words.append(option)
            elif text == "-":
                words += [option, "./-"]
            elif text.startswith("-"):
                words.append(f"{option}={text}")
            else:
                words += [option, text]
    return shlex.join(words)


def options_of(section: Any) -> dict[str, Any]:
    """Return the values of a section by the name of their option; None where an empty list is the default."""
    values = ((item, getattr(section, item.name)) for item in fields(section))
    return {item.name: None if value == item.default == () else value for item, value in values}


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
    """Return how often dev is decoded and the weights are tuned in an epoch.

    A tuner of all dense weights needs to see the translations of its own weights, too, or it goes too far.
    """
    held_out = experiment.held_out
    return held_out.iterations or (1 if isinstance(held_out.tuner, LineSearch) else 4)


def own_seed(config: Config, experiment: Experiment) -> int:
    """Return the seed of the shuffle and of all random draws of an experiment."""
    return experiment.seed or config.seed


def search_of(config: Config, experiment: Experiment) -> ListSettings:
    """Return the settings of the search in training: those of the decoder, with the size of its lists."""
    k_best = experiment.k_best or config.decoder.k_best
    return ListSettings(
        experiment.features, experiment.templates, config.decoder.pop_limit, config.grammar.max_span, k_best
    )


def search_options(search: Search, config: Config) -> str:
    """Return the options of a search; those of a decoder have no effect with lists."""
    values = options_of(search)
    if has_lists(config):
        values = {name: value for name, value in values.items() if name in ("features", "k_best")}
    return options(**values)


class Files:
    """Files that several kinds of jobs make or read."""

    def __init__(self, config: Config) -> None:
        results = no_option(os.path.join(config.output, config.name))
        # the folders of all results, and of downloads
        self.results, self.fetched = results, f"{results}/corpus/fetched"
        # the compiled language model of all text, none with lists; the index of the training corpus
        self.model, self.index = f"{results}/lm/lm.bin", f"{results}/grammar/index"
        self.models = [] if has_lists(config) else [self.model]
        # how train was prepared, and the recaser learned from it
        self.preparation = f"{results}/corpus/preparation.json"
        self.recaser = f"{results}/corpus/recaser.json"

    def text(self, split: str, column: str) -> str:
        """Return a column of a split: source, target, target.1, task, raw, ..."""
        return f"{self.results}/corpus/{split}.{column}.gz"

    def experiment(self, name: str, path: str) -> str:
        """Return a file of an experiment."""
        return f"{self.results}/experiments/{name}/{path}"

    def experiments(self, names: list[str], path: str) -> list[str]:
        """Return the file of this name of several experiments."""
        return [self.experiment(name, path) for name in names]
