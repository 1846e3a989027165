"""What is chosen on devtest: the epoch of each experiment, and its scale of minimum Bayes risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from itersel.config.defaults import available_templates, never_null
from itersel.config.experiments import PlannedRepeat
from itersel.config.report_steps import ChooseSettings, PatienceSettings, ScaleChoice, Scoring
from itersel.config.settings import as_json
from itersel.config.values import Experiment
from itersel.evaluate.names import DEFAULT_TOKENIZER, QUALITY, TOKENIZED_BLEU
from itersel.plan.part import Foundation, PlanPart
from itersel.plan.searches import translation_of
from itersel.results import BEST, MBR


class Choice(PlanPart):
    """The files and settings with which the systems of all experiments are chosen."""

    def __init__(self, foundation: Foundation, repeats: Mapping[str, PlannedRepeat]) -> None:
        super().__init__(foundation)
        # by name of the folder
        self._repeats = repeats

    def devtest_references(self, wildcards: Any) -> list[str]:
        """Return the references of the split on which an epoch is chosen."""
        return self._texts.references(self._texts.devtest(wildcards))

    @property
    def scores_text(self) -> bool:
        """Whether epochs are chosen by a score of detokenised text."""
        return self._config.evaluation.choose_by not in (TOKENIZED_BLEU, QUALITY)

    def devtest_raw_references(self, wildcards: Any) -> list[str]:
        """Return the raw references of that split, if scores of detokenised text need them."""
        return self._texts.raw_references(self._texts.devtest(wildcards)) if self.scores_text else []

    def devtest_labels(self, wildcards: Any) -> list[str]:
        """Return the labels of devtest if the epoch is chosen on the sentences of one task."""
        label = self._config.experiments[wildcards.experiment].tasks.only_label
        return [] if label is None else [self._files.text("devtest", "labels")]

    def choose_settings(self, wildcards: Any) -> str:
        """Return the `ChooseSettings` of an experiment."""
        experiment = self._config.experiments[wildcards.experiment]
        repeat = self._repeats[wildcards.experiment]

        return as_json(
            ChooseSettings(
                scoring=self._scoring(experiment),
                name=repeat.system,
                repeat=repeat.repeat,
                experiment=replace(experiment, tasks=experiment.tasks.as_in_config()),
                available_templates=available_templates(self._config),
                devtest=self._texts.devtest(wildcards),
            )
        )

    def patience_settings(self, wildcards: Any) -> str:
        """Return the `PatienceSettings` of an experiment."""
        experiment = self._config.experiments[wildcards.experiment]
        # there are no such jobs without it
        assert experiment.patience is not None

        return as_json(PatienceSettings(self._scoring(experiment), experiment.patience))

    def mbr(self, wildcards: Any) -> list[str]:
        """Return the minimum Bayes risk of a system, or of a translation by it; none of an epoch."""
        stage = getattr(wildcards, "stage", BEST)
        if self._config.mbr.gain is None or not stage.startswith(BEST):
            return []
        return [self._files.experiment(wildcards.experiment, f"{stage}/{MBR}")]

    def devtest_pieces(self, wildcards: Any) -> list[str]:
        """Return the pieces of the split on which the scale of minimum Bayes risk is chosen."""
        return self._divisions.pieces(self._texts.devtest(wildcards))

    def scale_settings(self, wildcards: Any) -> str:
        """Return the `ScaleSettings` or `GivenListScaleSettings` of an experiment."""
        experiment = self._config.experiments[wildcards.experiment]
        choice = ScaleChoice(
            scoring=self._scoring(experiment), mbr=self._config.mbr, devtest=self._texts.devtest(wildcards)
        )
        return as_json(self._origin.scaling(experiment, choice))

    def _scoring(self, experiment: Experiment) -> Scoring:
        """Return how translations of devtest by an experiment are scored."""
        evaluation = self._config.evaluation
        # if no score is of detokenised text, nothing uses the tokenizer
        tokenizer = never_null(evaluation.tokenizer) if self.scores_text else DEFAULT_TOKENIZER
        return Scoring(
            retokenize=evaluation.retokenize,
            choose_by=evaluation.choose_by,
            tokenizer=tokenizer,
            label=experiment.tasks.only_label,
        )

    def resource_settings(self, wildcards: Any) -> str:
        """Return the `TranslationSettings` of an experiment, whose minimum Bayes risk is in a file."""
        return as_json(translation_of(self._config, self._config.experiments[wildcards.experiment]))
