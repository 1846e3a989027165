"""Compiled language models: the content of an ARPA file in arrays that processes map read-only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itersel import __version__
from itersel.corpus.text import split_words
from itersel.errors import FilePath, InputError
from itersel.lm.arpa import Arpa, as_read, parse_arpa
from itersel.lm.lookup_kernels import (
    EXTENDS_LEFT,
    EXTENDS_RIGHT,
    ModelArrays,
    insert,
    ngram_keys,
    score_sentences,
)
from itersel.lm.ngrams import END, START, UNKNOWN, NGrams
from itersel.lm.order import MAX_ORDER
from itersel.storage.arrayfile import DAMAGED, map_arrays, write_arrays
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt8s, UInt64s
from itersel.storage.files import byte_blocks
from itersel.storage.formats import MAX_MAGNITUDE, Array, Arrays, FileFormat, damaged, numbers
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import StringTable, string_table

if TYPE_CHECKING:
    from itersel.lm.estimate import EstimatedModel

# V words, H slots; see ModelArrays
FORMAT = FileFormat(
    "language-model",
    2,
    ("itersel lm compile",),
    {
        "unigram": numbers("<f4", "V", 2),
        "unigram_flags": Array("|u1", ("V",), most=EXTENDS_LEFT | EXTENDS_RIGHT),
        "slots": Array("<u8", ("H", 2)),
        "words_data": Array("|u1", ("bytes of words",)),
        "words_offset": Array("<i8", ("V+1",), into="bytes of words", text="words_data"),
    },
)

# Linear probing: at 0.6, an unsuccessful lookup reads 3.6 slots on average, most in one cache line.
MAXIMUM_LOAD = 0.6

# n-grams looked up or stored at a time while a model is compiled.
BLOCK = 2**18


@dataclass(frozen=True)
class LanguageModel:
    """A compiled language model, mapped read-only.

    Attributes
    ----------
    arrays
        Arrays for the kernels.
    words
        The vocabulary; the id of a word is its row, 0 is ``<unk>``.
    attributes
        Attributes of the file: ``order``, ``arpa_sha256`` (of the uncompressed ARPA file, if there was one),
        numbers of words and n-grams.
    """

    arrays: ModelArrays
    words: StringTable
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return self.arrays.order

    @cached_property
    def ids(self) -> dict[str, int]:
        """Ids by word."""
        return {word: i for i, word in enumerate(self.words.to_list())}


def load_model(path: FilePath) -> LanguageModel:
    """Load a language model that ``itersel lm compile`` wrote, such as ``lm/model.bin`` of a run.

    The file is mapped read-only: processes on one machine share one copy in memory.

    Raises
    ------
    InputError
        If the file is missing, damaged, or not a compiled model.
    """
    return model_of(*map_arrays(path, FORMAT), path)


def model_of(arrays: Arrays, attributes: Mapping[str, Any], path: FilePath) -> LanguageModel:
    """Make a model from the arrays and attributes of a file; the arrays must be as declared.

    Raises an `InputError` if a look-up could loop forever or return a number that is not finite.
    """
    order = attributes.get("order")
    if type(order) is not int or not 1 <= order <= MAX_ORDER:
        raise InputError(DAMAGED, path)

    slots = arrays["slots"]
    capacity = slots.shape[0]
    if capacity < 2 or capacity & (capacity - 1):
        raise damaged(path, "slots", f"has {capacity} rows, which is not a power of two")
    if np.count_nonzero(slots[:, 0]) > MAXIMUM_LOAD * capacity:
        raise damaged(path, "slots", "is too full")

    values = slots.view(np.float32).reshape(capacity, 4)
    for column in (2, 3):
        if not (np.abs(values[:, column]) <= MAX_MAGNITUDE).all():
            raise damaged(path, "slots", f"contains a value that is not finite or beyond {MAX_MAGNITUDE:g}")

    model = LanguageModel(
        ModelArrays(order, arrays["unigram"], arrays["unigram_flags"], slots, values),
        StringTable(arrays["words_data"], arrays["words_offset"]),
        attributes,
    )
    if model.words.count == 0 or model.words.get(0) != UNKNOWN or not {START, END} <= model.ids.keys():
        raise damaged(path, "words_data", f"lacks {UNKNOWN}, {START} or {END}")
    return model


def model_arrays(model: LanguageModel) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model as stored in its file."""
    kept = {name: getattr(model.arrays, name) for name in ("unigram", "unigram_flags", "slots")}
    return {**kept, "words_data": model.words.data, "words_offset": model.words.offset}


