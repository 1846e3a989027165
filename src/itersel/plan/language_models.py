"""Language models of the target side: of all text, and without the text of each fold."""

from __future__ import annotations

from typing import Any

from itersel.config.defaults import never_null
from itersel.config.settings import as_json
from itersel.config.text_steps import CompileSettings, EstimateSettings
from itersel.config.values import Config, Experiment
from itersel.plan.files import Files
from itersel.plan.shell import no_option
from itersel.plan.texts import Texts
from itersel.results import ARPA, fold_folder, fold_model


class LanguageModels:
    """The language models of a run, for workflow/rules/lm.smk."""

    def __init__(self, config: Config, files: Files, texts: Texts) -> None:
        self._config = config
        self._files = files
        # the text of the models
        self.text = [files.text("train", "target"), *texts.prepared_monolingual]

    @property
    def vocabulary(self) -> list[str]:
        """The text whose words are the vocabulary of the models, unless it is all of their text."""
        is_open = self._config.language_model.open_vocabulary
        return [self._files.text("train", "target")] if is_open else []

    @property
    def arpa(self) -> str:
        """The model of all text before it is compiled: estimated, or the user's."""
        return no_option(self._config.language_model.arpa or f"{self._files.results}/{ARPA}")

    @property
    def estimate_settings(self) -> str:
        """The `EstimateSettings` of the model of all text, and of the models of folds."""
        return as_json(EstimateSettings(self._config.language_model.order))

    @property
    def compile_settings(self) -> str:
        """The `CompileSettings` of the model of all text."""
        return as_json(CompileSettings(self._config.language_model.order))

    def folds(self, experiment: Experiment) -> int:
        """Return the number of models that leave out a fold; with 1, only the model of all text is used."""
        return never_null(experiment.tasks.language_model_folds)

    def fold_folder(self, division: str, folds: int | str) -> str:
        """Return the folder of the models that each leave out every `folds`-th file of a division."""
        return f"{self._files.results}/{fold_folder(division, folds)}"

    def fold_model(self, division: str, folds: int | str, fold: int | str) -> str:
        """Return the model that leaves out a fold of a division."""
        return f"{self.fold_folder(division, folds)}/{fold_model(fold)}"

    def fold_models(self, wildcards: Any) -> list[str]:
        """Return the models of all folds."""
        folds = int(wildcards.folds)
        return [self.fold_model(wildcards.division, folds, fold) for fold in range(folds)]
