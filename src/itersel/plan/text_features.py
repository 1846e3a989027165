"""Features of the text of n-best lists: the models they need, for workflow/rules/text_features.smk."""

from __future__ import annotations

from typing import Any, TypeVar

from itersel.align.symmetrize import DIRECTIONS
from itersel.config.defaults import never_null
from itersel.config.list_steps import TextModelSettings, WordSettings
from itersel.config.settings import as_json
from itersel.config.splits import has_references
from itersel.config.tasks import fold_count
from itersel.config.values import Config
from itersel.plan.part import Foundation, PlanPart
from itersel.plan.shell import no_option
from itersel.vectors.feature_names import needed_models

W = TypeVar("W", bound=WordSettings)


def word_settings(kind: type[W], config: Config, **further: Any) -> W:
    """Return how text becomes words, with `further` keys: that of lists, or that models are estimated on."""
    data = config.data
    return kind(
        source_language=data.source_language,
        target_language=data.target_language,
        tokenized=data.tokenized,
        protected=data.protected,
        lowercase=data.lowercase,
        **further,
    )


class TextFeatureModels(PlanPart):
    """Models that are estimated on train: of word alignment, and of all text or of all but a fold."""

    def __init__(self, foundation: Foundation) -> None:
        super().__init__(foundation)
        self.folder = f"{self._files.results}/text-features"
        # the words of train, and how they are linked
        self.words = f"{self.folder}/words"
        # the user's own language models, by their names, and the folder of those that are compiled
        text_features = self._config.text_features
        self._user_models = dict(zip(text_features.user_model_names, text_features.user_models, strict=True))
        self._user_folder = f"{self.folder}/language-models"
        self.alignments = list(map(self.alignment, DIRECTIONS))
        # the folder of the lexicon and language model of all text
        self.models_of_all_text = f"{self.folder}/all"

    @property
    def _is_needed(self) -> bool:
        return self._config.text_features.needs_models

    @property
    def text(self) -> list[str]:
        """The source and the target of train."""
        return [self._files.text("train", column) for column in ("source", "target")]

    @property
    def further_sources(self) -> list[str]:
        """The source of further text."""
        return list(map(no_option, self._config.text_features.source))

    @property
    def further_targets(self) -> list[str]:
        """The target of further text."""
        return list(map(no_option, self._config.text_features.target))

    def excluded_texts(self, column: str) -> list[str]:
        """Return one side of all held-out splits, whose sentences are dropped from further text, if any."""
        if not self.further_sources:
            return []
        splits = [split for split in self._texts.held_out if has_references(self._config, split)]
        return [self._files.text(split, column) for split in splits]

    def aligners(self, wildcards: Any) -> list[str]:
        """Return the models of word alignment that a file of lists needs."""
        return self._aligners if self._is_needed else []

    @property
    def _aligners(self) -> list[str]:
        return list(map(self.aligner, DIRECTIONS))

    def alignment(self, direction: str) -> str:
        """Return the word alignment of these words in one direction."""
        return f"{self.folder}/{direction}.align.gz"

    def aligner(self, direction: str) -> str:
        """Return the model of word alignment in one direction."""
        return f"{self.folder}/{direction}.h5"

    def aligners_of_system(self, wildcards: Any) -> list[str]:
        """Return the models of word alignment that an experiment's system needs."""
        return self._aligners if self._needs_models(wildcards) else []

    def text_models_of_system(self, wildcards: Any) -> list[str]:
        """Return the folder of the lexicon and language model that an experiment's system needs."""
        return [self.models_of_all_text] if self._needs_models(wildcards) else []

    def _needs_models(self, wildcards: Any) -> bool:
        text_features = self._config.text_features
        experiment = self._config.experiments[wildcards.experiment]
        return any(needed_models(text_features.groups, never_null(experiment.templates)))

    def user_models(self, wildcards: Any) -> list[str]:
        """Return the user's own language models, compiled."""
        from itersel.storage.arrayfile import is_array_file

        return [
            no_option(path) if is_array_file(path) else self.compiled_user_model(name)
            for name, path in self._user_models.items()
        ]

    def compiled_user_model(self, name: str) -> str:
        """Return the file of one of them that itersel compiles."""
        return f"{self._user_folder}/{name}.bin"

    def arpa(self, wildcards: Any) -> str:
        """Return the file of a language model that is not compiled yet."""
        return no_option(self._user_models[wildcards.model])

    def text_models(self, wildcards: Any) -> list[str]:
        """Return the folder of the models that a file of lists needs: for train, without its text."""
        if not self._is_needed:
            return []
        folds = self._folds(wildcards.division) if wildcards.split == "train" else 1
        if folds == 1:
            return [self.models_of_all_text]
        return [self.fold_folder(wildcards.division, folds, int(wildcards.file) % folds)]

    def fold_folder(self, division: str, folds: int | str, fold: int | str) -> str:
        """Return the folder of the models that leave out every `folds`-th file of a division."""
        return f"{self.folder}/{division}/{folds}-folds/{fold}"

    def _folds(self, division: str) -> int:
        return fold_count(self._config.text_features.folds, self._divisions.file_count(division))

    def word_settings(self, wildcards: Any) -> str:
        """Return the `WordSettings`."""
        return as_json(word_settings(WordSettings, self._config))

    def model_settings(self, wildcards: Any) -> str:
        """Return the `TextModelSettings`."""
        return as_json(TextModelSettings(order=self._config.language_model.order))
