"""Reference translations, one or more per sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itersel.errors import FilePath
from itersel.storage.arrays import Int32s, Int64s
from itersel.storage.formats import damaged, damaged_file
from itersel.storage.ragged import offsets_of, take_rows


class ReferenceLengths(NamedTuple):
    """The lengths of the references of one sentence, at least one, in words."""

    each: Int64s  # (m)

    @property
    def longest(self) -> int:
        """Length of the longest reference."""
        return int(self.each.max())

    @property
    def mean(self) -> float:
        """Average length of the references."""
        return float(self.each.sum() / self.each.shape[0])


class References(NamedTuple):
    """The references of one sentence; an empty reference can only be the only one."""

    word: Int32s  # (r): the words of all references, concatenated
    offset: Int64s  # (m + 1): where each of the m references begins, and the end of the last

    @property
    def lengths(self) -> ReferenceLengths:
        """Their lengths."""
        return ReferenceLengths(np.diff(self.offset))


class TextReferences(NamedTuple):
    """The references of all sentences of a text; without `sentence_offset`, each sentence has one."""

    word: Int32s  # of all references, as numbers
    offset: Int64s  # (M + 1): where each of the M references begins, and the end of the last
    sentence_offset: Int64s  # (N + 1): the references of each sentence, or empty

    def of_sentence(self, sentence: int) -> References:
        """Return the references of a sentence."""
        first, last = sentence, sentence + 1
        if self.sentence_offset.shape[0]:
            first, last = self.sentence_offset[sentence : sentence + 2].tolist()
        offset = self.offset[first : last + 1]
        return References(self.word[offset[0] : offset[-1]], offset - offset[0])


def join_references(texts: Sequence[tuple[Int32s, Int64s]]) -> TextReferences:
    """Join the references of several texts with the same number of lines.

    Empty lines are not references, unless all lines of a sentence are empty: then it has one empty reference.
    Each text is given by its words and the offsets of its lines, (N + 1).
    """
    none = np.zeros(0, np.int64)
    if not texts:
        return TextReferences(np.zeros(0, np.int32), none, none)
    if len(texts) == 1:
        return TextReferences(*texts[0], none)

    lengths = np.stack([np.diff(offset) for _, offset in texts], axis=1)
    is_kept = lengths > 0
    is_kept[:, 0] |= ~is_kept.any(axis=1)
    sentence, text = np.nonzero(is_kept)

    words = np.concatenate([word for word, _ in texts])
    lines = offsets_of(lengths.T.reshape(-1))
    word, offset = take_rows(words, lines, text * lengths.shape[0] + sentence)

    has_one = bool((is_kept.sum(axis=1) == 1).all())
    return TextReferences(word, offset, none if has_one else offsets_of(is_kept.sum(axis=1)))


def grouped_references(references: int, offset: Int64s, sentences: int, path: FilePath) -> Int64s:
    """Return the references of each sentence of a file, int64 (N + 1), or raise if a sentence has none.

    offset: as in the file; no rows if each sentence has one reference. references, sentences: their numbers.
    """
    if offset.shape[0] == 0:
        if references != sentences:
            raise damaged_file(path, f"has {references} references for {sentences} sentences")
        return np.arange(sentences + 1)
    if (np.diff(offset) == 0).any():
        raise damaged(path, "sentence_reference_offset", "leaves a sentence without a reference")
    return offset
