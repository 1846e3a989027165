"""Bundles of rerankers: an array file as that of a translator; see `itersel.system.trained`.

There are no models in it if the system needs none.
"""

from __future__ import annotations

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
_WEIGHTS = {name: array for name, array in FORMAT.arrays.items() if name.startswith("weights/")}
_WITHOUT_MODELS = replace(FORMAT, arrays=_WEIGHTS)


def write_reranker_bundle(path: FilePath, system: Reranker) -> None:
    """Write a system to one file, atomically."""
    parts = {"weights": weight_file.weight_arrays(system.weights)}
    attributes = {"itersel": __version__, "settings": as_content(system.settings)}
    models = system.models
    if not system.settings.needs_models:
        write_arrays(path, _WITHOUT_MODELS, joined(parts), attributes)
        return

    # the features could not be computed otherwise
    assert models.aligners is not None
    assert models.lexicon is not None
    assert models.language_model is not None
    for name, aligner in zip(("forward", "reverse"), models.aligners, strict=True):
        parts[name] = sampler.model_arrays(aligner)
    parts["lexicon"] = lexicon.lexicon_arrays(models.lexicon)
    parts["model"] = binary.model_arrays(models.language_model)
    write_arrays(path, FORMAT, joined(parts), {**attributes, "model": dict(models.language_model.attributes)})


def read_reranker_bundle(path: FilePath) -> Reranker:
    """Map a bundle, and check that features can be computed with its content."""
    arrays, attributes = map_arrays(path, _WITHOUT_MODELS)
    with checked(path, DAMAGED):
        settings = from_content(RerankingSettings, attributes["settings"])
    weights = weight_file.weights_of(part_of(arrays, "weights"), path)
    if not settings.needs_models:
        return Reranker(settings, weights, TextModels())

    arrays, _ = map_arrays(path, FORMAT)
    with checked(path, DAMAGED):
        model_attributes = {**attributes["model"]}
    forward, reverse = (sampler.model_of(part_of(arrays, name), name) for name in ("forward", "reverse"))
    models = TextModels(
        (forward, reverse),
        lexicon.lexicon_of(part_of(arrays, "lexicon")),
        binary.model_of(part_of(arrays, "model"), model_attributes, path),
    )
    return Reranker(settings, weights, models)
