"""How text becomes words, and how a corpus is split and filtered.

These keys are part of a config (`itersel.config.data`), and of the settings of the commands that prepare text
(`itersel.config.text_steps`). This module imports little, so that configs and commands load quickly.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from itersel.corpus.corpora import DEDUPLICATION
from itersel.corpus.languages import LANGUAGE_PATTERN
from itersel.corpus.text_names import BY_HASH
from itersel.keys import REQUIRED, key, section


@dataclass(frozen=True)
class Words:
    """How text becomes words."""

    source_language: str = key(
        "Language of the source side: a code such as de or pt-br. Other codes of a language (deu, pt_BR) "
        "mean the same.",
        REQUIRED,
        pattern=LANGUAGE_PATTERN,
    )
    target_language: str = key("Language of the target side.", REQUIRED, pattern=LANGUAGE_PATTERN)
    # with no other white space, see `split_words`; only NFC and lowercasing are applied
    tokenized: bool = key("The text is already tokenised, separated by spaces.", False)
    # see `itersel.corpus.tokenization`
    protected: tuple[str, ...] = key(
        "Regular expressions of text that is one token, besides addresses, paths, placeholders, tags and the "
        "like (docs/data.md).",
        (),
        alone=True,
    )


@dataclass(frozen=True)
class PairFilters:
    """Which pairs of a corpus are used, and whether compounds are split."""

    only_labels: tuple[str, ...] = key(
        "libreoffice-help: labels of the pairs to use, which are its modules (swriter, scalc, shared, ...); "
        "empty: all.",
        (),
    )
    held_out_labels: tuple[str, ...] = key(
        "libreoffice-help: labels whose pairs are kept out of train, dev, devtest and test, except for text "
        "that also occurs with other labels; each becomes a test set named after it.",
        (),
    )
    deduplicate: str = key(
        "files: which duplicates to drop from train: pairs (same source and target), source, or none.",
        "pairs",
        choices=DEDUPLICATION,
    )
    drop_overlap: bool = key(
        "Drop pairs from train that also occur in dev, devtest or a test set (same source and target after "
        "preparation).",
        True,
    )
    max_train: int | None = key("Use at most this many pairs for training; null: all.", minimum=1)
    max_held_out: int | None = key(
        "Use at most this many pairs for each of dev, devtest and the test sets; null: all.", minimum=1
    )
    max_length: int = key("Drop training pairs with more words than this on either side.", 80, minimum=1)
    max_ratio: float = key(
        "Drop training pairs in which one side is more than this many times as long as the other.",
        9.0,
        minimum=1,
    )
    compound_splitting: bool = key("Split compounds on the source side (Koehn & Knight 2003).", False)


@dataclass(frozen=True)
class HeldOutSizes:
    """Number of sentences of the held-out sets that are cut from train."""

    dev: int | None = key("Sentences of dev; null: dev is not cut from train.", minimum=1)
    devtest: int | None = key("Sentences of devtest; null: devtest is not cut from train.", minimum=1)
    test: int | None = key("Sentences of the test set; null: it is not cut from train.", minimum=1)

    @property
    def by_split(self) -> dict[str, int]:
        """The number of sentences of each split that is cut from train; see `itersel.corpus.split.Cut`."""
        sizes = {item.name: getattr(self, item.name) for item in fields(self)}
        return {split: size for split, size in sizes.items() if size is not None}


@dataclass(frozen=True, kw_only=True)
class CorpusSettings(PairFilters):
    """How pairs are assigned to splits and filtered; what a file of statistics records of settings."""

    # all pairs are put into one split; the hash also removes duplicates
    split: str = key(
        "train, dev, devtest, test, test.NAME, devtest.NAME, or hash: by a hash of the source.", BY_HASH
    )
    cut: HeldOutSizes = section(
        HeldOutSizes,
        "With train: numbers of sentences to cut for dev, devtest or test, those with the smallest hashes.",
    )
