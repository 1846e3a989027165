"""Text as word numbers, on disk."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from itersel.corpus.text import split_words, text_blocks
from itersel.errors import InputError
from itersel.lm.arpa import END, START, UNKNOWN
from itersel.storage.diskarray import DiskArray

# Numbers of the special words.
UNKNOWN_ID, START_ID, END_ID = 0, 1, 2


class Text(NamedTuple):
    """Sentences as word numbers.

    Attributes
    ----------
    words
        The vocabulary: ``<unk>``, ``<s>``, ``</s>``, then the others in order of first occurrence.
    tokens
        int32: all sentences, each between ``<s>`` and ``</s>``, concatenated.
    """

    words: list[str]
    tokens: DiskArray


class _Vocabulary(dict[str, int]):
    """Numbers of words, which a word gets when it is looked up; those not in `allowed` are ``<unk>``."""

    def __init__(self, allowed: set[str] | None) -> None:
        super().__init__({UNKNOWN: UNKNOWN_ID, START: START_ID, END: END_ID})
        self.allowed = allowed

    def __missing__(self, word: str) -> int:
        if self.allowed is not None and word not in self.allowed:
            return UNKNOWN_ID
        return self.setdefault(word, len(self))


def read_text(
    paths: Sequence[str | os.PathLike[str]],
    vocabulary: str | os.PathLike[str] | None = None,
    left_out: Collection[int] = (),
    folder: str | os.PathLike[str] | None = None,
) -> Text:
    """Read tokenised text, one sentence per line.

    Parameters
    ----------
    paths
        Text files, which may be compressed; ``-`` is standard input.
    vocabulary
        A text file; words that do not occur in it are replaced by ``<unk>``.
    left_out
        Lines of the first text to leave out, counted from 0.
    folder
        Where temporary files are written; see `DiskArray`.

    Raises
    ------
    InputError
        If a file is empty or contains invalid characters (see `itersel.corpus.text.text_blocks`); if
        `vocabulary` has no words; if a line to leave out does not exist.
    """
    ids = _Vocabulary(None if vocabulary is None else _words_of(vocabulary))
    tokens = DiskArray(np.int32, folder)
    for number, path in enumerate(paths):
        blocks = text_blocks(path, is_tokenized=True)
        if number == 0 and left_out:
            blocks = _without(blocks, left_out, path)
        for lines in blocks:
            if lines:
                # No word of the text is <s> or </s>: text_blocks refuses them.
                marked = f"{START} {f' {END} {START} '.join(lines)} {END}"
                tokens.append(np.array(list(map(ids.__getitem__, split_words(marked))), np.int32))
    return Text(list(ids), tokens)


def _without(
    blocks: Iterator[list[str]], left_out: Collection[int], path: str | os.PathLike[str]
) -> Iterator[list[str]]:
    count = 0
    for lines in blocks:
        yield [line for number, line in enumerate(lines, count) if number not in left_out]
        count += len(lines)
    if max(left_out) >= count:
        raise InputError(
            f"has {count} lines, but line {max(left_out) + 1} is to be left out; the first text must be the "
            "one that was split into shards",
            path,
        )


def _words_of(path: str | os.PathLike[str]) -> set[str]:
    words: set[str] = set()
    for lines in text_blocks(path, is_tokenized=True):
        words.update(split_words(" ".join(lines)))
    if not words:
        raise InputError("is not a vocabulary: it contains no words", path)
    return words
