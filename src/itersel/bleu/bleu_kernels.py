"""N-gram matches with references, and sentence and corpus BLEU from the counts (Papineni et al. 2002).

Shapes: k = hypotheses, h = words of all hypotheses, m = references, N = `ORDER`. Of the translations of a
corpus: H translations.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.bleu.names import LIANG, LIN, NAKOV
from itersel.bleu.order import ORDER
from itersel.bleu.references import References
from itersel.compile.jit import kernel, leaf_kernel
from itersel.storage.arrays import Float64s, Int32s, Int64s

# The counts of a corpus are a vector, in which `MATCHES + n` and `NGRAMS + n` count (n + 1)-grams, `WORDS`
# the words of the translations, and `REFERENCE` those of the references; `COUNTS` is its size. A table of
# translations has `Statistics` instead.
MATCHES = 0
NGRAMS = MATCHES + ORDER
WORDS = NGRAMS
REFERENCE = NGRAMS + ORDER
COUNTS = REFERENCE + 1

WORD_LIMIT = 1 << 31


@leaf_kernel
def find_child(key: Int64s, parent: int, word: int) -> int:
    """Return the slot of the node `word` under `parent`, or the free slot where it belongs."""
    wanted = parent * WORD_LIMIT + word
    mask: int = key.shape[0] - 1
    slot = (word + parent * 7919) & mask
    while key[slot] != wanted and key[slot] != -1:
        slot = (slot + 1) & mask
    return slot


@leaf_kernel
def add_node(key: Int64s, parent: int, word: int) -> int:
    """Return the slot of the node `word` under `parent`, adding the node if it is new."""
    slot = find_child(key, parent, word)
    key[slot] = parent * WORD_LIMIT + word
    return slot


@kernel
def ngram_matches(word: Int32s, word_offset: Int64s, references: References) -> Int64s:
    """Return the clipped matches, int64 (k, N) (Papineni et al. 2002, section 2.1).

    The count of each n-gram is clipped to its maximum count in any single reference. The n-grams of the
    references form a trie in a hash table: a node is identified by its slot, and its key is the slot of its
    parent and its word, so equal keys mean equal n-grams.
    """
    count = word_offset.shape[0] - 1
    capacity = 64
    while capacity < 2 * ORDER * references.word.shape[0]:
        capacity *= 2

    root = capacity
    key = np.full(capacity, -1, np.int64)
    available = np.zeros(capacity, np.int64)
    left = np.zeros(capacity, np.int64)

    for one in range(references.offset.shape[0] - 1):
        stop = references.offset[one + 1]
        for begin in range(references.offset[one], stop):
            node = root
            for position in range(begin, min(begin + ORDER, stop)):
                node = add_node(key, node, int(references.word[position]))
                left[node] += 1

        for slot in range(capacity):
            available[slot] = max(available[slot], left[slot])
            left[slot] = 0

    matches = np.zeros((count, ORDER), np.int64)
    for hypothesis in range(count):
        for slot in range(capacity):
            left[slot] = available[slot]

        end = word_offset[hypothesis + 1]
        for begin in range(word_offset[hypothesis], end):
            node = root
            for n in range(min(ORDER, end - begin)):
                node = find_child(key, node, int(word[begin + n]))
                if key[node] == -1:
                    break
                if left[node] > 0:
                    left[node] -= 1
                    matches[hypothesis, n] += 1
    return matches


@leaf_kernel
def closest_length(lengths: Int64s, length: int, share: float) -> int:
    """Return the length of the reference, int64 (m), closest to that of a hypothesis; ties go to the shorter.

    The hypothesis is compared with this share of each reference's length, 1 for a complete translation.
    """
    closest: int = lengths[0]
    for i in range(1, lengths.shape[0]):
        gap = abs(length - share * lengths[i])
        least = abs(length - share * closest)
        if gap < least or (gap == least and lengths[i] < closest):
            closest = lengths[i]
    return closest


@kernel
def closest_lengths(references: Int64s, lengths: Int64s) -> Int64s:
    """Return the length of the reference, int64 (m), closest to that of each hypothesis, int64 (k)."""
    closest = np.empty(lengths.shape[0], np.int64)
    for i in range(closest.shape[0]):
        closest[i] = closest_length(references, lengths[i], 1.0)
    return closest


@leaf_kernel
def ngram_count(length: int, n: int) -> int:
    """Return the number of n-grams in a text of `length` words."""
    return max(0, length - n + 1)


def ngram_counts(lengths: NDArray[np.integer]) -> Int64s:
    """Return the number of n-grams for n = 1 to N, int64 (..., N), in texts of these lengths, (...)."""
    return np.asarray(np.maximum(0, lengths[..., None] - np.arange(ORDER)), np.int64)


@leaf_kernel
def log_brevity_penalty(hypothesis_length: float, reference_length: float) -> float:
    """Return log BP(h, r) for h > 0."""
    if hypothesis_length > reference_length:
        return 0.0
    return 1.0 - reference_length / hypothesis_length


@leaf_kernel
def brevity_penalty(hypothesis_length: float, reference_length: float) -> float:
    """Return BP(h, r) for h > 0."""
    return math.exp(log_brevity_penalty(hypothesis_length, reference_length))


@leaf_kernel
def mean_precision(matches: Float64s, ngrams: Float64s, order: int, added: float) -> float:
    """Return the geometric mean of the precisions up to `order`; `added` smooths them from n = 2 on."""
    total = 0.0
    for n in range(order):
        smoothing = added if n > 0 else 0.0
        if matches[n] + smoothing == 0.0:
            return 0.0
        total += math.log((matches[n] + smoothing) / (ngrams[n] + smoothing))
    return math.exp(total / order)


@leaf_kernel
def sentence_bleu_of(
    variant: int, matches: Float64s, ngrams: Float64s, reference_length: float, order: int
) -> float:
    """Return sentence BLEU of one hypothesis; `order` is M, the largest order used.

    `variant` is a number of `itersel.bleu.names`.
    """
    hypothesis_length = ngrams[0]
    if hypothesis_length == 0.0 or order == 0:
        return 0.0

    if variant == LIANG:
        total = 0.0
        for n in range(1, order + 1):
            total += mean_precision(matches, ngrams, n, 0.0) / 2.0 ** (ORDER - n + 1)
        return brevity_penalty(hypothesis_length, reference_length) * total

    if variant == NAKOV:
        reference_length += 1.0

    added = 1.0 if variant in (LIN, NAKOV) else 0.0
    penalty = brevity_penalty(hypothesis_length, reference_length)
    return penalty * mean_precision(matches, ngrams, order, added)


@kernel
def sentence_bleus(
    variant: int, matches: Int64s, lengths: Int64s, closest: Int64s, order: int, context: Float64s
) -> Float64s:
    """Return sentence BLEU, float64 (k), with the counts `context` (zeros except for ``chiang``) added.

    `lengths` and `closest`, int64 (k), are the lengths of the hypotheses and of their references; `order` is
    M, see `sentence_bleu_of`.
    """
    count = matches.shape[0]
    bleu = np.empty(count)
    total_matches = np.empty(ORDER)
    total_ngrams = np.empty(ORDER)

    for hypothesis in range(count):
        length = lengths[hypothesis]
        for n in range(ORDER):
            total_matches[n] = context[MATCHES + n] + matches[hypothesis, n]
            total_ngrams[n] = context[NGRAMS + n] + ngram_count(length, n + 1)

        bleu[hypothesis] = sentence_bleu_of(
            variant, total_matches, total_ngrams, context[REFERENCE] + closest[hypothesis], order
        )
    return bleu


def make_counts(matches: NDArray[np.number], ngrams: NDArray[np.number], reference_length: int) -> Float64s:
    """Return counts, float64 (`COUNTS`), from matches and n-grams, (N) each, and the reference length."""
    counts = np.empty(COUNTS)
    counts[MATCHES : MATCHES + ORDER] = matches
    counts[NGRAMS : NGRAMS + ORDER] = ngrams
    counts[REFERENCE] = reference_length
    return counts


class Statistics(NamedTuple):
    """BLEU statistics of translations, from which `add_counts` makes counts.

    int32 (H, N): clipped matches; and int32 (H): words, and words of the reference closest in length.
    """

    matches: Int32s
    length: Int32s
    closest_length: Int32s


@kernel
def bleu_of_counts(counts: Int64s) -> float:
    """Return BLEU between 0 and 1, with brevity penalty; 0 if an order has no match."""
    total = 0.0
    for n in range(ORDER):
        if counts[MATCHES + n] == 0:
            return 0.0
        total += math.log(counts[MATCHES + n] / counts[NGRAMS + n])
    return math.exp(total / ORDER + log_brevity_penalty(counts[WORDS], counts[REFERENCE]))


@leaf_kernel
def add_counts(counts: Int64s, statistics: Statistics, row: int, sign: int) -> None:
    """Add the counts of translation `row` to `counts` (`COUNTS`), or subtract them if `sign` is -1."""
    for n in range(ORDER):
        counts[MATCHES + n] += sign * statistics.matches[row, n]
        counts[NGRAMS + n] += sign * ngram_count(statistics.length[row], n + 1)
    counts[REFERENCE] += sign * statistics.closest_length[row]


@kernel
def best_bleu(score: Float64s, offset: Int64s, statistics: Statistics) -> float:
    """Return BLEU of the best translation of each sentence; ties go to the first."""
    counts = np.zeros(COUNTS, np.int64)
    for sentence in range(offset.shape[0] - 1):
        best = offset[sentence]
        for row in range(offset[sentence] + 1, offset[sentence + 1]):
            if score[row] > score[best]:
                best = row
        add_counts(counts, statistics, best, 1)
    return bleu_of_counts(counts)
