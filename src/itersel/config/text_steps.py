"""Settings of the commands for text, alignments and language models; their keys are also options.

- ``itersel corpus libreoffice-help``: `HelpSettings`; from a folder, `Languages`
- ``itersel corpus fetch``: `FetchSettings`
- ``itersel corpus prepare``: `PrepareSettings`
- ``itersel corpus references``: `ReferenceSettings`
- ``itersel align``: `AlignSettings`; of one direction `SamplerSettings`, of given alignments
  `SymmetrizationSettings`
- ``itersel lm estimate``: `EstimateSettings`
- ``itersel lm compile``: `CompileSettings`

See also `itersel.config.settings`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from itersel.align.symmetrize import DEFAULT_HEURISTIC, HEURISTICS
from itersel.config.data import CorpusKeys, Data, ReferencedText, TrainingText
from itersel.config.messages import join, show, wrong
from itersel.config.names import Names
from itersel.config.section_checks import check_section
from itersel.corpus.corpora import Corpus
from itersel.corpus.settings import CorpusSettings, Words
from itersel.corpus.text_names import BY_HASH, is_split
from itersel.errors import InputError
from itersel.keys import REQUIRED, key, key_of, section, seed_key
from itersel.lm.order import MAX_ORDER


def _check_held_out(name: object, key: str) -> None:
    if not isinstance(name, str) or not is_split(name) or name in ("train", BY_HASH):
        raise wrong(key, f": {show(name)} is not a held-out set; give dev, devtest, test or test.NAME")


def check_tokenized(tokenized: bool, protected: Collection[str], lowercase: bool, section: str = "") -> None:
    """Reject keys of a section that have no effect on tokenised text."""
    for name, is_set in (("protected", bool(protected)), ("lowercase", not lowercase)):
        if tokenized and is_set:
            problem = f"has no effect with {join(section, 'tokenized')}; remove one of them"
            raise wrong(join(section, name), problem)


def check_patterns(key: str, patterns: Collection[str]) -> None:
    """Reject what is not a regular expression of text that is one token."""
    if patterns:
        # its tables take long to import
        from itersel.corpus.tokenization import check_pattern

        for pattern in patterns:
            try:
                check_pattern(pattern)
            except ValueError as error:
                raise wrong(key, f": '{pattern}' {error}") from None


@dataclass(frozen=True, kw_only=True)
class Languages:
    """The languages of parallel text."""

    source_language: str = key_of(Words, "source_language")
    target_language: str = key_of(Words, "target_language")

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True, kw_only=True)
class HelpSettings(Languages):
    """Which LibreOffice Help is fetched."""

    mirror: str = key_of(Data, "mirror", explanation="Debian mirror.")
    release: str = key_of(Data, "release", explanation="Debian release.")


@dataclass(frozen=True, kw_only=True)
class FetchSettings(Languages):
    """Which corpus another package downloads."""

    mtdata: tuple[str, ...] = key_of(
        TrainingText,
        "mtdata",
        explanation="Datasets of the package mtdata, such as Statmt-europarl-7-deu-eng.",
    )
    sacrebleu: str | None = key_of(
        ReferencedText, "sacrebleu", explanation="Test set of sacrebleu, such as wmt11."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.mtdata) == (self.sacrebleu is not None):
            raise InputError("give either --mtdata or --sacrebleu")


@dataclass(frozen=True, kw_only=True)
class ReferenceSettings(Languages):
    """How the references of n-best lists are cleaned."""

    tokenized: bool = key_of(Words, "tokenized")


@dataclass(frozen=True)
class PreparationSettings(Words):
    """How raw text becomes words."""

    def __post_init__(self) -> None:
        check_section(self)
        check_patterns("protected", self.protected)


@dataclass(frozen=True, kw_only=True)
class PrepareSettings(CorpusKeys, CorpusSettings):
    """What is prepared, and how pairs are assigned to splits and filtered."""

    corpora: tuple[Corpus, ...] = key("Files of the corpora, which are joined.", REQUIRED)
    preparation: PreparationSettings | None = key(
        "How raw text becomes words; null: as in the file of --preparation."
    )
    held_out: dict[str, Corpus] = section(
        dict,
        "With train or hash: files of held-out sets by name, whose pairs are dropped from train.",
        names=Names("files by name of the set", _check_held_out),
    )

    def __post_init__(self) -> None:
        check_section(self)
        if not is_split(self.split):
            raise wrong("split", f"is {show(self.split)}, which is not a split")
        for name, corpora in (("corpora", self.corpora), ("held_out", self.held_out.values())):
            if any(one.file and (one.source or one.target) for one in corpora):
                raise wrong(name, "has a corpus with 'file', which replaces 'source' and 'target'")


@dataclass(frozen=True)
class SamplerSettings:
    """How words are aligned in one direction."""

    seed: int = seed_key("Seed of the sampler.")

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class SymmetrizationSettings:
    """How the alignments of both directions become one."""

    symmetrization: str = key(
        "How the alignments of the two directions are combined.", DEFAULT_HEURISTIC, choices=tuple(HEURISTICS)
    )

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class AlignSettings(SymmetrizationSettings, SamplerSettings):
    """How words are aligned in both directions."""


@dataclass(frozen=True)
class EstimateSettings:
    """How a language model is estimated."""

    order: int = key("Length of the longest n-grams.", REQUIRED, minimum=1, maximum=MAX_ORDER)

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class CompileSettings:
    """Which language model is compiled."""

    expect_order: int | None = key_of(
        EstimateSettings, "order", explanation="Reject a model of another order.", default=None
    )

    def __post_init__(self) -> None:
        check_section(self)
