"""Parallel text as word numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.align.sampler_kernels import Text
from itersel.corpus.numbers import WordNumbers, read_side
from itersel.corpus.text import check_line_counts
from itersel.errors import InputError

# Words of a sentence; the aligner has to keep all pairs of its words in memory.
LONGEST = 1024


class Bitext(NamedTuple):
    """A text whose source is the given side, and its words on both sides, the first one NULL."""

    text: Text
    source_words: Sequence[str]
    target_words: Sequence[str]

    def turned(self) -> Bitext:
        """Return the same text with the target as the given side."""
        source, source_start, target, target_start = self.text
        return Bitext(Text(target, target_start, source, source_start), self.target_words, self.source_words)

    def renumbered(self, source_words: Sequence[str], target_words: Sequence[str]) -> Text:
        """Return the text in the numbers of other words; what is not among them gets the next number."""
        source, source_start, target, target_start = self.text
        source = _numbers_in(source_words, self.source_words)[source]
        return Text(source, source_start, _numbers_in(target_words, self.target_words)[target], target_start)


def read_bitext(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> Bitext:
    """Read parallel text, tokenised, one sentence per line.

    Raises
    ------
    InputError
        See `itersel.corpus.text.text_blocks`; also if the files have different numbers of lines, or a
        sentence has more than `LONGEST` words.
    """
    numbers = [WordNumbers({"": 0}) for _ in range(2)]
    sides = [read_side(path, words) for path, words in zip((source, target), numbers, strict=True)]
    check_line_counts({source: range(sides[0].sentence_count), target: range(sides[1].sentence_count)})
    for path, side in zip((source, target), sides, strict=True):
        long = np.flatnonzero(np.diff(side.offset) > LONGEST)
        if long.size:
            why = f"has over {LONGEST:,} words, too many for the aligner; drop it (data.max_length)"
            raise InputError(why, path, int(long[0]) + 1)
    return Bitext(Text(*sides[0], *sides[1]), list(numbers[0]), list(numbers[1]))


def _numbers_in(known: Sequence[str], words: Sequence[str]) -> NDArray[np.int32]:
    numbers = {word: number for number, word in enumerate(known)}
    return np.array([numbers.get(word, len(numbers)) for word in words], np.int32)
