"""The grammar index: a word-aligned corpus in a form that allows rule extraction on demand.

It is a single file, mapped by every process that extracts. The occurrences of a contiguous pattern are a
range of a suffix array (Lopez 2007). All initial phrases of the alignment (Chiang 2007, section 3) are marked
in bit masks, so checking whether words form a phrase takes one bit.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel import __version__
from itersel.corpus.text import read_tokenized
from itersel.errors import InputError
from itersel.grammar.index_kernels import (
    BAD_LINKS,
    BAD_PHRASE,
    BAD_ROOM,
    BAD_SENTENCE,
    LINK_BEGIN,
    LINK_HIGH,
    LINK_LOW,
    LONGEST_ROOM,
    IndexArrays,
    find_bad_position,
    mark_phrases,
    parse_alignments,
)
from itersel.grammar.lexical import lexical_table, link_counts
from itersel.storage.arrayfile import map_arrays, write_arrays
from itersel.storage.files import read_bytes
from itersel.storage.formats import Array, Arrays, FileFormat, FilePath, damaged, numbers
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import StringTable, string_table

MAX_COST = 1e9

# V words, T source positions, S sentences, L links, H slots; see IndexArrays
FORMAT = FileFormat(
    "grammar-index",
    2,
    "itersel grammar index",
    {
        "words_data": Array("|u1", ("bytes of words",)),
        "words_offset": Array("<i8", ("V+1",), into="bytes of words", text="words_data"),
        "source": Array("<i4", ("T",), least=0, below="V"),
        "source_offset": Array("<i8", ("S+1",), into="T"),
        "room": Array("|u1", ("T",)),
        "suffix": Array("<i4", ("T",), least=0, below="T"),
        "word_begin": Array("<i8", ("V+1",), into="T"),
        "target": Array("<i4", ("target words",), least=0, below="V"),
        "position": Array("<i4", ("T", 5)),
        "link": Array("<i4", ("L",), least=0, below="target words"),
        "pair_key": Array("<u8", ("H",)),
        # the costs of a rule's words are summed, and the values in a shard are limited to MAX_MAGNITUDE
        "pair_cost": numbers("<f4", "H", 2, least=-MAX_COST, most=MAX_COST),
    },
)
POSITION_FAULTS = {
    BAD_SENTENCE: ("source", "has no end of a sentence where one must be, or one elsewhere"),
    BAD_ROOM: ("room", "is not the rest of the sentence"),
    BAD_LINKS: ("position", "does not fit the links"),
    BAD_PHRASE: ("position", "marks a phrase that crosses the end of its sentence"),
}


class GrammarIndex(NamedTuple):
    """A mapped index: its arrays, the words of both languages (word 0 is the empty string), and its path."""

    arrays: IndexArrays
    words: StringTable
    path: str

    @property
    def sentence_count(self) -> int:
        """Number of sentence pairs."""
        return int(self.arrays.source_offset.shape[0]) - 1

    def word_numbers(self) -> dict[str, int]:
        """Return the number of each word.

        Raises
        ------
        InputError
            If a word occurs twice.
        """
        numbers = {word: number for number, word in enumerate(self.words.to_list())}
        if len(numbers) != self.words.count:
            raise damaged(self.path, "words_data", "holds a word twice")
        return numbers

    def source_sentence(self, sentence: int) -> NDArray[np.int32]:
        """Return the source words of a sentence pair."""
        begin, end = self.arrays.source_offset[sentence : sentence + 2]
        return self.arrays.source[begin : end - 1]


class Side(NamedTuple):
    """Concatenated sentences: words (int32), and where each sentence begins and the last ends (int64)."""

    words: NDArray[np.int32]
    offset: NDArray[np.int64]

    @property
    def sentence_count(self) -> int:
        """Number of sentences."""
        return int(self.offset.shape[0]) - 1


def build_index(source: FilePath, target: FilePath, alignment: FilePath, output: FilePath) -> None:
    """Index a word-aligned parallel corpus.

    Parameters
    ----------
    source, target
        Tokenised text, one sentence per line.
    alignment
        Pharaoh format, source-target, one line per sentence pair.
    output
        The index to write, an array file of kind "grammar-index".

    Raises
    ------
    InputError
        If a text is empty or contains a reserved word (see `itersel.corpus.text.read_tokenized`), the files
        differ in their number of lines, or an alignment point is malformed or outside its sentence. Names the
        file and the line.
    """
    ids: dict[str, int] = {"": 0}
    source_side, target_side = read_side(source, ids), read_side(target, ids)
    check_parallel(source, source_side, target, target_side)
    links, sentence = _read_links(alignment, source, source_side, target, target_side)
    arrays = _index_arrays(source_side, target_side, links, sentence, len(ids))
    index = GrammarIndex(arrays, string_table(ids), os.fspath(output))
    attributes = {"itersel": __version__, "sentences": source_side.sentence_count}
    write_arrays(output, FORMAT, index_arrays(index), attributes)


def load_index(path: FilePath) -> GrammarIndex:
    """Map an index read-only.

    Raises
    ------
    InputError
        If the file is missing, truncated, damaged, or not an index. Names the file and the array.
    """
    arrays, _ = map_arrays(path, FORMAT)
    return index_of(arrays, path)


def index_of(arrays: Arrays, path: FilePath) -> GrammarIndex:
    """Return an index from arrays of a file that have been checked against `FORMAT`.

    Raises
    ------
    InputError
        If extraction could read beyond a sentence or fail to terminate. Names the file and the array.
    """
    content = dict(arrays)
    words = StringTable(content.pop("words_data"), content.pop("words_offset"))
    index = IndexArrays(**content)
    _check_index(index, path)
    return GrammarIndex(index, words, os.fspath(path))


def index_arrays(index: GrammarIndex) -> dict[str, NDArray[Any]]:
    """Return the arrays of an index as stored in its file."""
    return {**index.arrays._asdict(), "words_data": index.words.data, "words_offset": index.words.offset}


def _check_index(index: IndexArrays, path: FilePath) -> None:
    """Raise an InputError if extraction could read beyond a sentence or fail to terminate."""
    position, wrong = find_bad_position(
        index.source, index.source_offset, index.room, index.position, index.link
    )
    if wrong:
        name, why = POSITION_FAULTS[wrong]
        raise damaged(path, name, f"{why} (position {position})")
    slots = index.pair_key.shape[0]
    if slots & (slots - 1) or np.count_nonzero(index.pair_key) == slots:
        raise damaged(path, "pair_key", f"is full, or its {slots} rows are not a power of two")


def read_side(path: FilePath, ids: dict[str, int], allow_empty: bool = False) -> Side:
    """Read tokenised sentences; new words get the next numbers and are added to `ids`.

    Raises
    ------
    InputError
        See `itersel.corpus.text.read_tokenized`.
    """
    return number_words(read_tokenized(path, allow_empty), ids)


def number_words(sentences: Sequence[Sequence[str]], ids: dict[str, int]) -> Side:
    """Return sentences as numbers; new words get the next numbers and are added to `ids`."""
    words = [ids.setdefault(token, len(ids)) for tokens in sentences for token in tokens]
    return Side(np.array(words, np.int32), offsets_of([len(tokens) for tokens in sentences]))


def check_parallel(first: FilePath, first_side: Side, second: FilePath, second_side: Side) -> None:
    """Raise `InputError` if two files differ in their number of lines."""
    _check_lengths(first, first_side.sentence_count, second, second_side.sentence_count)


def _check_lengths(first: FilePath, first_lines: int, second: FilePath, second_lines: int) -> None:
    if first_lines == second_lines:
        return
    short, long = (first, second) if first_lines < second_lines else (second, first)
    lines = sorted((first_lines, second_lines))
    message = f"ends after {lines[0]} lines, but {os.fspath(long)} has {lines[1]}; they must be parallel"
    raise InputError(message, short, lines[0] + 1)


def _read_links(
    path: FilePath, source: FilePath, source_side: Side, target: FilePath, target_side: Side
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the links (L, 2) as positions within the sentence, and the sentence (L) of each."""
    text = np.frombuffer(read_bytes(path).replace(b"\r\n", b"\n"), np.uint8)
    if text.size and text[-1] != ord("\n"):
        text = np.append(text, np.uint8(ord("\n")))
    lines = int((text == ord("\n")).sum())
    _check_lengths(source, source_side.sentence_count, path, lines)
    links, offset = np.empty((int((text == ord("-")).sum()), 2), np.int32), np.zeros(lines + 1, np.int64)
    bad_line = parse_alignments(text, links, offset)
    if bad_line >= 0:
        raise InputError("expected alignment points such as '0-0 1-2'", path, bad_line + 1)
    sentence = np.repeat(np.arange(lines), np.diff(offset))
    for column, side, name in ((0, source_side, source), (1, target_side, target)):
        outside = np.flatnonzero(links[:, column] >= np.diff(side.offset)[sentence])
        if outside.size:
            point = "-".join(map(str, links[outside[0]]))
            raise InputError(
                f"point {point} is outside the sentence of {os.fspath(name)}, which has "
                f"{np.diff(side.offset)[sentence[outside[0]]]} words; align the corpus again",
                path,
                int(sentence[outside[0]]) + 1,
            )
    return links, sentence


