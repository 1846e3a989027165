"""The plan of a run."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace

from itersel.config.values import Config
from itersel.plan import commands
from itersel.plan.epochs import Epoch, Epochs
from itersel.plan.files import Files, no_option
from itersel.plan.lists import Lists
from itersel.plan.requests import TextSizes, text_sizes
from itersel.plan.shards import Shards
from itersel.plan.tables import Tables
from itersel.plan.texts import Texts


class Plan:
    """The files and options of all jobs of a run.

    Parameters
    ----------
    config
        The checked config, with the experiments that repeats and independent tasks stand for.

    Attributes
    ----------
    files, texts, shards, epochs, lists, tables
        The parts of the plan, in the order in which their files are made.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.files = Files(no_option(os.path.join(config.output, config.name)))
        self.texts = Texts(config, self.files)
        self.shards = Shards(config, self.files, self.texts)
        self.epochs = Epochs(config, self.files, self.shards)
        self.lists = Lists(config, self.files, self.epochs)
        self.tables = Tables(config, self.files, self.texts, self.shards)

    def epoch(self, name: str, number: int) -> Epoch:
        """Return an epoch of an experiment, counted from 1."""
        return self.epochs.epoch(name, number)

    def sizes(self) -> TextSizes:
        """Estimate the sizes of the texts, from those of their files."""
        return text_sizes(self.config, self.files.fetched)

    @property
    def help_options(self) -> str:
        """The options of `itersel corpus libreoffice-help`."""
        return commands.help_options(self.config)

    @property
    def estimate_options(self) -> str:
        """The options of `itersel lm estimate` for the model of all text."""
        return commands.estimate_options(self.config, self.files.text("train", "target"))

    @property
    def arpa(self) -> str:
        """The language model of all text: estimated, or the user's."""
        return no_option(self.config.language_model.arpa or f"{self.files.results}/lm/lm.arpa.gz")

    def config_digest(self) -> str:
        """Return a digest of all config values that results depend on."""
        return hashlib.sha256(repr(replace(self.config, cache="")).encode()).hexdigest()[:12]

    def explain_options(self) -> str:
        """Return the options of `itersel explain`."""
        return f"{commands.options(results=self.files.results)} {commands.explain_options(self.config)}"
