"""A system at the epoch that was chosen on devtest: its description and weights."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from itersel.config.plain import recorded
from itersel.errors import FilePath, checked
from itersel.evaluate.epochs import ChosenEpoch, index_of_best
from itersel.run.atomic import atomic_path
from itersel.storage.json_files import as_content, from_content, read_json, write_json
from itersel.vectors.weights import has_stopped, read_itersel_weights

if TYPE_CHECKING:
    from itersel.config.report_steps import ChooseSettings
    from itersel.config.values import Experiment
    from itersel.evaluate.epoch_scores import EpochScores


@dataclass(frozen=True)
class RepeatDescription:
    """A repeat of a system.

    From `learner` to `shards`, it is what tables say of the system; it follows from `settings`.
    """

    name: str  # of the system
    repeat: int  # from 1
    learner: str
    mixing: str
    tune_on: str
    features: str
    tasks: str
    shards: int
    settings: dict[str, Any]  # the value of every key of the experiment that can change results


# Attributes that all repeats of a system have in common.
OF_ALL_REPEATS = tuple(
    item.name for item in fields(RepeatDescription) if item.name not in ("repeat", "settings")
)


# system.json begins with the fields of the last base
@dataclass(frozen=True)
class ChosenSystem(ChosenEpoch, RepeatDescription):
    """A repeat of a system at its best epoch."""

    @property
    def chosen_epoch(self) -> ChosenEpoch:
        """The epoch alone."""
        return ChosenEpoch(**{item.name: getattr(self, item.name) for item in fields(ChosenEpoch)})


def differing_attribute(one: ChosenSystem, other: ChosenSystem) -> str | None:
    """Return the name of an attribute in which two repeats of a system wrongly differ, if any."""
    for key in (*OF_ALL_REPEATS, "signature", "chosen_by"):
        if getattr(one, key) != getattr(other, key):
            return key
    return None if len(one.devtest_tokenized_bleu) == len(other.devtest_tokenized_bleu) else "epochs"


def choose_system(
    settings: ChooseSettings, scores: EpochScores, weights: Sequence[str], output: str
) -> ChosenSystem:
    """Copy the weights of the best epoch to `output`, and describe the system.

    `weights` are the files of all epochs, `scores` those of their translations of devtest.
    """
    epoch = 1 + index_of_best(scores.deciding_scores, settings.scoring.choose_by)
    active = _keep_weights(weights[epoch - 1], output)

    experiment = settings.experiment
    values = recorded(experiment)

    return ChosenSystem(
        name=settings.name,
        repeat=settings.repeat,
        learner=values["learner"]["name"],
        mixing=values["mixing"]["name"],
        tune_on=experiment.tune_on,
        features=_used_features(experiment, settings.available_templates),
        tasks=values["tasks"]["name"],
        shards=experiment.tasks.shards,
        settings=values,
        devtest=settings.devtest,
        epoch=epoch,
        devtest_tokenized_bleu=tuple(score.bleu for score in scores.tokenized_bleu),
        chosen_by=settings.scoring.choose_by,
        devtest_scores=scores.deciding_scores,
        signature=scores.signature,
        active_features=active,
        devtest_brevity_penalty=tuple(score.brevity_penalty for score in scores.tokenized_bleu),
        untrained_epochs=sum(map(has_stopped, weights)),
    )


def _used_features(experiment: Experiment, available: Collection[str]) -> str:
    """Return what the table says of the features of an experiment: its templates, if it uses only some."""
    templates = experiment.templates
    if not experiment.uses_sparse or templates is None or {*templates} == {*available}:
        return experiment.features
    return ", ".join(templates) or "no templates"


def _keep_weights(weights: str, output: str) -> int:
    """Copy the weights of an epoch as the system's weights, and return the number of nonzero weights."""
    active = int(np.count_nonzero(read_itersel_weights(weights).value))
    with atomic_path(output) as temporary:
        shutil.copyfile(weights, temporary)
    return active


def write_system(path: FilePath, system: ChosenSystem) -> None:
    """Write the description of a system as JSON."""
    write_json(path, as_content(system), indent=2, is_ascii=False)


def read_system(path: FilePath) -> ChosenSystem:
    """Read a description written by `write_system`."""
    with checked(
        path, "is not the description of a system, or one of an earlier version; run snakemake again"
    ):
        system = from_content(ChosenSystem, read_json(path))
        scores = (system.devtest_tokenized_bleu, system.devtest_scores, system.devtest_brevity_penalty)
        if not 1 <= system.epoch <= min(map(len, scores)) == max(map(len, scores)):
            raise ValueError("no such epoch")
    return system
