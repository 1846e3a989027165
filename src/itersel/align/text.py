"""Parallel text as word numbers."""

from __future__ import annotations

import os
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.align.sampler_kernels import Text
from itersel.corpus.text import check_line_counts, split_words, tokenized_blocks
from itersel.errors import InputError
from itersel.storage.ragged import offsets_of

# Words of a sentence; the aligner has to keep all pairs of its words in memory.
LONGEST = 1024


class Bitext(NamedTuple):
    """A text whose source is the given side; numbers of words, with NULL."""

    text: Text
    source_words: int
    target_words: int

    def turned(self) -> Bitext:
        """Return the same text with the target as the given side."""
        source, source_start, target, target_start = self.text
        return Bitext(Text(target, target_start, source, source_start), self.target_words, self.source_words)


class _Numbers(dict[str, int]):
    """Numbers of words, from 1, which a word gets when it is looked up."""

    def __missing__(self, word: str) -> int:
        return self.setdefault(word, len(self) + 1)


def read_bitext(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> Bitext:
    """Read parallel text, tokenised, one sentence per line.

    Raises
    ------
    InputError
        See `itersel.corpus.text.read_tokenized`; also if the files have different numbers of lines, or a
        sentence has more than `LONGEST` words.
    """
    sides = [_read_side(path) for path in (source, target)]
    lines = [range(len(start) - 1) for _, start, _ in sides]
    check_line_counts({source: lines[0], target: lines[1]})
    (given, given_start, words), (generated, generated_start, others) = sides
    return Bitext(Text(given, given_start, generated, generated_start), words + 1, others + 1)


def _read_side(path: str | os.PathLike[str]) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    numbers, tokens, lengths = _Numbers(), [np.zeros(0, np.int32)], list[int]()
    for lines in tokenized_blocks(path):
        sentences = list(map(split_words, lines))
        for number, sentence in enumerate(sentences, len(lengths) + 1):
            if len(sentence) > LONGEST:
                raise InputError(
                    f"has over {LONGEST:,} words, too many for the aligner; drop it (data.max_length)",
                    path,
                    number,
                )
        lengths += map(len, sentences)
        words = chain.from_iterable(sentences)
        tokens.append(np.fromiter(map(numbers.__getitem__, words), np.int32))
    return np.concatenate(tokens), offsets_of(lengths), len(numbers)
