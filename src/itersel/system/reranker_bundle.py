"""Bundles of rerankers: an array file as that of a translator; see `itersel.system.trained_translator`.

Only the models that the system needs are in it.
"""

from __future__ import annotations

from dataclasses import replace

from itersel import __version__
from itersel.align import sampler
from itersel.align.symmetrize import DIRECTIONS
from itersel.config.list_steps import RerankerSettings
from itersel.errors import FilePath, checked
from itersel.lm import binary
from itersel.rerank import lexicon
from itersel.rerank.models import FeatureModels
from itersel.storage.arrayfile import DAMAGED, map_arrays, write_arrays
from itersel.storage.formats import FileFormat
from itersel.storage.json_files import as_content, from_content
from itersel.system.bundles import RERANKER_BUNDLE, declarations, joined, part_of, version_of
from itersel.system.reranker import Reranker
from itersel.system.resources import RerankerDescription
from itersel.vectors import weights as weight_file

_LAYOUT = 5
_PARTS = {
    "weights": weight_file.FORMAT,
    **dict.fromkeys(DIRECTIONS, sampler.FORMAT),
    "lexicon": lexicon.FORMAT,
    "model": binary.FORMAT,
}
FORMAT = FileFormat(RERANKER_BUNDLE, version_of(_LAYOUT, _PARTS), ("itersel bundle",), declarations(_PARTS))
# A bundle without models.
_WEIGHTS = replace(FORMAT, arrays=declarations({"weights": weight_file.FORMAT}))


def _format_of(settings: RerankerSettings) -> FileFormat:
    """Return the format of a bundle with the models that a system needs."""
    needed = settings.lists.needed_models
    has_parts = dict.fromkeys(DIRECTIONS, needed.aligners)
    has_parts |= {"lexicon": needed.lexicon, "model": needed.language_model}
    parts = {name: part for name, part in _PARTS.items() if has_parts.get(name, True)}

    count = len(settings.lists.user_model_names)
    user_models = dict.fromkeys(map(_user_model, range(count)), binary.FORMAT)
    return replace(FORMAT, arrays=declarations(parts | user_models))


def _user_model(number: int) -> str:
    """Return the name of the part with one of the user's language models."""
    return f"user-model-{number}"


def write_reranker_bundle(path: FilePath, system: Reranker) -> None:
    """Write a system to one file, atomically."""
    description = RerankerDescription(system.settings, system.training_dense_names)
    attributes = {"version": __version__, **as_content(description)}
    parts = {"weights": weight_file.weight_arrays(system.weights)}

    models = system.models
    if models.aligners is not None:
        for name, aligner in zip(DIRECTIONS, models.aligners, strict=True):
            parts[name] = sampler.model_arrays(aligner)
    if models.lexicon is not None:
        parts["lexicon"] = lexicon.lexicon_arrays(models.lexicon)
    if models.language_model is not None:
        parts["model"] = binary.model_arrays(models.language_model)
        attributes["model"] = dict(models.language_model.attributes)
    for number, model in enumerate(models.user_models):
        parts[_user_model(number)] = binary.model_arrays(model)
        attributes[_user_model(number)] = dict(model.attributes)

    write_arrays(path, _format_of(system.settings), joined(parts), attributes)


def read_reranker_bundle(path: FilePath) -> Reranker:
    """Map a bundle, and check that features can be computed with its content."""
    _, attributes = map_arrays(path, _WEIGHTS)
    with checked(path, DAMAGED):
        description = from_content(RerankerDescription, attributes)

    settings = description.settings
    arrays, _ = map_arrays(path, _format_of(settings))

    def model(part: str) -> binary.LanguageModel:
        with checked(path, DAMAGED):
            of_part = {**attributes[part]}
        return binary.model_of(part_of(arrays, part), of_part, path)

    weights = weight_file.weights_of(part_of(arrays, "weights"), path)
    needed = settings.lists.needed_models
    aligners = None
    if needed.aligners:
        forward, reverse = (sampler.model_of(part_of(arrays, name), name) for name in DIRECTIONS)
        aligners = forward, reverse

    user_models = map(_user_model, range(len(settings.lists.user_model_names)))
    models = FeatureModels(
        aligners=aligners,
        lexicon=lexicon.lexicon_of(part_of(arrays, "lexicon")) if needed.lexicon else None,
        language_model=model("model") if needed.language_model else None,
        user_models=tuple(map(model, user_models)),
    )
    return Reranker(settings, description.training_dense_names, weights, models)
