"""The section of the config for features of the text of n-best lists."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass

from itersel.config.tasks import DEFAULT_FOLDS, MAX_FOLDS
from itersel.keys import key, paths
from itersel.storage.files import suffix_in, without_compression
from itersel.vectors.feature_names import TEXT_GROUPS, TEXT_TEMPLATES, added_dense_features, needed_models

# Suffixes of files of language models.
MODEL_SUFFIXES = (".arpa", ".bin")


@dataclass(frozen=True)
class TextFeatures:
    """Features that are computed from the text of n-best lists (docs/text-features.md)."""

    groups: tuple[str, ...] = key(
        "data.kind: lists: groups of dense features to add to those of the lists (docs/text-features.md); "
        "empty: none. They need data.*.source.",
        (),
        choices=tuple(TEXT_GROUPS),
    )
    templates: tuple[str, ...] = key(
        "data.kind: lists: templates of sparse features to add (docs/text-features.md); empty: none. Their "
        "links are those of whole sentences, unlike those of grammar.templates.",
        (),
        choices=tuple(TEXT_TEMPLATES),
    )
    minimum_count: int = key(
        "In train, sparse features must tell translations apart in this many sentences of their file.",
        1,
        minimum=1,
        maximum=1_000_000,
    )
    source: tuple[str, ...] = paths(
        "Further parallel text on which the models are estimated, in addition to train: its source."
    )
    target: tuple[str, ...] = paths(
        "Its target. Pairs whose source or target is in another text of the run are left out."
    )
    folds: int = key(
        "Number N of lexicons, and of language models, that leave text out, at most one for each file of "
        "train (a shard has one or more files); a larger number means one for each. Files f, f + N, ... are "
        "scored by models that have not seen their text.",
        DEFAULT_FOLDS,
        minimum=2,
        maximum=MAX_FOLDS,
    )

    user_models: tuple[str, ...] = paths(
        "Your own language models, compiled or in the ARPA format (plain or compressed): for each, two dense "
        "features, named after the file. They must not have seen the references."
    )

    @property
    def is_empty(self) -> bool:
        """Whether no features are added."""
        return not (self.groups or self.templates or self.user_models)

    def left_out(self, templates: Collection[str]) -> tuple[str, ...]:
        """Return the templates that are not among these, which an experiment uses."""
        return tuple(one for one in self.templates if one not in templates)

    @property
    def user_model_names(self) -> tuple[str, ...]:
        """The names of the user's own language models, by which their features are called."""
        return tuple(map(model_name, self.user_models))

    @property
    def dense_features(self) -> tuple[str, ...]:
        """The dense features that are added."""
        return added_dense_features(self.groups, self.user_model_names)

    @property
    def needs_models(self) -> bool:
        """Whether any of them needs a model."""
        return any(needed_models(self.groups, self.templates))


def model_name(path: str) -> str:
    """Return the name of a language model: that of its file, without the end that shows its format."""
    name = os.path.basename(without_compression(path))
    suffix = suffix_in(name, MODEL_SUFFIXES)
    return name[: -len(suffix)] if suffix else name
