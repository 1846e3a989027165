"""The grammar index: a word-aligned corpus in a form that allows rule extraction on demand.

It is a single file, mapped by every process that extracts. The occurrences of a contiguous pattern are a
range of a suffix array (Lopez 2007). All initial phrases of the alignment (Chiang 2007, section 3) are marked
in bit masks, so checking whether words form a phrase takes one bit.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel import __version__
from itersel.corpus.text import check_line_counts
from itersel.corpus.vocabulary import Side, WordNumbers, read_side
from itersel.errors import FilePath, InputError
from itersel.grammar.index_kernels import (
    EMPTY,
    POSITION_FAULTS,
    IndexArrays,
    find_bad_position,
    induce,
    mark_phrases,
    mark_smaller,
    name_substrings,
    parse_alignments,
    sort_links,
)
from itersel.grammar.lexical_kernels import count_pairs, fill_table
from itersel.storage.arrayfile import map_arrays, write_arrays
from itersel.storage.arrays import Bools, Float32s, Int32s, Int64s, UInt64s
from itersel.storage.files import read_bytes
from itersel.storage.formats import Array, Arrays, FileFormat, damaged, numbers, offsets
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import StringTable, string_table

MAX_COST = 1e9

# V words, T source positions, S sentences, L links, H slots; see IndexArrays
FORMAT = FileFormat(
    "grammar-index",
    2,
    ("itersel grammar index",),
    {
        "words_data": Array("|u1", ("bytes of words",)),
        "words_offset": offsets("V", "bytes of words", text="words_data"),
        "source": Array("<i4", ("T",), least=0, below="V"),
        "source_offset": offsets("S", "T"),
        "room": Array("|u1", ("T",)),
        "suffix": Array("<i4", ("T",), least=0, below="T"),
        "word_begin": offsets("V", "T"),
        "target": Array("<i4", ("target words",), least=0, below="V"),
        "position": Array("<i4", ("T", 5)),
        "link": Array("<i4", ("L",), least=0, below="target words"),
        "pair_key": Array("<u8", ("H",)),
        # the costs of a rule's words are summed, and the values in a grammar are limited to MAX_MAGNITUDE
        "pair_cost": numbers("<f4", "H", 2, least=-MAX_COST, most=MAX_COST),
    },
)


class GrammarIndex(NamedTuple):
    """A mapped index: its arrays, the words of both languages (word 0 is the empty string), and its path."""

    arrays: IndexArrays
    words: StringTable
    path: str

    @property
    def sentence_count(self) -> int:
        """Number of sentence pairs."""
        return int(self.arrays.source_offset.shape[0]) - 1

    def word_numbers(self) -> WordNumbers:
        """Return the number of each word; an InputError if a word occurs twice."""
        numbers = WordNumbers((word, number) for number, word in enumerate(self.words.to_list()))
        if len(numbers) != self.words.count:
            raise damaged(self.path, "words_data", "contains a word twice")
        return numbers


def build_index(source: FilePath, target: FilePath, alignment: FilePath, output: FilePath) -> None:
    """Index a word-aligned parallel corpus: tokenised text, and alignments in Pharaoh format, line by line.

    Words that `itersel.corpus.text.text_blocks` reserves, files with different numbers of lines, and points
    outside their sentence are errors that name the file and the line.
    """
    ids = WordNumbers({"": 0})
    sides = read_side(source, ids), read_side(target, ids)
    check_line_counts((source, range(sides[0].sentence_count)), (target, range(sides[1].sentence_count)))

    # sentence s is followed by a sentence end at source_offset[s + 1] - 1
    source_offset = sides[0].offset + np.arange(sides[0].sentence_count + 1)
    words = np.insert(sides[0].words, sides[0].offset[1:], 0)
    # first, because it needs much memory besides its result
    suffix = sort_suffixes(words)

    position, link, span = _read_links(alignment, (source, target), sides, source_offset)
    key, cost = lexical_table(words, sides[1].words, position, link, span)
    room = np.zeros(words.shape[0], np.uint8)
    mark_phrases(source_offset, position, room, span)

    arrays = IndexArrays(
        source=words,
        source_offset=source_offset,
        room=room,
        suffix=suffix,
        word_begin=offsets_of(np.bincount(words, minlength=len(ids))),
        target=sides[1].words,
        position=position,
        link=link,
        pair_key=key,
        pair_cost=cost,
    )

    index = GrammarIndex(arrays, string_table(ids), os.fspath(output))
    attributes = {"version": __version__, "sentences": sides[0].sentence_count}
    write_arrays(output, FORMAT, index_arrays(index), attributes)


def load_index(path: FilePath) -> GrammarIndex:
    """Map an index read-only."""
    return index_of(map_arrays(path, FORMAT)[0], path)


def index_of(arrays: Arrays, path: FilePath) -> GrammarIndex:
    """Return an index from arrays of a file that have been checked against `FORMAT`.

    Raises an `InputError` if extraction could read beyond a sentence or fail to terminate.
    """
    content = dict(arrays)
    words = StringTable(content.pop("words_data"), content.pop("words_offset"))
    index = IndexArrays(**content)
    position, wrong = find_bad_position(index)
    if wrong:
        name, why = POSITION_FAULTS[wrong]
        raise damaged(path, name, f"{why} (position {position})")
    slots = index.pair_key.shape[0]
    if slots & (slots - 1) or np.count_nonzero(index.pair_key) == slots:
        raise damaged(path, "pair_key", f"is full, or its {slots} rows are not a power of two")
    return GrammarIndex(index, words, os.fspath(path))


def index_arrays(index: GrammarIndex) -> dict[str, NDArray[Any]]:
    """Return the arrays of an index as stored in its file."""
    return {**index.arrays._asdict(), "words_data": index.words.data, "words_offset": index.words.offset}


def _read_links(
    path: FilePath, names: tuple[FilePath, FilePath], sides: tuple[Side, Side], source_offset: Int64s
) -> tuple[Int32s, Int32s, Int32s]:
    """Return position and link of `IndexArrays`, and the spans of `sort_links`, from a file of alignments."""
    text = np.frombuffer(read_bytes(path).replace(b"\r\n", b"\n"), np.uint8)
    if text.size and text[-1] != ord("\n"):
        text = np.append(text, np.uint8(ord("\n")))
    lines = int((text == ord("\n")).sum())
    check_line_counts((names[0], range(sides[0].sentence_count)), (path, range(lines)))

    links = np.empty((int((text == ord("-")).sum()), 2), np.int32)
    offset = np.zeros(lines + 1, np.int64)
    bad_line = parse_alignments(text, links, offset)
    if bad_line >= 0:
        raise InputError("expected alignment points such as '0-0 1-2'", path, bad_line + 1)
    del text

    for column, (side, name) in enumerate(zip(sides, names, strict=True)):
        lengths = np.diff(side.offset)
        outside = np.flatnonzero(links[:, column] >= np.repeat(lengths, np.diff(offset)))
        if outside.size:
            line = int(np.searchsorted(offset, outside[0], "right")) - 1
            point = "-".join(map(str, links[outside[0]]))
            raise InputError(
                f"point {point} is outside the sentence of {os.fspath(name)}, which has "
                f"{lengths[line]} words; align the corpus again",
                path,
                line + 1,
            )

    return sort_links(links, offset, source_offset, sides[1].offset)


def lexical_table(
    source: Int32s, target: Int32s, position: Int32s, link: Int32s, span: Int32s
) -> tuple[UInt64s, Float32s]:
    """Return the hash table of `lexical_kernels`; arguments as in `count_pairs`.

    p(f|e) = count(f, e) / sum over f' of count(f', e), where NULL is a word on either side.
    """
    pair, count = count_pairs(source, target, position, link, span)
    order = np.flatnonzero(count)
    order = order[np.argsort(pair[order])]
    pair, count = pair[order], count[order]

    f = (pair >> np.uint64(32)).astype(np.int32)
    e = pair.astype(np.uint32).astype(np.int32)
    cost = np.empty((count.shape[0], 2), np.float32)
    # differences of logarithms would not be exactly 0 where the probability is 1
    cost[:, 0] = -np.log10(count / np.bincount(e, count)[e], dtype=np.longdouble) + 0.0
    cost[:, 1] = -np.log10(count / np.bincount(f, count)[f], dtype=np.longdouble) + 0.0

    capacity = 1 << max(4, int(2 * count.shape[0]).bit_length())
    key, value = np.zeros(capacity, np.uint64), np.zeros((capacity, 2), np.float32)
    fill_table(pair, cost, key, value)
    return key, value


def sort_suffixes(words: Int32s) -> Int32s:
    """Return the suffix array of a text: all positions, sorted by the suffix that begins there.

    By induction, in linear time; see `itersel.grammar.index_kernels`.
    """
    size = words.shape[0]
    if size == 0:
        return np.zeros(0, np.int32)

    smaller = np.zeros(size, bool)
    mark_smaller(words, smaller)
    leftmost = np.flatnonzero(smaller[1:] & ~smaller[:-1]).astype(np.int32) + np.int32(1)
    order = _induce(words, smaller, leftmost)
    if leftmost.shape[0] < 2:
        return order

    name = np.empty(size // 2 + 1, np.int32)
    distinct = name_substrings(words, smaller, order, name)
    name = name[leftmost // 2]
    if distinct < leftmost.shape[0]:
        leftmost = leftmost[sort_suffixes(name)]
    else:
        leftmost[name] = leftmost.copy()

    return _induce(words, smaller, leftmost)


def _induce(words: Int32s, smaller: Bools, leftmost: Int32s) -> Int32s:
    offset = offsets_of(np.bincount(words))
    order = np.full(words.shape[0], EMPTY, np.int32)
    induce(words, smaller, leftmost, offset[:-1].copy(), offset[1:].copy(), order)
    return order
