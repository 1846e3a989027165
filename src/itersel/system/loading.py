"""Trained systems of either kind, translators and rerankers, in folders and bundles."""

from __future__ import annotations

import os

from itersel.errors import FilePath, InputError
from itersel.system.bundles import RERANKER_BUNDLE, TRANSLATOR_BUNDLE, kind_of_bundle
from itersel.system.reranker import Reranker, read_reranker_folder
from itersel.system.reranker_bundle import read_reranker_bundle, write_reranker_bundle
from itersel.system.resources import RerankerResources, read_resources
from itersel.system.trained_translator import (
    TrainedTranslator,
    read_translator_bundle,
    read_translator_folder,
    write_translator_bundle,
)


def load_any(path: FilePath) -> TrainedTranslator | Reranker:
    """Load a system from a folder ``experiments/NAME/best`` of a run, or from a bundle."""
    if not os.path.isdir(path):
        return (
            read_reranker_bundle(path)
            if kind_of_bundle(path) == RERANKER_BUNDLE
            else read_translator_bundle(path)
        )
    resources = read_resources(path)
    if isinstance(resources, RerankerResources):
        return read_reranker_folder(path, resources)
    return read_translator_folder(path, resources)


def load_reranker(path: FilePath) -> Reranker:
    """Load a system that reranks lists; an InputError for one that translates."""
    if os.path.isdir(path):
        resources = read_resources(path)
        if isinstance(resources, RerankerResources):
            return read_reranker_folder(path, resources)
    elif kind_of_bundle(path) != TRANSLATOR_BUNDLE:
        return read_reranker_bundle(path)
    raise InputError("is a system that translates; use itersel translate", path)


def bundle(path: FilePath, system: TrainedTranslator | Reranker) -> None:
    """Write a system to one file, atomically."""
    if isinstance(system, Reranker):
        write_reranker_bundle(path, system)
    else:
        write_translator_bundle(path, system)
