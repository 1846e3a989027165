"""Vocabularies: numbers of words, and text as such numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from itersel.corpus.text import split_words, text_blocks
from itersel.errors import FilePath
from itersel.storage.arrays import Int32s, Int64s
from itersel.storage.ragged import offsets_of


class WordNumbers(dict[str, int]):
    """Numbers of words: a word gets the next one when it is first looked up."""

    def __missing__(self, word: str) -> int:
        return self.setdefault(word, len(self))

    def add(self, word: str) -> None:
        """Give a new word the next number."""
        self.setdefault(word, len(self))


class Side(NamedTuple):
    """Concatenated sentences: words (int32), and where each sentence begins and the last ends (int64)."""

    words: Int32s
    offset: Int64s

    @property
    def sentence_count(self) -> int:
        """Number of sentences."""
        return int(self.offset.shape[0]) - 1


def read_side(path: FilePath, numbers: WordNumbers, allow_empty: bool = False) -> Side:
    """Read tokenised sentences, one per line, as `text_blocks` does; new words get the next numbers."""
    blocks = text_blocks(path, allow_empty, is_kept=True, is_tokenized=True)
    # a text may be empty, so there is at least one part
    parts = [number_words(list(map(split_words, lines)), numbers) for lines in chain([[]], blocks)]
    lengths = np.concatenate([np.diff(part.offset) for part in parts])
    return Side(np.concatenate([part.words for part in parts]), offsets_of(lengths))


def number_words(sentences: Sequence[Sequence[str]], numbers: WordNumbers) -> Side:
    """Return sentences as numbers; new words get the next numbers."""
    words = chain.from_iterable(sentences)
    offset = offsets_of(list(map(len, sentences)))
    return Side(np.fromiter(map(numbers.__getitem__, words), np.int32, int(offset[-1])), offset)
