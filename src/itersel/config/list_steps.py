"""The settings of the steps that make files to train on, and rerankers, from another decoder's n-best lists.

- ``itersel step words``: `WordSettings`
- ``itersel step text-models``: `TextModelSettings`
- ``itersel step lists``: `GivenListSettings`
- ``itersel step reranker``: `RerankerSettings`

See also `itersel.config.settings`.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.data import Data
from itersel.config.mbr import MinimumRisk
from itersel.config.messages import wrong
from itersel.config.names import NAME_PATTERN
from itersel.config.search import Search, TranslationSettings, WithFeatures
from itersel.config.section_checks import check_section
from itersel.config.text_features import TextFeatures
from itersel.config.text_steps import EstimateSettings, PreparationSettings, check_tokenized
from itersel.keys import REQUIRED, documented, key, key_of, section
from itersel.vectors.feature_names import NeededModels, needed_models


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
    """How given lists become files to learn from."""

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
