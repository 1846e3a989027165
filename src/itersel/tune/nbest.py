"""Tuning on n-best lists of any decoder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.config.tuners import Batch, ForestMert, LineSearch, Mert
from itersel.corpus.text import split_words
from itersel.errors import InputError
from itersel.evaluate.metrics import References
from itersel.grammar.references import References as ReferenceWords
from itersel.learn.bleu_kernels import ORDER, Statistics, closest_lengths, ngram_matches
from itersel.nbest.lists import NBest, read_nbest
from itersel.nbest.quality import METRIC_QUALITIES, metric_quality, read_quality
from itersel.nbest.rescore import scores as rescored
from itersel.storage.formats import FilePath
from itersel.storage.strings import offsets_of, places_of, take_rows
from itersel.tune.accumulate import Pool, SparseRows, check_matches
from itersel.tune.generate import DIGITS, HASH_DIGITS
from itersel.tune.task import Task
from itersel.tune.tuner import Tuned, tune_task
from itersel.vectors.features import feature_keys, unique_features
from itersel.vectors.weights import Weights, find_weights, make_weights, take_weights

# MERT searches along the axis of each feature.
MAX_SEARCHED = 500


class NBestLists(NamedTuple):
    """n-best lists to tune on; see `itersel.tune.accumulate.Lists`."""

    name: str  # name in messages
    lists: NBest  # the lists, without duplicates
    dense: NDArray[np.int64]  # features that are dense, int64 (C); all others are sparse
    # for each sentence, its references as lists of words; None if there is a quality
    references: Sequence[Sequence[list[str]]] | None
    quality: NDArray[np.float64]  # float64 (H): what to tune for; no rows: corpus BLEU

    @property
    def dense_names(self) -> Sequence[str]:
        """Names of the dense features."""
        return self.lists.name.take(self.dense).to_list()

    def pool(self) -> Pool:
        """Return the lists."""
        lists = self.lists
        words = [split_words(text) for text in lists.text]
        length = np.array([len(one) for one in words], np.int32)
        matches = np.zeros((length.shape[0], ORDER), np.int32)
        closest = np.zeros(length.shape[0], np.int32)
        longest = np.zeros(lists.sentence_count, np.int64)
        mean_length = np.add.reduceat(length, lists.offset[:-1]) / np.diff(lists.offset)
        if self.references is not None:
            numbers: dict[str, int] = {}
            for sentence, references in enumerate(self.references):
                rows = slice(*lists.offset[sentence : sentence + 2].tolist())
                word, offset = _numbered(words[rows], numbers)
                found = ReferenceWords(*_numbered(references, numbers))
                matches[rows] = ngram_matches(word, offset, found)
                closest[rows] = closest_lengths(found.lengths, np.diff(offset))
                longest[sentence], mean_length[sentence] = found.longest, found.mean_length
        statistics = Statistics(matches, length, closest)
        if not self.quality.shape[0]:
            check_matches(statistics, self.name)
        dense = np.zeros((length.shape[0], self.dense.shape[0]))
        column = np.full(lists.name.count, -1)
        column[self.dense] = np.arange(self.dense.shape[0])
        is_dense = column[lists.feature] >= 0
        dense[lists.translation[is_dense], column[lists.feature[is_dense]]] = lists.value[is_dense]
        # as in itersel's own lists, so that translations with the same features are ties
        dense = np.round(dense, DIGITS) + 0.0
        origin = np.arange(length.shape[0])
        return Pool(lists.offset, longest, mean_length, statistics, dense, origin, self.quality)

    def sparse(self, origin: NDArray[np.int64]) -> SparseRows:
        """Return the sparse features of translations."""
        lists = self.lists
        is_sparse = np.ones(lists.name.count, bool)
        is_sparse[self.dense] = False
        kept = np.flatnonzero(is_sparse)
        names = lists.name.take(kept)
        keys = feature_keys(names)
        number = np.full(is_sparse.shape[0], -1, np.int32)
        number[kept[np.argsort(keys, kind="stable")]] = np.arange(kept.shape[0])
        key, name = unique_features(keys, names)
        place, _ = places_of(lists.feature_offset, origin)
        row = np.repeat(np.arange(origin.shape[0]), np.diff(lists.feature_offset)[origin])
        feature = number[lists.feature[place]]
        # by translation, then in the order of the keys
        order = np.lexsort((feature, row))
        order = order[feature[order] >= 0]
        counts = np.bincount(row[order], minlength=origin.shape[0])
        return SparseRows(feature[order], lists.value[place][order], offsets_of(counts), key, name)

    def sparse_scores(self, origin: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
        """Return the scores of the sparse features of translations, float64 (rows)."""
        rows = self.sparse(origin)
        weighted = find_weights(weights, rows.key)[rows.feature] * rows.value
        number = np.repeat(np.arange(origin.shape[0]), np.diff(rows.offset))
        return np.bincount(number, weighted, minlength=origin.shape[0]).astype(np.float64)


def _numbered(
    sentences: Sequence[list[str]], numbers: dict[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return words as numbers, int32, and where each sentence begins; new words get the next number."""
    word = [numbers.setdefault(word, len(numbers)) for words in sentences for word in words]
    return np.array(word, np.int32), offsets_of([len(words) for words in sentences])


