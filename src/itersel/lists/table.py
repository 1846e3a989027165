"""Translations of sentences in a table: features, quality or what BLEU needs, and perhaps their text.

A table is read from the text of another decoder's lists (`itersel.lists.reading`), from a file
(`itersel.lists.files`), or from the files of all sentences and iterations (`itersel.lists.joining`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import xxhash
from numpy.typing import NDArray

from itersel.bleu.bleu_kernels import Statistics, best_bleu
from itersel.bleu.order import ORDER
from itersel.bleu.references import ReferenceLengths
from itersel.errors import FilePath, InputError
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt64s
from itersel.storage.ragged import begins_run, offsets_of, rows_of
from itersel.storage.strings import StringTable, string_table
from itersel.vectors.sparse_rows import SparseRows
from itersel.vectors.weights import Weights, find_named

# Tuners get dense features rounded to this many decimals, so that rounding errors do not make one of two
# translations with equal features better than the other.
TUNER_DIGITS = 9
# Sums of the same values in a different order differ only after these decimal places.
EQUAL_DIGITS = 6


def feature_exists(name: str, remedy: str, path: FilePath | None = None) -> InputError:
    """Return the error for a further feature whose name is that of a feature of the lists."""
    return InputError(f"the lists already have a feature '{name}'; {remedy}", path)


class TranslationFeatures(Protocol):
    """Sparse features of translations: `SparseRows`, or those that are read from files when needed."""

    @property
    def is_empty(self) -> bool:
        """See `SparseRows`."""

    def take(self, rows: Int64s) -> SparseRows:
        """See `SparseRows`."""

    def scores(self, weights: Weights) -> Float64s:
        """See `SparseRows`."""


class ListTable(NamedTuple):
    """Translations by sentence. Unknown arrays are empty, except that `sentence_reference_offset` may be [0].

    The score of a translation is always the model's, the weighted sum of its features. Its quality is what
    learners and tuners want the score to agree with: BLEU, or a number of its own. Quality is from 0 to 1
    (`itersel.bleu.points`), higher is better; the quality by TER is its negative, at most 0.

    Shapes: N sentences, M references, H translations, C dense features.
    """

    offset: Int64s  # (N + 1): the translations of each sentence
    dense: Float64s  # (H, C)
    dense_names: tuple[str, ...]  # (C)
    sparse: TranslationFeatures
    text: StringTable = string_table(())  # (H): cleaned, or tokenised
    # int64 (M) and (N + 1): words of each reference, and the references of each sentence
    reference_length: Int64s = np.zeros(0, np.int64)
    sentence_reference_offset: Int64s = np.zeros(1, np.int64)
    # for BLEU; only lengths (H) count if there are no references
    statistics: Statistics = Statistics(
        np.zeros((0, ORDER), np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32)
    )
    quality: Float64s = np.zeros(0)  # (H): what to learn from instead of BLEU

    @property
    def sentence_count(self) -> int:
        """Number of sentences."""
        return int(self.offset.shape[0]) - 1

    @property
    def translation_count(self) -> int:
        """Number of translations."""
        return int(self.dense.shape[0])

    @property
    def sentence(self) -> Int64s:
        """The sentence of each translation, int64 (H)."""
        return rows_of(self.offset)

    @property
    def sparse_rows(self) -> SparseRows:
        """The sparse features, which must be in memory."""
        assert isinstance(self.sparse, SparseRows)
        return self.sparse

    @property
    def feature_key(self) -> UInt64s:
        """Keys of the sparse features, uint64 (F)."""
        return self.sparse_rows.key

    @property
    def feature_name(self) -> StringTable:
        """Names of the sparse features (F)."""
        return self.sparse_rows.name

    @property
    def has_quality(self) -> bool:
        """Whether there is a quality to learn from instead of BLEU."""
        return bool(self.quality.shape[0])

    @property
    def can_be_learned_from(self) -> bool:
        """Whether there are references, or a quality."""
        return self.has_quality or bool(self.reference_length.any())

    @property
    def longest_reference(self) -> Int64s:
        """Words of the longest reference of each sentence, int64 (N)."""
        if not self.reference_length.shape[0]:
            return np.zeros(self.sentence_count, np.int64)
        return np.maximum.reduceat(self.reference_length, self.sentence_reference_offset[:-1])

    @property
    def mean_reference(self) -> Float64s:
        """Mean words of each sentence's references, float64 (N); without any, of its translations."""
        if self.reference_length.shape[0]:
            return _means(self.reference_length, self.sentence_reference_offset)
        return _means(self.statistics.length, self.offset)

    def take(self, rows: Int64s, sentence: Int64s | None = None) -> ListTable:
        """Return some translations, which are in the order of their sentences; references stay the same.

        `sentence` is that of each translation (H), if those of the table are not in this order.
        """
        sentence = (self.sentence if sentence is None else sentence)[rows]

        def taken(column: NDArray[Any]) -> NDArray[Any]:
            return column[rows] if column.shape[0] else column

        return self._replace(
            offset=offsets_of(np.bincount(sentence, minlength=self.sentence_count)),
            dense=self.dense[rows],
            sparse=self.sparse.take(rows),
            text=self.text.take(rows) if self.text.count else self.text,
            statistics=Statistics(*map(taken, self.statistics)),
            quality=taken(self.quality),
        )

    def reference_lengths(self, sentence: int) -> ReferenceLengths:
        """Return the lengths of the references of a sentence; without any, that of an empty one."""
        if not self.reference_length.shape[0]:
            return ReferenceLengths(np.zeros(1, np.int64))
        return ReferenceLengths(
            self.reference_length[slice(*self.sentence_reference_offset[sentence : sentence + 2])]
        )

    def features_of(self, begin: int, end: int) -> tuple[Int32s, Int32s, Int64s]:
        """Return the translations of sentences `begin` to `end`, and the sparse features of all."""
        rows = np.arange(*self.offset[[begin, end]], dtype=np.int32)
        return rows, self.sparse_rows.feature, self.sparse_rows.offset

    def scores(self, weights: Weights) -> Float64s:
        """Return the model score of each translation, float64 (H); features without a weight count 0."""
        score = dense_scores(self.dense, find_named(weights, self.dense_names))
        return score + self.sparse.scores(weights)

    def scores_of(self, rows: Int64s, dense: Float64s, sparse: Float64s) -> Float64s:
        """Return the model scores of some translations, given the weight of each feature, (C) and (F)."""
        return dense_scores(self.dense[rows], dense) + self.sparse_rows.take(rows).scores_of(sparse)

    def quality_of_best(self, score: Float64s) -> float:
        """Return corpus BLEU, or the mean quality, of the translations with the highest scores (H)."""
        if not self.has_quality:
            return float(best_bleu(score, self.offset, self.statistics))
        begin = self.offset[:-1]
        highest = np.repeat(np.maximum.reduceat(score, begin), np.diff(self.offset))
        rows = np.flatnonzero(score == highest)
        # its sum is exact: the same on all processors
        return fmean(self.quality[rows[np.searchsorted(rows, begin)]].tolist())

    def check_matches(self, path: FilePath) -> None:
        """Raise an InputError if BLEU is 0 whichever translations are chosen."""
        for n in range(ORDER):
            if not self.statistics.matches[:, n].any():
                raise InputError(
                    f"BLEU is 0 for all weights: no translation in any list has a {n + 1}-gram of its "
                    f"reference; use better weights, larger lists, or references of at least {n + 1} words",
                    path,
                )

    def ranked(self, score: Float64s, k_best: int) -> Iterator[Int64s]:
        """Yield the `k_best` best translations of each sentence, best first; ties keep their order."""
        for begin, end in pairwise(self.offset):
            yield begin + best_first(score[begin:end], k_best)

    def best_texts(self, weights: Weights, ranking: Ranking = ranked) -> Iterator[str]:
        """Yield the best translation of each sentence, by default that of the highest score."""
        for rows in ranking(self, self.scores(weights), 1):
            yield self.text.get(int(rows[0]))


