"""What a run learns from: parallel text, which our decoder translates, or another decoder's n-best lists.

`origin_of` decides it once, from ``data.kind``. The other parts of the plan ask the object that it returns,
and never which of the two it is. The texts of lists and their files, for workflow/rules/nbest.smk, are in
`list_texts`.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from itersel.config import splits
from itersel.config.defaults import never_null
from itersel.config.learners import Online
from itersel.config.learning_steps import GivenListTrainSettings, LearningSettings, TrainSettings
from itersel.config.report_steps import GivenListScaleSettings, ScaleChoice, ScaleSettings
from itersel.config.search import GivenListFeatures, Search
from itersel.config.settings import as_json
from itersel.config.values import Config, Experiment
from itersel.corpus.text_names import BY_HASH, FIRST_COLUMN, FIRST_ENTRIES, raw_columns
from itersel.plan.files import Files
from itersel.plan.requests import TextSizes, list_sizes, text_sizes
from itersel.plan.searches import search_of
from itersel.plan.shell import no_option
from itersel.results import DERIVATIONS

# Maximum number of threads that a job requests; --set-threads train_shard=N changes the number.
MAX_THREADS = 8


class Origin(ABC):
    """What differs between the two, from the text to the page."""

    # the compiled language model of all text, for jobs that decode; with lists, there is none
    language_models: list[str]

    def __init__(self, config: Config, files: Files) -> None:
        self._config = config
        self._files = files

    @abstractmethod
    def sizes(self) -> TextSizes:
        """Estimate sizes from file sizes."""

    @abstractmethod
    def statistics(self, held_out: Sequence[str]) -> list[str]:
        """Return the statistics of preparing all splits, train first."""

    @abstractmethod
    def raw_columns(self, further: Sequence[str]) -> list[str]:
        """Return the columns of the raw references of a split with the given further columns."""

    @abstractmethod
    def with_grammars(self, folders: dict[str, str]) -> dict[str, str]:
        """Return those folders of sentences, by split, that have grammars."""

    def train_settings(self, wildcards: Any) -> str:
        """Return the `TrainSettings` or `GivenListTrainSettings` that all shards of an experiment share."""
        return self._train_settings(wildcards.experiment)

    @functools.cache  # noqa: B019  (there is one plan)
    def _train_settings(self, name: str) -> str:
        return as_json(self._training(self._config.experiments[name]))

    @abstractmethod
    def _training(self, experiment: Experiment) -> LearningSettings: ...

    def _learning(self, experiment: Experiment) -> dict[str, Any]:
        """Return the keys of training that do not depend on which decoder translates."""
        return {
            "k_best": never_null(experiment.k_best),
            "learner": _shard_learner(experiment),
            "seed": never_null(experiment.seed),
            "measure_loss": experiment.mixing.needs_loss,
        }

    @abstractmethod
    def decoding_threads(self, wildcards: Any) -> int:
        """Return the number of threads that decode a shard; it does not change any result."""

    @abstractmethod
    def tuning_files(self, sentence_files: list[str], decoded: list[str]) -> list[str]:
        """Return the tuning files: those decoded so far or, with given lists, these lists."""

    def decode_settings(self, wildcards: Any) -> str:
        """Return the `Search` of translations, or the `GivenListFeatures` that score lists."""
        return as_json(self.decoding(self._config.experiments[wildcards.experiment]))

    @abstractmethod
    def decoding(self, experiment: Experiment) -> Search | GivenListFeatures:
        """Return how an experiment translates: with which search or, of lists, which features score them."""

    def left_out_templates(self, experiment: Experiment) -> tuple[str, ...]:
        """Return the templates of text whose features a tuner ignores; of our own lists, the decoder does."""
        return ()

    @abstractmethod
    def scaling(self, experiment: Experiment, choice: ScaleChoice) -> ScaleChoice:
        """Return how the scale of minimum Bayes risk is chosen, with how an experiment translates."""

    @abstractmethod
    def outputs(self, test_sets: Mapping[str, str]) -> dict[str, dict[str, str]]:
        """Return systems that come with it, and the files of their translations by test set."""

    @abstractmethod
    def scored_lists(self, split: str) -> list[str]:
        """Return the lists of a test set as the user gave them, if there are scores of their translations."""

    @property
    @abstractmethod
    def derivations(self) -> list[str]:
        """The derivations that the page shows."""


class _ParallelText(Origin):
    """Text is prepared, its rules are extracted, and our decoder translates it."""

    def __init__(self, config: Config, files: Files) -> None:
        super().__init__(config, files)
        self.language_models = [files.language_model]

    def sizes(self) -> TextSizes:
        return text_sizes(self._config, self._files.fetched)

    def statistics(self, held_out: Sequence[str]) -> list[str]:
        # splits that are not given are made from the same text as train
        first = BY_HASH if splits.is_help(self._config) else "train"
        given = [split for split in held_out if splits.is_given(self._config, split)]
        return [self._files.statistics(split) for split in (first, *given)]

    def raw_columns(self, further: Sequence[str]) -> list[str]:
        return raw_columns(1 + sum(column != "labels" for column in further))

    def with_grammars(self, folders: dict[str, str]) -> dict[str, str]:
        return folders

    def _training(self, experiment: Experiment) -> LearningSettings:
        return TrainSettings(**self._learning(experiment), **vars(self.decoding(experiment)))

    def decoding_threads(self, wildcards: Any) -> int:
        return _shard_learner(self._config.experiments[wildcards.experiment]).thread_count(MAX_THREADS)

    def tuning_files(self, sentence_files: list[str], decoded: list[str]) -> list[str]:
        return decoded

    def decoding(self, experiment: Experiment) -> Search:
        return search_of(self._config, experiment)

    def scaling(self, experiment: Experiment, choice: ScaleChoice) -> ScaleChoice:
        return ScaleSettings(**vars(choice), **vars(self.decoding(experiment)))

    def outputs(self, test_sets: Mapping[str, str]) -> dict[str, dict[str, str]]:
        return {}

    def scored_lists(self, split: str) -> list[str]:
        return []

    @property
    def derivations(self) -> list[str]:
        return [f"{self._files.results}/{DERIVATIONS}"] if self._config.report.derivations else []


class _GivenLists(Origin):
    """Another decoder has translated: there are no models, grammars or derivations, only its lists."""

    def __init__(self, config: Config, files: Files) -> None:
        super().__init__(config, files)
        self.language_models = []

    def sizes(self) -> TextSizes:
        return list_sizes(self._config)

    def statistics(self, held_out: Sequence[str]) -> list[str]:
        # only references are prepared; lists to learn from may have numbers instead
        prepared = [split for split in ("train", *held_out) if splits.has_references(self._config, split)]
        return list(map(self._files.statistics, prepared))

    def raw_columns(self, further: Sequence[str]) -> list[str]:
        # references keep their words
        return ["target", *further]

    def with_grammars(self, folders: dict[str, str]) -> dict[str, str]:
        return {}

    def _training(self, experiment: Experiment) -> LearningSettings:
        return GivenListTrainSettings(**self._learning(experiment), **vars(self.decoding(experiment)))

    def decoding_threads(self, wildcards: Any) -> int:
        return 1

    def tuning_files(self, sentence_files: list[str], decoded: list[str]) -> list[str]:
        # lists are the same in every iteration, and read whole
        return sentence_files

    def decoding(self, experiment: Experiment) -> GivenListFeatures:
        return GivenListFeatures(experiment.features, self.left_out_templates(experiment))

    def left_out_templates(self, experiment: Experiment) -> tuple[str, ...]:
        if not experiment.uses_sparse:
            return ()
        return self._config.text_features.left_out(never_null(experiment.templates))

    def scaling(self, experiment: Experiment, choice: ScaleChoice) -> ScaleChoice:
        return GivenListScaleSettings(**vars(choice), **vars(self.decoding(experiment)))

    def outputs(self, test_sets: Mapping[str, str]) -> dict[str, dict[str, str]]:
        entries = {test_set: self._files.text(split, FIRST_COLUMN) for test_set, split in test_sets.items()}
        return {FIRST_ENTRIES: entries}

    def scored_lists(self, split: str) -> list[str]:
        if not self._config.evaluation.user_scores:
            return []
        return list(map(no_option, splits.texts_of(self._config, split)[""].lists))

    @property
    def derivations(self) -> list[str]:
        return []


def origin_of(config: Config, files: Files) -> Origin:
    """Return what a run learns from."""
    return _GivenLists(config, files) if splits.has_given_lists(config) else _ParallelText(config, files)


def _shard_learner(experiment: Experiment) -> Online:
    """Return the learner of shards; those of a batch tuner are not trained."""
    assert experiment.shard_learner is not None
    return experiment.shard_learner