def compile_model(arpa: FilePath, path: FilePath, order: int | None = None) -> None:
    """Compile an ARPA file (may be compressed; ``-`` is standard input) to `path`.

    Raises an `InputError` if it is damaged (see `itersel.lm.arpa.parse_arpa`), or not of this order.
    """
    checksum = hashlib.sha256()
    model = parse_arpa(_hashed(arpa, checksum), arpa)

    found = len(model.ngrams)
    if order not in (None, found):
        why = f"is of order {found}, expected order {order}; choose order {found} or a different file"
        raise InputError(why, arpa)

    for grams in model.ngrams:
        if not all((np.abs(numbers) <= MAX_MAGNITUDE).all() for numbers in grams[1:]):
            raise InputError(f"contains a number that is not finite or beyond {MAX_MAGNITUDE:g}", arpa)

    _write_model(model, path, arpa, {"arpa_sha256": checksum.hexdigest()})


def compile_estimate(model: EstimatedModel, path: FilePath) -> None:
    """Compile an estimated model to `path`, as if it had been written as an ARPA file before."""
    ngrams = []
    for order in range(1, len(model.counts) + 1):
        none = NGrams(np.zeros((0, order), np.int32), np.zeros(0), np.zeros(0))
        columns = zip(none, *model.blocks(order), strict=True)
        words, *numbers = (np.concatenate(column) for column in columns)
        ngrams.append(NGrams(words, *map(as_read, numbers)))
    _write_model(Arpa(model.words, ngrams), path, path, {})


def _write_model(model: Arpa, path: FilePath, name: FilePath, more: Mapping[str, Any]) -> None:
    """Write a compiled model; `name` is that of what it is made from, in messages."""
    listed = [grams.words.shape[0] for grams in model.ngrams]
    ngrams = _add_missing_infixes(model.ngrams)
    flags = _flags(ngrams)

    words = string_table(model.words)
    arrays: dict[str, NDArray[Any]] = {
        "words_data": words.data,
        "words_offset": words.offset,
        "unigram": np.column_stack(ngrams[0][1:]).astype(np.float32),
        "unigram_flags": flags[0],
        "slots": _hash_table(ngrams, flags, name),
    }

    attributes = {"order": len(ngrams), "words": words.count, "ngrams": listed, "version": __version__}
    write_arrays(path, FORMAT, arrays, {**attributes, **more})


def _hashed(path: FilePath, checksum: hashlib._Hash) -> Iterator[bytes]:
    """Yield the content of a file in pieces, and add them to the checksum."""
    for piece in byte_blocks(path, is_kept=True):
        checksum.update(piece)
        yield piece