def _index_arrays(
    source: Side, target: Side, links: NDArray[np.int32], sentence: NDArray[np.int64], vocabulary_size: int
) -> IndexArrays:
    # sentence s is followed by a sentence end at source_offset[s + 1] - 1
    words = np.insert(source.words, source.offset[1:], 0)
    source_offset = source.offset + np.arange(source.sentence_count + 1)
    link_source = source_offset[sentence] + links[:, 0]
    link_target = target.offset[sentence] + links[:, 1]
    back_link, back_begin = _links_of(link_target, link_source, target.words.shape[0])
    link, begin = _links_of(link_source, link_target, words.shape[0])
    position = np.zeros((words.shape[0], 5), np.int32)
    position[:, LINK_LOW], position[:, LINK_HIGH] = _link_spans(link, begin)
    position[:, LINK_BEGIN] = begin[:-1]
    mark_phrases(source_offset, position, *_link_spans(back_link, back_begin))
    key, cost = lexical_table(
        *link_counts(words, target.words, np.repeat(np.arange(words.shape[0]), np.diff(begin)), link)
    )
    sentence_end = np.repeat(source_offset[1:] - 1, np.diff(source_offset))
    return IndexArrays(
        source=words,
        source_offset=source_offset,
        room=np.minimum(sentence_end - np.arange(words.shape[0]), LONGEST_ROOM).astype(np.uint8),
        suffix=sort_suffixes(words),
        word_begin=offsets_of(np.bincount(words, minlength=vocabulary_size)),
        target=target.words,
        position=position,
        link=link,
        pair_key=key,
        pair_cost=cost,
    )


