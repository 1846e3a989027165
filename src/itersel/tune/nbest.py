"""Tuning on n-best lists of any decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from itersel.bleu.references import join_references
from itersel.bleu.score_kernels import ORDER, Statistics, closest_lengths, ngram_matches
from itersel.config.learners import TUNERS, Batch
from itersel.corpus.text import split_words
from itersel.corpus.vocabulary import Side, WordNumbers, number_words
from itersel.errors import InputError, check_choice
from itersel.evaluate.epochs import sign_of
from itersel.evaluate.metrics import References, checked_references, make_metrics, tokenizer_for_bleu
from itersel.nbest.lists import NBest, read_nbest, read_quality, without_duplicates
from itersel.nbest.weights import as_weights, score_lists
from itersel.run.progress import progress
from itersel.storage.arrays import Float64s, Int64s
from itersel.storage.formats import FilePath
from itersel.storage.strings import offsets_of, take_rows
from itersel.tune.accumulate import Pool, SparseRows, check_matches, name_of
from itersel.tune.generate import DIGITS
from itersel.tune.task import Task
from itersel.tune.tuner import tune_task
from itersel.vectors.features import feature_keys, unique_features
from itersel.vectors.weights import Weights, make_weights, take_weights

# MERT searches along the axis of each feature.
MAX_SEARCHED = 500
# Names of sentence-level scores, and of sacrebleu's metrics that compute them.
METRIC_QUALITIES = {"chrf": "chrF2++", "ter": "TER"}


class NBestLists(NamedTuple):
    """n-best lists to tune on, with the methods of `itersel.tune.accumulate.FileLists`."""

    name: str
    lists: NBest  # without duplicates
    is_dense: bool  # all features are dense; otherwise, all are sparse
    made: Pool

    @property
    def dense_names(self) -> Sequence[str]:
        """Names of the dense features."""
        return self.lists.name.to_list() if self.is_dense else []

    def pool(self) -> Pool:
        """Return the lists."""
        return self.made

    def sparse(self, origin: Int64s) -> SparseRows:
        """Return the sparse features of translations."""
        lists = self.lists
        feature, offset = take_rows(lists.feature, lists.feature_offset, origin)
        value, _ = take_rows(lists.value, lists.feature_offset, origin)
        return SparseRows(feature, value, offset, feature_keys(lists.name), lists.name)

    def sparse_scores(self, origin: Int64s, weights: Weights) -> Float64s:
        """Return the scores of the sparse features of translations, float64 (rows)."""
        return score_lists(self.lists, weights)[origin]


def by_key(lists: NBest) -> NBest:
    """Return lists whose features are numbered by key, as those in itersel's own lists are."""
    keys = feature_keys(lists.name)
    ascending, name = unique_features(keys, lists.name)
    feature = np.searchsorted(ascending, keys)[lists.feature].astype(np.int32)
    order = np.lexsort((feature, lists.translation))
    return lists._replace(feature=feature[order], value=lists.value[order], name=name)


def pool_of(lists: NBest, is_dense: bool, references: Sequence[Sequence[str]], quality: Float64s) -> Pool:
    """Return lists as tuners need them; `references` are needed only for BLEU."""
    numbers = WordNumbers()

    def numbered(lines: Sequence[str]) -> Side:
        return number_words(list(map(split_words, lines)), numbers)

    word, offset = numbered(lists.text)
    length = np.diff(offset).astype(np.int32)
    matches = np.zeros((length.shape[0], ORDER), np.int32)
    closest = np.zeros(length.shape[0], np.int32)
    longest = np.zeros(lists.sentence_count, np.int64)
    mean_length = np.add.reduceat(length, lists.offset[:-1]) / np.diff(lists.offset)
    joined = join_references(list(map(numbered, references)))
    for sentence, (begin, end) in enumerate(pairwise(lists.offset.tolist() if references else ())):
        found, ends = joined.of_sentence(sentence), offset[begin : end + 1]
        matches[begin:end] = ngram_matches(word, ends, found)
        closest[begin:end] = closest_lengths(found.lengths, np.diff(ends))
        longest[sentence], mean_length[sentence] = found.longest, found.mean_length
    dense = np.zeros((length.shape[0], lists.name.count if is_dense else 0))
    if is_dense:
        # rounded as in itersel's own lists, so that translations with the same features are ties
        dense[lists.translation, lists.feature] = np.round(lists.value, DIGITS) + 0.0
    statistics = Statistics(matches, length, closest)
    return Pool(lists.offset, longest, mean_length, statistics, dense, np.arange(length.shape[0]), quality)


class TunedLists(NamedTuple):
    """Result of tuning on n-best lists.

    Attributes
    ----------
    weights
        All non-zero weights.
    score, start_score
        Of the best translations in the lists under these and the start weights: corpus BLEU, 0 to 100, or the
        mean quality.
    sentences, translations
        Number of sentences, and of different translations.
    sizes
        Number of values of each name that ended in ``=`` in the lists; see `write_weights`.
    absent
        Features that have a start weight, but are in no list; they keep it.
    """

    weights: Weights
    score: float
    start_score: float
    sentences: int
    translations: int
    sizes: Mapping[str, int]
    absent: Sequence[str]


