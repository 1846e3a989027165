"""The n-grams of a language model, and its special words."""

from __future__ import annotations

from typing import NamedTuple

from itersel.storage.arrays import Float64s, Int32s

UNKNOWN, START, END = "<unk>", "<s>", "</s>"


class NGrams(NamedTuple):
    """The n-grams of one order; log10."""

    words: Int32s  # (n-grams, order): numbers of words
    log10_probability: Float64s  # (n-grams)
    backoff: Float64s  # (n-grams): 0 if the file has none
