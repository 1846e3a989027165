"""Texts, and files of their sentences, in runs that use n-best lists instead of a decoder."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from itersel.config.defaults import never_null
from itersel.config.division import GivenListDivideSettings
from itersel.config.list_steps import GivenListSettings, RerankerSettings
from itersel.config.settings import as_json
from itersel.config.splits import has_references, texts_of
from itersel.config.text_steps import ReferenceSettings
from itersel.corpus.text_names import reference_columns
from itersel.evaluate.names import QUALITY
from itersel.lists.folders import find_lists
from itersel.plan.part import Foundation, PlanPart
from itersel.plan.shell import no_option
from itersel.plan.text_features import word_settings

# The splits whose quality learners and tuners use; that of others only decides which epoch is the best.
LEARNED_FROM = ("train", "dev")


class ListTexts(PlanPart):
    """The texts with lists, and the files of their sentences."""

    def __init__(self, foundation: Foundation) -> None:
        super().__init__(foundation)
        self.splits = ["train", *self._texts.held_out]

    def _text(self, split: str) -> Any:
        return texts_of(self._config, split)[""]

    def user_files(self, split: str) -> dict[str, list[str]]:
        """Return the user's files besides lists: references, source, labels."""
        text = self._text(split)
        files = {"reference": text.target, "source": text.source, "labels": text.labels}
        return {name: list(map(no_option, paths)) for name, paths in files.items()}

    def texts(self, split: str) -> list[str]:
        """Return the corpus files written from the user's files."""
        text = self._text(split)
        columns = list(reference_columns(len(text.target)))
        if text.labels:
            columns.append("labels")
        if text.source:
            columns.append("source")

        files = [self._files.text(split, column) for column in columns]
        if has_references(self._config, split):
            files.append(self._files.statistics(split))
        if split == "train":
            files += [self._files.preparation, self._files.recaser]
        return files

    @property
    def reference_settings(self) -> str:
        """The `ReferenceSettings`."""
        data = self._config.data
        settings = ReferenceSettings(
            source_language=data.source_language,
            target_language=data.target_language,
            tokenized=data.tokenized,
        )
        return as_json(settings)

    def _references(self, split: str) -> list[str]:
        columns = reference_columns(len(self._text(split).target))
        return [self._files.text(split, column) for column in columns]

    def lists(self, wildcards: Any) -> list[str]:
        """Return the files of the lists of a text."""
        return list(map(no_option, find_lists(self._text(wildcards.split).lists)))

    def named_lists(self, wildcards: Any) -> list[str]:
        """Return the lists of a text as in the config: a command line cannot name thousands of files."""
        return list(map(no_option, self._text(wildcards.split).lists))

    def reranking_options(self, split: str) -> list[str]:
        """Return the options with which `itersel rescore --system` reranks the lists of a text."""
        text = self._text(split)
        has_source = text.source and not self._config.text_features.is_empty
        source = ["--source", *map(no_option, text.source)] if has_source else []
        return [*source, "--nbest", *map(no_option, text.lists)]

    def references(self, wildcards: Any) -> list[str]:
        """Return the references of a text; none if it has a quality instead."""
        return self._references(wildcards.split)

    def quality(self, wildcards: Any) -> list[str]:
        """Return the file with the quality of the translations of a text, if it is learned from."""
        quality = self._text(wildcards.split).quality if wildcards.split in LEARNED_FROM else None
        return [no_option(quality)] if quality else []

    @property
    def scores_quality(self) -> bool:
        """Whether epochs are chosen by the mean quality of translations in the lists of devtest."""
        return self._config.evaluation.choose_by == QUALITY

    def devtest_lists(self, wildcards: Any) -> list[str]:
        """Return the files of the lists of devtest, if their quality is needed."""
        if not self.scores_quality:
            return []
        return list(map(no_option, find_lists(self._devtest(wildcards).lists)))

    def named_devtest_lists(self, wildcards: Any) -> list[str]:
        """Return the lists of devtest as in the config, if their quality is needed."""
        return list(map(no_option, self._devtest(wildcards).lists)) if self.scores_quality else []

    def devtest_quality(self, wildcards: Any) -> list[str]:
        """Return the file with the quality of the translations in the lists of devtest, if it is needed."""
        # the config is checked: devtest has one
        return [no_option(never_null(self._devtest(wildcards).quality))] if self.scores_quality else []

    def _devtest(self, wildcards: Any) -> Any:
        return self._text(self._texts.devtest(wildcards))

    def divide_settings(self, wildcards: Any) -> str:
        """Return the `GivenListDivideSettings` of a text."""
        return as_json(
            GivenListDivideSettings(
                division=self._divisions.division(wildcards), dense_names=self._config.data.dense_names
            )
        )

    def sources(self, wildcards: Any) -> list[str]:
        """Return the source of a text, if its lists get features of text."""
        if self._config.text_features.is_empty:
            return []
        return [self._files.text(wildcards.split, "source")]

    def list_settings(self, wildcards: Any) -> str:
        """Return the `GivenListSettings`."""
        settings = self._list_settings()
        minimum = self._config.text_features.minimum_count
        return as_json(replace(settings, minimum_count=minimum) if wildcards.split == "train" else settings)

    def _list_settings(self) -> GivenListSettings:
        """Return the settings for all texts but train."""
        text_features = self._config.text_features
        return word_settings(
            GivenListSettings,
            self._config,
            groups=text_features.groups,
            templates=text_features.templates,
            user_model_names=text_features.user_model_names,
        )

    def reranker_settings(self, wildcards: Any) -> str:
        """Return the `RerankerSettings` of an experiment."""
        experiment = self._config.experiments[wildcards.experiment]
        # others would be computed, and then left out, or have no weight
        used = never_null(experiment.templates)
        settings = RerankerSettings(
            features=experiment.features,
            dense_names=self._config.data.dense_names,
            lists=replace(self._list_settings(), templates=used),
        )
        return as_json(settings)

    def learned_lists(self, wildcards: Any) -> str:
        """Return the folder of the text of the lists that an experiment learns from."""
        experiment = self._config.experiments[wildcards.experiment]
        return self._divisions.text_folder(experiment.tune_on, self._divisions.name(experiment))