def sort_suffixes(words: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the suffix array of a text: all positions, sorted by the suffix that begins there.

    Prefix doubling (Manber & Myers 1993): the order by the first k words yields the order by the first 2 k.
    """
    size, step = words.shape[0], 1
    rank = words.astype(np.int64)
    order = np.arange(size)
    while size:
        following = np.zeros(size, np.int64)
        following[: max(size - step, 0)] = rank[step:] + 1
        key = rank * (max(size, int(rank.max())) + 2) + following
        order = np.argsort(key)
        different = np.concatenate(([False], np.diff(key[order]) != 0))
        rank[order] = np.cumsum(different)
        if different.sum() == size - 1:
            break
        step *= 2
    return order.astype(np.int32)


def _links_of(
    position: NDArray[np.int64], linked: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the linked positions of every position of one side, ascending and distinct, and offsets."""
    pairs = np.unique(position << 32 | linked)
    return (pairs & 0xFFFFFFFF).astype(np.int32), offsets_of(np.bincount(pairs >> 32, minlength=size))


def _link_spans(
    link: NDArray[np.int32], begin: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the first linked position on the other side and one past the last; -1 for unaligned words."""
    aligned = np.flatnonzero(np.diff(begin))
    low, high = np.full((2, begin.shape[0] - 1), -1, np.int32)
    low[aligned], high[aligned] = link[begin[aligned]], link[begin[aligned + 1] - 1] + 1
    return low, high