# Yields the best translations of each sentence as `ListTable.ranked` does, given their model scores.
Ranking: TypeAlias = Callable[[ListTable, Float64s, int], Iterator[Int64s]]


def _means(value: NDArray[np.integer], offset: Int64s) -> Float64s:
    return np.asarray(np.add.reduceat(value, offset[:-1]) / np.diff(offset), np.float64)


def dense_scores(dense: Float64s, weight: Float64s) -> Float64s:
    """Return the scores of dense features (H, C), given the weight of each (C): float64 (H)."""
    score = np.zeros(dense.shape[0])
    # not a matrix product, whose order of additions depends on the processor
    for column, one in zip(dense.T, weight, strict=True):
        score += column * one
    return score


def best_first(score: Float64s, k_best: int) -> Int64s:
    """Return the positions of the `k_best` highest scores, best first; ties keep their order."""
    return np.argsort(-score, kind="stable")[:k_best]


def rounded(values: Float64s, digits: int = TUNER_DIGITS) -> Float64s:
    """Return rounded values of features, by default as tuners need them; see `TUNER_DIGITS`."""
    result = np.round(values, digits)
    # turns -0.0 into 0.0; without a further copy
    result += 0.0
    return result


def hash_rows(table: ListTable) -> UInt64s:
    """Return hashes of words and features (XXH3, 128 bits) of a table with text, uint64 (H, 2).

    Translations of a sentence are equal if their words and features are. Keys, not numbers, of sparse
    features are hashed, so hashes are the same in all files.
    """
    sparse, text = table.sparse_rows, table.text
    dense = rounded(table.dense, EQUAL_DIGITS)
    value = rounded(sparse.value, EQUAL_DIGITS)
    key = sparse.key[sparse.feature]

    hashes = np.empty((dense.shape[0], 2), np.uint64)
    bounds = zip(pairwise(text.offset.tolist()), pairwise(sparse.offset.tolist()), strict=True)
    for row, (of_text, (begin, end)) in enumerate(bounds):
        hasher = xxhash.xxh3_128(text.data[slice(*of_text)].tobytes() + b"\0")
        hasher.update(dense[row].tobytes())
        hasher.update(key[begin:end].tobytes())
        hasher.update(value[begin:end].tobytes())
        hashes[row] = np.frombuffer(hasher.digest(), ">u8")
    return hashes


def first_of_equal(sentence: Int64s, hashes: UInt64s) -> Int64s:
    """Return the first of all equal translations: rows by sentence, then in the given order, int64."""
    # the last key is the primary one
    order = np.lexsort((hashes[:, 1], hashes[:, 0], sentence))
    kept = np.sort(order[begins_run(sentence[order], *hashes[order].T)])
    return kept[np.argsort(sentence[kept], kind="stable")]
