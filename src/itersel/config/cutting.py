"""The settings of the steps that cut texts and n-best lists into shards.

- ``itersel step shard``: `CutSettings`; for n-best lists, `GivenListCutSettings`
- ``itersel step lists``: `GivenListSettings`

See also `itersel.config.steps`.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.data import Data
from itersel.config.options import NAME_PATTERN, documented, option, option_of, section
from itersel.config.text_features import TextFeatures, WordSettings
from itersel.config.ways_to_cut import CUTTINGS, Cutting, Shuffled


@documented
@dataclass(frozen=True)
class CutSettings:
    """How a text is cut into shards."""

    cut: Cutting = section(Shuffled, "Which sentences a shard has.", forms=CUTTINGS)


@documented
@dataclass(frozen=True)
class GivenListCutSettings(CutSettings):
    """How n-best lists are cut into shards."""

    dense_names: tuple[str, ...] = option_of(Data, "dense")


@dataclass(frozen=True)
class GivenListSettings(WordSettings):
    """How n-best lists of another decoder become shards to learn from."""

    # only features of text depend on it
    source_language: str = option_of(Data, "source_language", recorded_otherwise=True)
    dense: tuple[str, ...] = option_of(TextFeatures, "dense", recorded_otherwise=True)
    templates: tuple[str, ...] = option_of(TextFeatures, "templates", recorded_otherwise=True)
    minimum_count: int = option_of(TextFeatures, "minimum_count", recorded_otherwise=True)
    language_models: tuple[str, ...] = option(
        "Names of further language models, each of which gives two dense features.",
        (),
        pattern=NAME_PATTERN,
        recorded_otherwise=True,
    )

    @property
    def adds_features(self) -> bool:
        """Whether there are features of text."""
        return bool(self.dense or self.templates or self.language_models)
