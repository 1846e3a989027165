"""Text as word numbers, on disk, and the lines of it that the language model of a fold leaves out."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

from itersel.corpus.dividing import REST
from itersel.corpus.text import split_words, text_blocks
from itersel.corpus.text_names import IDS, column_file, ids_file
from itersel.corpus.vocabulary import WordNumbers
from itersel.errors import FilePath, InputError
from itersel.lm.ngrams import END, START, UNKNOWN
from itersel.storage.arrays import Int32s, UInt64s
from itersel.storage.declared import DeclaredFolder
from itersel.storage.diskarray import DiskArray
from itersel.storage.files import line_blocks, read_lines
from itersel.storage.string_kernels import distinct_words

# Blocks of text whose words are looked up together: most of them occur more than once.
BLOCKS = 16
# Numbers of the special words.
UNKNOWN_ID, START_ID, END_ID = 0, 1, 2


class NumberedText(NamedTuple):
    """Sentences as word numbers."""

    words: list[str]  # ``<unk>``, ``<s>``, ``</s>``, then the others in order of first occurrence
    tokens: DiskArray  # int32: all sentences, each between ``<s>`` and ``</s>``, concatenated


class _Vocabulary(WordNumbers):
    """Numbers of words; those not in `allowed` are ``<unk>``."""

    def __init__(self, allowed: set[str] | None) -> None:
        super().__init__({UNKNOWN: UNKNOWN_ID, START: START_ID, END: END_ID})
        self.allowed = allowed

    def __missing__(self, word: str) -> int:
        if self.allowed is not None and word not in self.allowed:
            return UNKNOWN_ID
        return super().__missing__(word)


def read_numbered_text(
    paths: Sequence[FilePath],
    vocabulary: FilePath | None = None,
    left_out: Collection[int] = (),
    folder: FilePath | None = None,
) -> NumberedText:
    """Read tokenised text, one sentence per line, from files; ``-`` is standard input.

    Words that do not occur in the text file `vocabulary` are replaced by ``<unk>``. `left_out` are lines of
    the first text, counted from 0. Temporary files are written to `folder`, see `DiskArray`.
    """
    ids = _Vocabulary(None if vocabulary is None else _words_of(vocabulary))
    tokens = DiskArray(np.int32, folder)

    for number, path in enumerate(paths):
        blocks = text_blocks(path, is_tokenized=True)
        if number == 0 and left_out:
            blocks = _without(blocks, left_out, path)

        while together := list(islice(blocks, BLOCKS)):
            if lines := list(chain.from_iterable(together)):
                # No word of the text is <s> or </s>: text_blocks refuses them.
                marked = f"{START} {f' {END} {START} '.join(lines)} {END}"
                tokens.append(word_numbers(marked, ids))

    return NumberedText(list(ids), tokens)


def word_numbers(text: str, numbers: WordNumbers) -> Int32s:
    """Return the words of a text, as `split_words` splits it, as numbers; new words get the next numbers."""
    content = text.encode()
    # A bytearray, because kernels would be compiled again for read-only arrays.
    rows, bounds = distinct_words(np.frombuffer(bytearray(content), np.uint8))
    begins, ends = bounds.T.tolist()
    distinct = [numbers[content[begin:end].decode()] for begin, end in zip(begins, ends, strict=True)]
    return np.array(distinct, np.int32)[rows]


def _without(blocks: Iterator[list[str]], left_out: Collection[int], path: FilePath) -> Iterator[list[str]]:
    count = 0
    for lines in blocks:
        yield [line for number, line in enumerate(lines, count) if number not in left_out]
        count += len(lines)
    if max(left_out) >= count:
        why = f"has {count} lines, but line {max(left_out) + 1} is to be left out"
        raise InputError(f"{why}; the first text must be the one that was divided", path)


def _words_of(path: FilePath) -> set[str]:
    blocks = text_blocks(path, is_tokenized=True)
    words = set(chain.from_iterable(split_words(" ".join(lines)) for lines in blocks))
    if not words:
        raise InputError("is not a vocabulary: it contains no words", path)
    return words


def lines_of_fold(text: FilePath, divided: FilePath, fold: int, folds: int) -> set[int]:
    """Return the line numbers (from 0) of files `fold`, `fold` + `folds`, ..., and of their copies.

    `divided` is the folder that `itersel.corpus.dividing` made from `text`, the target side. It must have
    been made from exactly this text: leaving out wrong lines would go unnoticed.
    """
    folder = DeclaredFolder(divided)
    names = {*folder.names, *os.listdir(folder.path)}
    count = len([name for name in names if name.endswith(IDS) and name != REST])
    if count == 0:
        raise InputError("was not made from text by 'itersel step divide': it has no line numbers", divided)
    if count < folds:
        raise InputError(f"contains {count} files of sentences, too few for {folds} folds", divided)

    lines = _digests(text)
    rows = [_numbers(folder.checked(ids_file(file))) for file in range(count)]
    numbers = [[row[0] for row in of_file] for of_file in rows]
    others = [row[0] for row in _numbers(folder.checked(REST))] if folder.has(REST) else []
    if sorted(chain(others, *numbers)) != list(range(lines.shape[0])):
        why = f"does not contain each of the {lines.shape[0]} lines of {os.fspath(text)} exactly once"
        raise InputError(f"{why}; rerun 'itersel step divide'", divided)

    for file in range(fold, count, folds):
        path = folder.checked(column_file(file, "target"))
        if not np.array_equal(_digests(path), lines[numbers[file]]):
            why = f"differs from the lines in {ids_file(file)} of {os.fspath(text)}"
            raise InputError(f"{why}; give the target side that was divided", path)

    return set(chain.from_iterable(chain.from_iterable(rows[fold::folds])))


def _digests(path: FilePath) -> UInt64s:
    """Return a digest of each line of a text, which is too large to be kept."""
    blocks = (map(str.encode, lines) for lines in line_blocks(path))
    return np.fromiter(map(xxhash.xxh3_64_intdigest, chain.from_iterable(blocks)), np.uint64)


def _numbers(path: Path) -> list[list[int]]:
    """Return the line number of each sentence, followed by the line numbers of its copies."""
    lines = read_lines(path)
    for number, line in enumerate(lines, 1):
        if not re.fullmatch("[0-9]{1,15}(( [0-9]{1,15})*| @[0-9]{1,15})", line):
            raise InputError(f"'{line[:40]}' is not a line number; rerun 'itersel step divide'", path, number)
    # copies that are listed elsewhere are in the same file
    return [[int(word) for word in line.split() if word[0] != "@"] for line in lines]
