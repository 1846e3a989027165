"""The settings of the steps that cut texts and n-best lists into shards.

- ``itersel step shard``: `CutSettings`; for n-best lists, `GivenListCutSettings`
- ``itersel step lists``: `GivenListSettings`

See also `itersel.config.steps`.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.data import Data
from itersel.config.options import (
    LABEL_PATTERN,
    NAME_PATTERN,
    REQUIRED,
    check_section,
    documented,
    option,
    option_of,
    section,
    seed_option,
    wrong,
)
from itersel.config.tasks import MOST_SHARDS, NaturalTasks
from itersel.config.text_features import TextFeatures
from itersel.corpus.languages import LANGUAGE_PATTERN


class Cutting:
    """A way to cut a text."""

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class InOrder(Cutting):
    """Shards of equal size with adjacent lines."""

    shards: int = option("Number of shards.", 1, minimum=1, maximum=MOST_SHARDS)


@dataclass(frozen=True)
class Shuffled(Cutting):
    """Shards of equal size: the text is shuffled and cut."""

    shards: int = option_of(InOrder, "shards")
    seed: int = seed_option("Seed of the shuffle.")


@dataclass(frozen=True, kw_only=True)
class Labelled(Cutting):
    """One or more shards for each label, each of shuffled sentences with that label."""

    labels: dict[str, int] = option_of(NaturalTasks, "labels", default=REQUIRED, required=False)
    others: str = option_of(NaturalTasks, "others")
    minimum: int = option_of(NaturalTasks, "minimum")
    seed: int = option_of(Shuffled, "seed")


@dataclass(frozen=True, kw_only=True)
class Pooled(Cutting):
    """Shards of equal size of the sentences that have one of some labels, shuffled together."""

    labels: tuple[str, ...] = option("Labels of the sentences.", REQUIRED, pattern=LABEL_PATTERN)
    shards: int = option_of(InOrder, "shards")
    size: str = option(
        "all sentences, or as many as a task has on average, evenly from each (one).",
        "all",
        choices=("all", "one"),
    )
    seed: int = option_of(Shuffled, "seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.labels:
            raise wrong("cut.labels", "is empty; name at least one")


CUTTINGS: dict[str, type[Cutting]] = {
    "shuffled": Shuffled,
    "in-order": InOrder,
    "labelled": Labelled,
    "pooled": Pooled,
}


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
class GivenListSettings:
    """How n-best lists of another decoder become shards to learn from."""

    language: str | None = option(
        "Tokenise and lowercase for BLEU by the rules of this language; null: words as they are.",
        pattern=LANGUAGE_PATTERN,
    )
    protected: tuple[str, ...] = option_of(Data, "protected")
    lowercase: bool = option_of(Data, "lowercase")
    source_language: str | None = option(
        "Language of the source, for features of text; null: words as they are.",
        pattern=LANGUAGE_PATTERN,
        recorded_otherwise=True,
    )
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

    def __post_init__(self) -> None:
        if self.protected and self.language is None:
            raise wrong("protected", "has no effect without a language; remove it")
        if not self.lowercase and self.language is None:
            raise wrong("lowercase", "has no effect without a language; remove it")
