"""Trained translators, with everything they need for new text: folders of a run, and bundles.

A bundle is a system in one file that is mapped into memory, not unpacked: an array file
(`itersel.storage.arrayfile`) with the arrays of the grammar index, the compiled language model and the
weights, as in their own files, and two JSON texts as arrays of bytes. It is therefore read with the same
checks as those files, and processes on one machine share one copy in memory. It contains no path or time, so
equal systems give equal bytes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from itersel import __version__
from itersel.config.search import TranslationSettings
from itersel.corpus.prepare import Preparation, read_preparation
from itersel.corpus.recase import Recaser, read_recaser
from itersel.errors import FilePath, checked
from itersel.grammar import index as grammar_index
from itersel.lm import binary
from itersel.results import WEIGHTS
from itersel.storage.arrayfile import DAMAGED, map_arrays, write_arrays
from itersel.storage.formats import Array, FileFormat
from itersel.storage.json_files import as_content, from_content, record_text
from itersel.system.bundles import (
    RERANKER_BUNDLE,
    TRANSLATOR_BUNDLE,
    declarations,
    joined,
    kind_of_bundle,
    part_of,
    version_of,
)
from itersel.system.resources import TranslatorResources, no_translator, translator_resources
from itersel.vectors import weights as weight_file

# Version of the layout of bundles.
_LAYOUT = 2
_PARTS = {"index": grammar_index.FORMAT, "model": binary.FORMAT, "weights": weight_file.FORMAT}
_TEXTS = ("preparation", "recaser")


@dataclass(frozen=True)
class TrainedTranslator:
    """A trained system that translates; grammars are extracted from the index of the training corpus."""

    index: grammar_index.GrammarIndex
    language_model: binary.LanguageModel
    weights: weight_file.Weights
    preparation: Preparation
    recaser: Recaser
    settings: TranslationSettings


def load_translator(path: FilePath) -> TrainedTranslator:
    """Load a translator from a folder ``experiments/NAME/best`` of a run, or from a bundle.

    Raises an InputError for a reranker, which `itersel.system.loading` loads.
    """
    if not os.path.isdir(path):
        return read_translator_bundle(path)
    return read_translator_folder(path, translator_resources(path))


def read_translator_folder(path: FilePath, resources: TranslatorResources) -> TrainedTranslator:
    """Load the translator in a folder, given its description."""
    files = resources.files
    return TrainedTranslator(
        index=grammar_index.load_index(files.index),
        language_model=binary.load_model(files.language_model),
        weights=weight_file.read_itersel_weights(Path(path, WEIGHTS)),
        preparation=read_preparation(files.preparation),
        recaser=read_recaser(files.recaser),
        settings=resources.settings,
    )


FORMAT = FileFormat(
    TRANSLATOR_BUNDLE,
    version_of(_LAYOUT, _PARTS),
    ("itersel bundle",),
    {**declarations(_PARTS), **{text: Array("|u1", (f"bytes of {text}",)) for text in _TEXTS}},
)


def write_translator_bundle(path: FilePath, system: TrainedTranslator) -> None:
    """Write a translator to one file, atomically."""
    parts = {
        "index": grammar_index.index_arrays(system.index),
        "model": binary.model_arrays(system.language_model),
        "weights": weight_file.weight_arrays(system.weights),
    }

    arrays = joined(parts)
    for text in _TEXTS:
        arrays[text] = np.frombuffer(record_text(getattr(system, text)).encode(), np.uint8)

    attributes = {
        "version": __version__,
        "model": dict(system.language_model.attributes),
        "settings": as_content(system.settings),
    }
    write_arrays(path, FORMAT, arrays, attributes)


def read_translator_bundle(path: FilePath) -> TrainedTranslator:
    """Map a bundle, and check that extraction and the decoder can use its content."""
    if kind_of_bundle(path) == RERANKER_BUNDLE:
        raise no_translator(path)

    arrays, attributes = map_arrays(path, FORMAT)
    with checked(path, DAMAGED):
        model_attributes = {**attributes["model"]}
        settings = from_content(TranslationSettings, attributes["settings"])

    return TrainedTranslator(
        index=grammar_index.index_of(part_of(arrays, "index"), path),
        language_model=binary.model_of(part_of(arrays, "model"), model_attributes, path),
        weights=weight_file.weights_of(part_of(arrays, "weights"), path),
        preparation=read_preparation(path, arrays["preparation"].tobytes()),
        recaser=read_recaser(path, arrays["recaser"].tobytes()),
        settings=settings,
    )
