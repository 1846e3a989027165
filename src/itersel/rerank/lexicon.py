"""How often words are linked in the training corpus, and what translations score by that.

The lexicon is counted from the symmetrised alignment of the training corpus, or of the part of it
that does not contain the sentences to score.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel import __version__
from itersel.corpus.alignments import Point
from itersel.corpus.vocabulary import Side
from itersel.errors import FilePath, InputError
from itersel.rerank.lexicon_kernels import add_links, lookup_table, sum_of_costs
from itersel.rerank.words import ListWords, sum_words, word_characters
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt64s
from itersel.storage.formats import Array, Arrays, FileFormat, strings
from itersel.storage.hdf5 import read_arrays, write_arrays
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import string_table, strings_in

MOST = 2**52
FORMAT = FileFormat(
    "lexicon",
    1,
    ("itersel step text-models",),
    {
        **strings("source", "V", "source words"),
        **strings("target", "W", "target words"),
        "pair_source": Array("<i4", ("P",), least=0, below="V"),
        "pair_target": Array("<i4", ("P",), least=0, below="W"),
        "pair_count": Array("<i8", ("P",), least=1, most=MOST),
    },
    packed=True,
)


class Lexicon(NamedTuple):
    """Counts of linked words, P pairs; a word without links is linked to NULL, word 0 of the other side."""

    source_words: list[str]
    target_words: list[str]
    source: Int32s  # (P)
    target: Int32s  # (P)
    links: Int64s  # (P)


def count_lexicon(
    source: tuple[Side, Sequence[str]],
    target: tuple[Side, Sequence[str]],
    alignment: Iterable[Sequence[Point]],
    left_out: Collection[int] = (),
    path: FilePath = "",
) -> Lexicon:
    """Count the links of a text, each of whose sides is given with its words, without some of its sentences.

    Raises an InputError that names `path`, the file of the alignment, if there is not one line of it for each
    sentence, or if a link is outside its sentence.
    """
    # tuples would need a multiple of the memory
    flat, sizes = array("i"), array("i")
    for points in alignment:
        flat.extend(chain.from_iterable(points))
        sizes.append(len(points))
    if len(sizes) != source[0].sentence_count:
        raise InputError(f"has {len(sizes)} lines for {source[0].sentence_count} sentences", path)

    positions = np.frombuffer(flat, np.int32)
    link_offset = offsets_of(np.frombuffer(sizes, np.int32))
    is_kept = np.ones(len(sizes), np.bool_)
    is_kept[sorted(left_out)] = False

    sides = source[0], target[0]
    for side, at in zip(sides, (positions[::2], positions[1::2]), strict=True):
        lengths = np.repeat(np.diff(side.offset), sizes)
        if (outside := np.flatnonzero(at >= lengths)).size:
            line = int(np.searchsorted(link_offset, outside[0], "right"))
            raise InputError("has a link to a word that the sentence does not have", path, line)

    links = np.ascontiguousarray(positions[::2]), np.ascontiguousarray(positions[1::2])
    first, second = add_links(*sides[0], *sides[1], *links, link_offset, is_kept)
    code, count = np.unique(first.astype(np.int64) << 32 | second, return_counts=True)
    return Lexicon(
        list(source[1]), list(target[1]), (code >> 32).astype(np.int32), code.astype(np.int32), count
    )


def write_lexicon(path: FilePath, lexicon: Lexicon) -> None:
    """Write a lexicon, whole or not at all."""
    write_arrays(path, FORMAT, lexicon_arrays(lexicon), {"version": __version__})


def lexicon_arrays(lexicon: Lexicon) -> dict[str, NDArray[Any]]:
    """Return the arrays of a lexicon as stored in its file."""
    arrays: dict[str, NDArray[Any]] = {
        "pair_source": lexicon.source,
        "pair_target": lexicon.target,
        "pair_count": lexicon.links,
    }
    for name, words in (("source", lexicon.source_words), ("target", lexicon.target_words)):
        arrays[name], arrays[f"{name}_offset"] = string_table(words)
    return arrays


def read_lexicon(path: FilePath) -> Lexicon:
    """Read a lexicon."""
    return lexicon_of(read_arrays(path, FORMAT)[0])


def lexicon_of(arrays: Arrays) -> Lexicon:
    """Make a lexicon from the arrays of a file, which must be as declared."""
    source, target = (strings_in(arrays, name).to_list() for name in ("source", "target"))
    return Lexicon(source, target, arrays["pair_source"], arrays["pair_target"], arrays["pair_count"])


class LexicalTable:
    """A lexicon as a hash table of the pairs of words of some lists."""

    def __init__(self, lexicon: Lexicon, words: ListWords) -> None:
        source = _places(lexicon.source_words, words.source_words)
        target = _places(lexicon.target_words, words.target_words)
        totals = [
            _totals(word, lexicon.links, len(known))
            for word, known in (
                (lexicon.source, lexicon.source_words),
                (lexicon.target, lexicon.target_words),
            )
        ]
        # how often each word of the lists is linked in the text
        self._source_count = totals[0][source]
        self._target_count = totals[1][target]
        self._known = {
            word for word, count in zip(lexicon.target_words, totals[1].tolist(), strict=False) if count
        }
        self._words = words
        self._table: tuple[UInt64s, Int64s] = lookup_table(*_renumbered(lexicon, source, target))

    def scores(self) -> Float64s:
        """Return log10 p(translation | source) and log10 p(source | translation) by IBM model 1: (H, 2)."""
        words = self._words
        text = (*words.source, *words.target, words.sentence)
        return sum_of_costs(*text, *self._table, self._source_count, self._target_count)

    def unknown_words(self) -> Int64s:
        """Return the number of words of each translation that the text does not have: int64 (H)."""
        return sum_words(self._words.target, self._target_count == 0)

    def unknown_characters(self) -> Int64s:
        """Return the number of characters of each translation that the text does not have: int64 (H)."""
        known = set(chain.from_iterable(map(word_characters, self._known)))
        words = map(word_characters, self._words.target_words)
        count = np.array([sum(one not in known for one in word) for word in words])
        return sum_words(self._words.target, count)


def _places(known: Sequence[str], words: Sequence[str]) -> Int64s:
    """Return the number of each word among those that are known, or -1."""
    numbers = {word: number for number, word in enumerate(known)}
    return np.array([numbers.get(word, -1) for word in words], np.int64)


def _totals(word: Int32s, count: Int64s, known: int) -> Int64s:
    """Return how often each word is linked; the last number, 0, is that of words that are not known."""
    total = np.zeros(known + 1, np.int64)
    np.add.at(total, word, count)
    return total


def _renumbered(lexicon: Lexicon, source: Int64s, target: Int64s) -> tuple[Int32s, Int32s, Int64s]:
    """Return the pairs of a lexicon whose words both occur in the lists, with the numbers they have there."""
    numbers = []
    for positions, known in ((source, lexicon.source_words), (target, lexicon.target_words)):
        number = np.full(len(known), -1, np.int32)
        is_known = positions >= 0
        number[positions[is_known]] = np.flatnonzero(is_known)
        numbers.append(number)
    first, second = numbers[0][lexicon.source], numbers[1][lexicon.target]
    kept = (first >= 0) & (second >= 0)
    return first[kept], second[kept], lexicon.links[kept]
