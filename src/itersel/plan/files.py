"""The names of files that several parts of the plan need."""

from __future__ import annotations

import os

from itersel.config.values import Config
from itersel.corpus.text_names import column_file, statistics_file
from itersel.plan.shell import no_option
from itersel.results import CORPUS, EXPERIMENTS, INDEX, LANGUAGE_MODEL, PREPARATION, RECASER


class Files:
    """Files that several kinds of jobs make or read."""

    def __init__(self, config: Config) -> None:
        results = no_option(os.path.join(config.output, config.name))
        # the folders of all results, of prepared text, and of text that is downloaded or collected
        self.results = results
        self.corpus = f"{results}/{CORPUS}"
        self.fetched = f"{self.corpus}/fetched"
        self.help = f"{self.corpus}/help"
        # the compiled language model of all text; the index of the training corpus
        self.language_model = f"{results}/{LANGUAGE_MODEL}"
        self.index = f"{results}/{INDEX}"
        # how train was prepared, and the recaser learned from it
        self.preparation = f"{results}/{PREPARATION}"
        self.recaser = f"{results}/{RECASER}"

    def text(self, split: str, column: str) -> str:
        """Return a column of a split: source, target, target.1, labels, raw, ..."""
        return f"{self.corpus}/{column_file(split, column)}"

    def statistics(self, split: str) -> str:
        """Return the statistics of preparing a split, or of the text that is split by hash."""
        return f"{self.corpus}/{statistics_file(split)}"

    def experiment(self, name: str, path: str) -> str:
        """Return a file of an experiment."""
        return f"{self.results}/{EXPERIMENTS}/{name}/{path}"

    def experiments(self, names: list[str], path: str) -> list[str]:
        """Return the file with this name for each of several experiments."""
        return [self.experiment(name, path) for name in names]
