"""The names of the files of a run, below its folder of results."""

from __future__ import annotations

import os
from dataclasses import dataclass


def no_option(path: str) -> str:
    """Return a path that commands do not mistake for an option; Snakemake strips ./ from paths."""
    return os.path.abspath(path) if path.startswith(("-", "./-")) else path


@dataclass(frozen=True)
class Files:
    """Files that several kinds of jobs make or read.

    Attributes
    ----------
    results
        The folder of results.
    """

    results: str

    @property
    def model(self) -> str:
        """The language model of all text, compiled."""
        return f"{self.results}/lm/lm.bin"

    @property
    def index(self) -> str:
        """The index of the training corpus."""
        return f"{self.results}/grammar/index"

    @property
    def preparation(self) -> str:
        """How train was prepared."""
        return f"{self.results}/corpus/preparation.json"

    @property
    def recaser(self) -> str:
        """The recaser learned from train."""
        return f"{self.results}/corpus/recaser.json"

    @property
    def fetched(self) -> str:
        """The folder of downloads."""
        return f"{self.results}/corpus/fetched"

    def text(self, split: str, column: str) -> str:
        """Return a column of a split: source, target, target.1, task, raw, ..."""
        return f"{self.results}/corpus/{split}.{column}.gz"

    def experiment(self, name: str, path: str) -> str:
        """Return a file of an experiment."""
        return f"{self.results}/experiments/{name}/{path}"

    def experiments(self, names: list[str], path: str) -> list[str]:
        """Return the file of this name of several experiments."""
        return [self.experiment(name, path) for name in names]