def without_duplicates(lists: NBest) -> NBest:
    """Return the first of all translations of a sentence that have the same words and features."""
    value = np.round(lists.value, HASH_DIGITS) + 0.0  # turns -0.0 into 0.0
    seen, kept = set[tuple[int, str, bytes, bytes]](), []
    for row, (sentence, text) in enumerate(zip(lists.sentence.tolist(), lists.text, strict=True)):
        features = slice(*lists.feature_offset[row : row + 2].tolist())
        one = (sentence, text, lists.feature[features].tobytes(), value[features].tobytes())
        if one not in seen:
            seen.add(one)
            kept.append(row)
    rows = np.array(kept, np.int64)
    feature, offset = take_rows(lists.feature, lists.feature_offset, rows)
    return lists._replace(
        offset=offsets_of(np.bincount(lists.sentence[rows], minlength=lists.sentence_count)),
        text=[lists.text[row] for row in kept],
        feature=feature,
        value=take_rows(lists.value, lists.feature_offset, rows)[0],
        feature_offset=offset,
        line=[lists.line[row] for row in kept],
        row=lists.row[rows],
    )


def tune_nbest(
    settings: Batch,
    paths: Sequence[FilePath],
    references: Sequence[References] = (),
    *,
    start: Weights | None = None,
    scores: Mapping[str, FilePath] | None = None,
    quality: str = "bleu",
    words: Callable[[str], str] = str,
    seed: int = 1,
) -> tuple[Tuned, NBest]:
    """Tune weights on n-best lists, and return them with the lists.

    Parameters
    ----------
    settings
        Settings of a tuner: MERT, PRO or k-best MIRA.
    paths, scores
        See `itersel.nbest.lists.read_nbest`.
    references
        One or more reference translations, each with one line per sentence; None where a sentence has fewer.
    start
        Weights to start from; by default, all are 0, for MERT 1: with 0, all translations are ties. Those of
        features that are in no list stay as they are.
    quality
        ``bleu``, ``chrf``, ``ter``, or a file with a number for each translation, higher is better.
    words
        Tokenises translations and references for BLEU; by default, words are separated by spaces.
    seed
        Random seed.
    """
    if isinstance(settings, ForestMert | LineSearch):
        raise InputError("n-best lists are tuned with mert, pro or kbest-mira")
    is_scored = quality != "bleu" and quality not in METRIC_QUALITIES
    if not references and not is_scored:
        raise InputError(f"quality {quality} needs references")
    lists = read_nbest(paths, len(references[0]) if references else None, scores)
    values, split = np.zeros(0), None
    if quality == "bleu":
        lines = zip(*references, strict=True)
        lists = lists._replace(text=[words(text) for text in lists.text])
        split = [[split_words(words(line)) for line in one if line is not None] for one in lines]
    kept = without_duplicates(lists)
    if is_scored:
        values = read_quality(quality, len(lists.text))[kept.row]
    elif quality != "bleu":
        values = metric_quality(kept, references, quality)
    name = os.fspath(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
    if start is None:
        start = make_weights(dict.fromkeys(kept.name.to_list(), 1.0) if isinstance(settings, Mert) else {})
    listed = np.isin(start.key, feature_keys(kept.name))
    ours = NBestLists(name, kept, _dense_features(kept, settings, name), split, values)
    task = Task(ours, take_weights(start, listed), seed=(seed,), has_quality=quality != "bleu")
    tuned = tune_task(settings, task)
    # Moses's lists lack features that are not to be tuned, such as UnknownWordPenalty0
    others = take_weights(start, ~listed).to_dict()
    before = ours.pool().best(rescored(kept, start)) * (100 if quality == "bleu" else 1)
    weights = make_weights(tuned.weights.to_dict() | others)
    return tuned._replace(weights=weights, start_score=before), kept


def _dense_features(lists: NBest, settings: Batch, name: str) -> NDArray[np.int64]:
    """Return the features that get a column: those of most translations, or, for MERT, all."""
    count = lists.name.count
    if not isinstance(settings, Mert):
        times = np.bincount(lists.feature, minlength=count)
        return np.flatnonzero(2 * times >= len(lists.text))
    if count > MAX_SEARCHED:
        raise InputError(
            f"has {count} features; MERT tunes at most {MAX_SEARCHED}; choose kbest-mira or pro", name
        )
    return np.arange(count)
