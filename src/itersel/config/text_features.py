"""Features of the text of n-best lists: the section of the config, and the settings of the steps.

- ``itersel step words``: `WordSettings`
- ``itersel step text-models``: `TextModelSettings`
- ``itersel step lists``: `GivenListSettings`
- ``itersel step reranker``: `RerankerSettings`

See also `itersel.config.settings`.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from itersel.config.data import Data
from itersel.config.mbr import MinimumRisk
from itersel.config.messages import wrong
from itersel.config.names import NAME_PATTERN
from itersel.config.search import Search, TranslationSettings, WithFeatures
from itersel.config.section_checks import check_section
from itersel.config.tasks import DEFAULT_FOLDS, MAX_FOLDS
from itersel.config.text_steps import EstimateSettings, PreparationSettings, check_tokenized
from itersel.keys import REQUIRED, documented, key, key_of, paths, section
from itersel.storage.files import without_compression
from itersel.vectors.feature_names import TEXT_FEATURES, TEXT_TEMPLATES, added_dense_features

# Groups and templates that need models of word alignment, a lexicon, or a language model.
LINKED = {"coverage", "Lex", "Del", "Ins", "Phrase", "LexShape"}
LEXICAL = {"lexical", "unknown"}
MODELLED = {"language-model"}
# Suffixes of files of language models.
MODEL_SUFFIXES = (".arpa", ".bin")


class NeededModels(NamedTuple):
    """Which models features of text need."""

    aligners: bool
    lexicon: bool
    language_model: bool


def needed_models(groups: Collection[str], templates: Collection[str]) -> NeededModels:
    """Return which models these groups and templates need."""
    wanted = {*groups, *templates}
    return NeededModels(*(not needing.isdisjoint(wanted) for needing in (LINKED, LEXICAL, MODELLED)))


@dataclass(frozen=True)
class TextFeatures:
    """Features that are computed from the text of n-best lists (docs/text-features.md)."""

    groups: tuple[str, ...] = key(
        "data.kind: lists: groups of dense features to add to those of the lists (docs/text-features.md); "
        "empty: none. They need data.*.source.",
        (),
        choices=tuple(TEXT_FEATURES),
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

    def left_out(self, templates: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the templates that an experiment with these leaves out; None: it has no sparse features."""
        return () if templates is None else tuple(one for one in self.templates if one not in templates)

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
        return need_models(self.groups, self.templates)


def need_models(groups: Collection[str], templates: Collection[str]) -> bool:
    """Return whether any of these groups and templates needs a model."""
    return any(needed_models(groups, templates))


def model_name(path: str) -> str:
    """Return the name of a language model: that of its file, without the end that shows its format."""
    name = os.path.basename(without_compression(path))
    root, suffix = os.path.splitext(name)
    return root if suffix in MODEL_SUFFIXES else name


@documented
@dataclass(frozen=True, kw_only=True)
class WordSettings(PreparationSettings):
    """How text is split into words: n-best lists and their source, and the training text of models."""

    lowercase: bool = key_of(Data, "lowercase")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tokenized(self.tokenized, self.protected, self.lowercase)


@documented
@dataclass(frozen=True)
class TextModelSettings:
    """The lexicon and the language model that features of text need."""

    order: int = key_of(EstimateSettings, "order")

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True, kw_only=True)
class GivenListSettings(WordSettings):
    """How n-best lists of another decoder become files to learn from."""

    # only features of text depend on it
    source_language: str = key_of(WordSettings, "source_language", recorded_otherwise=True)
    groups: tuple[str, ...] = key_of(TextFeatures, "groups", recorded_otherwise=True)
    templates: tuple[str, ...] = key_of(TextFeatures, "templates", recorded_otherwise=True)
    # unlike the other keys of features, the content of files does not show it
    minimum_count: int = key_of(TextFeatures, "minimum_count")
    user_model_names: tuple[str, ...] = key(
        "Names of further language models, each of which gives two dense features.",
        (),
        pattern=NAME_PATTERN,
        recorded_otherwise=True,
    )

    @property
    def adds_features(self) -> bool:
        """Whether there are features of text."""
        return bool(self.groups or self.templates or self.user_model_names)

    @property
    def needed_models(self) -> NeededModels:
        """Which models they need."""
        return needed_models(self.groups, self.templates)


@dataclass(frozen=True)
class RerankerSettings(WithFeatures):
    """How a system reranks n-best lists of another decoder."""

    lists: GivenListSettings = section(REQUIRED, "How lists are read, and what is added to them.")
    features: str = key_of(Search, "features")
    dense_names: tuple[str, ...] = key_of(Data, "dense_names")
    mbr: MinimumRisk | None = key_of(TranslationSettings, "mbr")

    def __post_init__(self) -> None:
        check_section(self)
        if self.lists.minimum_count > 1:
            # lists are read in blocks, so features could not be counted
            why = f"is {self.lists.minimum_count}; only train leaves out features"
            raise wrong("lists.minimum_count", why)
