"""The models that features of text need: aligners, text models, and the user's language models."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from itersel.align.sampler import TrainedAligner, read_model
from itersel.align.symmetrize import FORWARD, REVERSE
from itersel.errors import FilePath, InputError
from itersel.lm.binary import LanguageModel, load_model
from itersel.rerank.lexicon import Lexicon, read_lexicon
from itersel.vectors.feature_names import NeededModels

# Files in the folder of text models.
LEXICON_FILE = "lexicon.h5"
LANGUAGE_MODEL_FILE = "lm.bin"


@dataclass(frozen=True)
class FeatureModels:
    """Models of the features of text; those that no feature needs may be left out."""

    aligners: tuple[TrainedAligner, TrainedAligner] | None = None  # forward, reverse
    lexicon: Lexicon | None = None
    language_model: LanguageModel | None = None
    user_models: tuple[LanguageModel, ...] = ()  # the user's language models, in the order of their names


def read_aligners(paths: Collection[FilePath]) -> tuple[TrainedAligner, TrainedAligner]:
    """Read the models of both directions, in any order."""
    found = {}
    for path in paths:
        model = read_model(path)
        if model.direction in found:
            raise InputError(f"is a second model of the direction {model.direction}", path)
        found[model.direction] = model
    if len(found) != 2:
        raise InputError("word alignment needs the models of both directions")
    return found[FORWARD], found[REVERSE]


def read_feature_models(
    aligners: Collection[FilePath],
    folder: FilePath | None,
    needed: NeededModels,
    user_models: Sequence[FilePath] = (),
) -> FeatureModels:
    """Read the models that are given and needed: aligners, and text models from a `folder`.

    `user_models` are the language models that the user names.
    """
    lexicon = None
    language_model = None
    if folder is not None:
        lexicon = read_lexicon(Path(folder, LEXICON_FILE)) if needed.lexicon else None
        language_model = load_model(Path(folder, LANGUAGE_MODEL_FILE)) if needed.language_model else None

    return FeatureModels(
        read_aligners(aligners) if aligners and needed.aligners else None,
        lexicon,
        language_model,
        tuple(map(load_model, user_models)),
    )
