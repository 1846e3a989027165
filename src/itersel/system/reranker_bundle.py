"""Bundles of rerankers: an array file as that of a translator; see `itersel.system.trained`.

Only the models that the system needs are in it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from itersel import __version__
from itersel.align import sampler
from itersel.errors import FilePath, checked
from itersel.lm import binary
from itersel.rerank import lexicon
from itersel.rerank.models import TextModels
from itersel.storage.arrayfile import DAMAGED, map_arrays, write_arrays
from itersel.storage.formats import FileFormat
from itersel.storage.json_files import as_content, from_content
from itersel.system.bundles import RERANKER, declarations, joined, part_of, version_of
from itersel.system.reranker import Reranker
from itersel.system.resources import RerankingSettings
from itersel.vectors import weights as weight_file

_LAYOUT = 1
_PARTS = {
    "weights": weight_file.FORMAT,
    "forward": sampler.FORMAT,
    "reverse": sampler.FORMAT,
    "lexicon": lexicon.FORMAT,
    "model": binary.FORMAT,
}
FORMAT = FileFormat(RERANKER, version_of(_LAYOUT, _PARTS), ("itersel bundle",), declarations(_PARTS))


def _format_of(parts: Collection[str]) -> FileFormat:
    """Return the format of a bundle with only these parts."""
    arrays = FORMAT.arrays.items()
    return replace(FORMAT, arrays={name: array for name, array in arrays if name.split("/")[0] in parts})


def write_reranker_bundle(path: FilePath, system: Reranker) -> None:
    """Write a system to one file, atomically."""
    parts = {"weights": weight_file.weight_arrays(system.weights)}
    attributes = {"itersel": __version__, "settings": as_content(system.settings)}
    models, needed = system.models, system.settings.needed_models

    # the features could not be computed otherwise
    if needed.aligners:
        assert models.aligners is not None
        for name, aligner in zip(("forward", "reverse"), models.aligners, strict=True):
            parts[name] = sampler.model_arrays(aligner)
    if needed.lexicon:
        assert models.lexicon is not None
        parts["lexicon"] = lexicon.lexicon_arrays(models.lexicon)
    if needed.language_model:
        assert models.language_model is not None
        parts["model"] = binary.model_arrays(models.language_model)
        attributes["model"] = dict(models.language_model.attributes)
    write_arrays(path, _format_of(parts), joined(parts), attributes)


def read_reranker_bundle(path: FilePath) -> Reranker:
    """Map a bundle, and check that features can be computed with its content."""
    arrays, attributes = map_arrays(path, _format_of(["weights"]))
    with checked(path, DAMAGED):
        settings = from_content(RerankingSettings, attributes["settings"])
    weights = weight_file.weights_of(part_of(arrays, "weights"), path)

    needed = settings.needed_models
    has_parts = {"forward": needed.aligners, "reverse": needed.aligners}
    has_parts |= {"lexicon": needed.lexicon, "model": needed.language_model}
    parts = [name for name, is_needed in has_parts.items() if is_needed]
    if not parts:
        return Reranker(settings, weights, TextModels())

    arrays, _ = map_arrays(path, _format_of(parts))
    aligners = words = model = None
    if needed.aligners:
        forward, reverse = (sampler.model_of(part_of(arrays, name), name) for name in ("forward", "reverse"))
        aligners = forward, reverse
    if needed.lexicon:
        words = lexicon.lexicon_of(part_of(arrays, "lexicon"))
    if needed.language_model:
        with checked(path, DAMAGED):
            model_attributes = {**attributes["model"]}
        model = binary.model_of(part_of(arrays, "model"), model_attributes, path)
    return Reranker(settings, weights, TextModels(aligners, words, model))