def tune_nbest(
    lists: Sequence[FilePath],
    *references: References,
    tuner: Batch | str = "kbest-mira",
    start: Weights | Mapping[str, float] | None = None,
    scores: Mapping[str, FilePath] | None = None,
    quality: str = "bleu",
    words: Callable[[str], str] | None = None,
    seed: int = 1,
) -> TunedLists:
    """Tune weights on n-best lists of any decoder, as ``itersel tune --nbest`` does.

    Parameters
    ----------
    lists
        Files of lists, such as those of several iterations.
    *references
        One or more reference translations, each with one line per sentence.
    tuner
        `Mert`, `Pro` or `KBestMira`, or the name of a tuner.
    start
        Weights to start from. By default, all are 0; for `Mert` 1, because with 0, all translations are ties.
    scores
        Further features: for each, a file with a number for each line of the lists.
    quality
        ``bleu``, ``chrf``, ``ter``, or a file with a number for each line of the lists, higher is better.
    words
        Tokenises translations and references for BLEU; by default 13a, as `itersel.compare` does.
    seed
        Random seed.

    Returns
    -------
    TunedLists
        Weights, and what they reach.

    Raises
    ------
    InputError
        If the lists cannot be read, or nothing can be learned from them.
    """
    if isinstance(tuner, str):
        check_choice("tuner", tuner, TUNERS)
    settings = TUNERS[tuner]() if isinstance(tuner, str) else tuner
    if settings.reads_forests or settings.is_held_out_only:
        known = ", ".join(name for name, one in TUNERS.items() if not one.reads_forests)
        raise InputError(f"n-best lists are tuned with one of {known}")
    ours = _read_lists(lists, references, settings, scores, quality, words or tokenizer_for_bleu())
    begin = as_weights(dict.fromkeys(ours.dense_names, 1.0) if start is None else start)
    # Moses's lists lack features that are not to be tuned, such as UnknownWordPenalty0
    listed = np.isin(begin.key, feature_keys(ours.lists.name))
    others = take_weights(begin, ~listed).to_dict()
    task = Task(ours, take_weights(begin, listed), seed=(seed,), has_quality=quality != "bleu")
    found = tune_task(settings, task)
    return TunedLists(
        make_weights(found.weights.to_dict() | others),
        found.score,
        ours.made.best(score_lists(ours.lists, begin)) * (100 if quality == "bleu" else 1),
        found.sentences,
        found.translations,
        ours.lists.sizes,
        sorted(others),
    )


def metric_quality(lists: NBest, references: Sequence[References], name: str) -> Float64s:
    """Return cased sentence-level ``chrf`` (chrF2++), 0 to 1, or negative ``ter``: float64 (H).

    In the reference translations of the text, None stands where a sentence has fewer.
    """
    metric = next(one for one in make_metrics(references) if one.name == METRIC_QUALITIES[name])
    # translations that differ only in their features are counted once
    numbers: dict[tuple[int, str], int] = {}
    pairs = zip(lists.sentence.tolist(), lists.text, strict=True)
    number = [numbers.setdefault(pair, len(numbers)) for pair in pairs]
    texts = [text for _, text in numbers]
    sizes = np.bincount([sentence for sentence, _ in numbers], minlength=lists.sentence_count)
    offset, quality = offsets_of(sizes), np.empty(len(texts))
    for rank in progress(range(int(sizes.max())), f"count {metric.name} of the n-th translations"):
        # sacrebleu counts a text at a time: the translations at this rank, empty lines for shorter lists
        has_rank = rank < sizes
        rows = np.where(has_rank, offset[:-1] + rank, -1).tolist()
        found = metric.scores(metric.counts([texts[row] if row >= 0 else "" for row in rows]))
        quality[offset[:-1][has_rank] + rank] = sign_of(metric.name) * found[has_rank] / 100
    return quality[number]


def _read_lists(
    paths: Sequence[FilePath],
    references: Sequence[References],
    tuner: Batch,
    scores: Mapping[str, FilePath] | None,
    quality: str,
    words: Callable[[str], str],
) -> NBestLists:
    """Return the lists as the tuner needs them; see `tune_nbest`."""
    is_given = quality != "bleu" and quality not in METRIC_QUALITIES
    if not references and not is_given:
        raise InputError(f"quality {quality} needs references")
    texts = checked_references(references)
    read = read_nbest(paths, len(texts[0]) if texts else None, scores)
    tokenized: list[list[str]] = []
    if quality == "bleu":
        read = read._replace(text=[words(text) for text in read.text])
        tokenized = [["" if line is None else words(line) for line in text] for text in texts]
    kept, values = without_duplicates(read), np.zeros(0)
    if is_given:
        values = read_quality(quality, len(read.text))[kept.row]
    elif quality != "bleu":
        values = metric_quality(kept, texts, quality)
    is_dense, count, name = tuner.searches, kept.name.count, name_of(paths)
    if is_dense and count > MAX_SEARCHED:
        why = f"MERT tunes at most {MAX_SEARCHED}; choose kbest-mira or pro"
        raise InputError(f"has {count} features; {why}", name)
    kept = kept if is_dense else by_key(kept)
    pool = pool_of(kept, is_dense, tokenized, values)
    if quality == "bleu":
        check_matches(pool.statistics, name)
    return NBestLists(name, kept, is_dense, pool)