def _slices(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the rows of an array in blocks, at least one: steps take several times as much memory."""
    for begin in range(0, max(array.shape[0], 1), BLOCK):
        yield array[begin : begin + BLOCK]


class _Index:
    """Finds n-grams of one order by their words."""

    def __init__(self, words: Int32s) -> None:
        keys = ngram_keys(words)
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]

    def rows(self, words: Int32s) -> Int64s:
        """Return the row of each n-gram, -1 if it is not listed."""
        keys = ngram_keys(np.ascontiguousarray(words))
        if not self.keys.size:
            return np.full(keys.shape[0], -1)
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.shape[0] - 1)
        return np.where(self.keys[place] == keys, self.order[place], -1)


def _add_missing_infixes(ngrams: list[NGrams]) -> list[NGrams]:
    """Add every missing infix of a listed n-gram, with its backed-off probability.

    Pruned models may lack them, but lookup stops at the first missing n-gram.
    """
    result = list(ngrams)
    first_missing = [grams.words.shape[0] for grams in ngrams]

    for k in range(len(result) - 1, 1, -1):
        longer = result[k].words
        shorter = result[k - 1]
        index = _Index(shorter.words)
        suffixes, prefixes = _slices(longer[:, 1:]), _slices(longer[:, :-1])
        missing = np.concatenate([part[index.rows(part) < 0] for part in chain(suffixes, prefixes)])
        missing = missing[np.unique(ngram_keys(missing), return_index=True)[1]]
        unknown = np.zeros(missing.shape[0])
        parts = [shorter, NGrams(missing, unknown, unknown)]
        result[k - 1] = NGrams(*map(np.concatenate, zip(*parts, strict=True)))

    for k in range(1, len(result) - 1):
        rows = slice(first_missing[k], None)
        words = result[k].words[rows]
        shorter = result[k - 1]
        index = _Index(result[k - 1].words)
        result[k].log10_probability[rows] = (
            shorter.backoff[index.rows(words[:, :-1])] + shorter.log10_probability[index.rows(words[:, 1:])]
        )

    return result


def _flags(ngrams: list[NGrams]) -> list[UInt8s]:
    flags = []
    for k, grams in enumerate(ngrams):
        flag = np.where(grams.backoff != 0, EXTENDS_RIGHT, 0).astype(np.uint8)
        if k + 1 < len(ngrams):
            index = _Index(grams.words)
            for longer in _slices(ngrams[k + 1].words):
                flag[index.rows(longer[:, 1:])] |= EXTENDS_LEFT
                flag[index.rows(longer[:, :-1])] |= EXTENDS_RIGHT
        flags.append(flag)

    # Every suffix of a context is a context, too: the right edge of a chart item is found from short to long.
    for k in range(len(ngrams) - 1, 0, -1):
        index = _Index(ngrams[k - 1].words)
        for words, flag in zip(_slices(ngrams[k].words), _slices(flags[k]), strict=True):
            contexts = words[flag & EXTENDS_RIGHT != 0]
            flags[k - 1][index.rows(contexts[:, 1:])] |= EXTENDS_RIGHT

    return flags


def _hash_table(ngrams: list[NGrams], flags: list[UInt8s], path: FilePath) -> UInt64s:
    count = sum(grams.words.shape[0] for grams in ngrams[1:])
    capacity = 2
    while count > MAXIMUM_LOAD * capacity:
        capacity *= 2

    slots = np.zeros((capacity, 2), np.uint64)
    for grams, flag in zip(ngrams[1:], flags[1:], strict=True):
        blocks = zip(*[_slices(column) for column in (*grams, flag)], strict=True)
        for words, log10_probability, backoff, flags_of_block in blocks:
            values = np.column_stack([log10_probability, backoff]).astype(np.float32)
            rows = np.column_stack([ngram_keys(words) | flags_of_block, values.view(np.uint64)[:, 0]])
            if insert(slots, rows) >= 0:
                # Expected once in 10^7 models of a million n-grams.
                raise InputError("two of its n-grams have the same 62-bit key; change a word of one", path)

    return slots


def score_lines(model: LanguageModel, lines: Iterable[str]) -> tuple[Float64s, Int64s]:
    """Score tokenised sentences, each between ``<s>`` and ``</s>``.

    Returns their log10 probabilities, float64, including ``</s>``, and the numbers of unknown words, int64.
    """
    ids = model.ids
    sentences = [[ids[START], *(ids.get(word, 0) for word in split_words(line)), ids[END]] for line in lines]
    offset = offsets_of([len(sentence) for sentence in sentences])
    words = np.fromiter((word for sentence in sentences for word in sentence), np.int32, int(offset[-1]))
    unknown = np.diff(offsets_of(words == 0)[offset])
    return score_sentences(model.arrays, words, offset), unknown
