"""How text becomes words, and how a corpus is split and filtered.

`itersel.config.data` declares the keys, with defaults and explanations; here are their types, for the code
that gets their values. This module imports little, so that configs and commands load quickly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Words:
    """How text becomes words."""

    # Codes such as ``de``, which select the tokenisation rules.
    source_language: str
    target_language: str
    # The text is already tokenised, with tokens separated by spaces (and no other white space, see
    # `split_words`); only NFC and lowercasing are applied.
    tokenized: bool = False
    # Regular expressions of further text that is one token; see `itersel.corpus.tokenization`.
    protected: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """How pairs are assigned to splits and filtered."""

    # One of `SPLITS`, or a named test set (``test.NAME``, ``devtest.NAME``), to put all pairs there. ``hash``
    # assigns pairs by a hash of their source and removes duplicates.
    split: str
    # Learn compound splitting from the training source, and apply it to all splits.
    compound_splitting: bool
    # Limits for training pairs; see `itersel.corpus.split.trainable`.
    max_length: int
    max_ratio: float
    only_labels: tuple[str, ...]  # keep only pairs with these or held-out labels; empty keeps all
    # With ``hash``: the pairs with each of these labels become a test set of that name, except those whose
    # source also occurs with another label or in another split.
    held_out_labels: tuple[str, ...]
    # Maximum number of pairs of train, and of each other split; None for no limit.
    max_train: int | None
    max_held_out: int | None
    # Which duplicates are removed from train, one of `DEDUPLICATION`, unless the hash decides.
    deduplicate: str
    # Number of sentences to cut from train for each of these splits; see `itersel.corpus.split.Cut`.
    cut: Mapping[str, int]
    drop_overlap: bool  # drop pairs from train that are also in a held-out set

    def for_statistics(self) -> dict[str, Any]:
        """Return the settings that a file of statistics records: no names of files."""
        return {item.name: getattr(self, item.name) for item in fields(CorpusSettings)}
