"""A trained system in memory: everything needed to translate new text."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from itersel.corpus.prepare import Preparation, read_preparation
from itersel.corpus.recase import Recaser, read_recaser
from itersel.grammar.index import GrammarIndex, load_index
from itersel.lm.binary import LanguageModel, load_model
from itersel.report.resources import Settings, read_resources
from itersel.storage.formats import FilePath
from itersel.vectors.weights import Weights, read_weights

WEIGHTS = "weights.h5"


@dataclass(frozen=True)
class TrainedSystem:
    """A trained system.

    Attributes
    ----------
    index
        The training corpus, from which grammars are extracted.
    model
        Language model.
    weights
        Feature weights.
    preparation
        How raw text is prepared.
    recaser
        Restores the case of translations.
    settings
        Settings of extraction and decoding.
    """

    index: GrammarIndex
    model: LanguageModel
    weights: Weights
    preparation: Preparation
    recaser: Recaser
    settings: Settings


def load_system(path: FilePath) -> TrainedSystem:
    """Load a system from a folder ``experiments/NAME/best`` of a run, or from a bundle.

    Raises
    ------
    InputError
        If the folder or file does not exist, or it or a file that it refers to is damaged.
    """
    from itersel.translate.bundle import read_bundle

    if os.path.isdir(path):
        return load_folder(path)
    return read_bundle(path)


def load_folder(folder: FilePath) -> TrainedSystem:
    """Load a system from a folder of a run."""
    resources = read_resources(folder)
    index = load_index(resources.index)
    return TrainedSystem(
        index,
        load_model(resources.model),
        read_weights(Path(folder, WEIGHTS)),
        read_preparation(resources.preparation),
        read_recaser(resources.recaser),
        Settings(resources.pop_limit, resources.features, resources.extraction),
    )
