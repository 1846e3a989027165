"""Load trained systems by naming a folder or a bundle: translators and rerankers."""

from __future__ import annotations

import os

from itersel.errors import FilePath, InputError
from itersel.system.reranker import Reranker, load_reranker
from itersel.system.resources import RerankerResources, read_resources
from itersel.system.trained import TrainedSystem, load_translator, read_bundle


def load_system(path: FilePath) -> TrainedSystem | Reranker:
    """Load a system of either kind from a folder ``experiments/NAME/best`` of a run, or from a bundle."""
    if not os.path.isdir(path):
        return read_bundle(path)
    resources = read_resources(path)
    if isinstance(resources, RerankerResources):
        return load_reranker(path, resources)
    return load_translator(path, resources)


def find_reranker(path: FilePath) -> Reranker:
    """Load a system that reranks lists; an InputError for one that translates."""
    system = load_system(path)
    if not isinstance(system, Reranker):
        raise InputError("is a system that translates; use itersel translate", path)
    return system
