"""The formulas of corpus scores, for sums of sacrebleu's counts.

They score thousands of resampled texts in one pass; tests compare them with sacrebleu's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from itersel.bleu.order import ORDER
from itersel.evaluate.chrf import BETA, CHARACTER_ORDER, WORD_ORDER
from itersel.evaluate.names import BLEU, CHRF, CHRF_OF_WORDS, METRICS, TER, TOKENIZED_BLEU
from itersel.storage.arrays import Float64s

# Sums of counts, or counts: ... x numbers.
Sums = Float64s

# Numbers that users give are rounded to six decimals, so that sums of whole numbers are exact in any order.
USER_SCALE = 10**6
# sacrebleu's counts for BLEU: length, length of the references, matches of each order, n-grams of each order.
BLEU_LENGTH, BLEU_REFERENCE = 0, 1
BLEU_MATCHES = slice(2, 2 + ORDER)
BLEU_NGRAMS = slice(BLEU_MATCHES.stop, BLEU_MATCHES.stop + ORDER)
# sacrebleu's counts for chrF: for each order, n-grams, n-grams of the reference, and matches.
CHRF_COUNTS = 3
CHRF_NGRAMS = slice(0, None, CHRF_COUNTS)
CHRF_REFERENCE = slice(1, None, CHRF_COUNTS)
CHRF_MATCHES = slice(2, None, CHRF_COUNTS)


def user_formula(sums: Sums) -> Sums:
    """Return the mean of numbers from sums of (number, 1 for each)."""
    return sums[..., 0] / (sums[..., 1] * USER_SCALE)


def bleu_formula(sums: Sums, smoothing: str = "exp") -> Sums:
    """Return BLEU from sums of sacrebleu's counts.

    With smoothing ``exp``, the n-th order without a match counts as 1/2^n matches, as in mteval-v13a; with
    ``none``, BLEU is 0 if an order has no match.
    """
    length, reference = sums[..., BLEU_LENGTH], sums[..., BLEU_REFERENCE]
    matches, total = sums[..., BLEU_MATCHES], sums[..., BLEU_NGRAMS]

    is_missed = matches == 0
    if smoothing == "exp":
        smoothed = np.ldexp(1.0, -np.cumsum(is_missed, axis=-1))
        matches = np.where(is_missed, smoothed, matches)
    mean_log = np.log(100 * matches / total, dtype=np.longdouble).mean(axis=-1)
    mean_precision = np.exp(mean_log, dtype=np.longdouble)

    penalty = np.exp(1 - reference / length, dtype=np.longdouble)
    brevity_penalty = np.where(length < reference, penalty, 1.0)

    # BLEU is 0 without any match, or if the translations have no n-grams of some order
    is_zero = is_missed.all(axis=-1) | (total == 0).any(axis=-1)
    bleu = np.where(is_zero, 0.0, brevity_penalty * mean_precision)
    return bleu.astype(np.float64)


def chrf_formula(sums: Sums) -> Sums:
    """Return chrF or chrF++ from sums of sacrebleu's counts."""
    own = sums[..., CHRF_NGRAMS]
    reference = sums[..., CHRF_REFERENCE]
    matches = sums[..., CHRF_MATCHES]

    # means are over the orders of which both sides have n-grams
    is_there = (own > 0) & (reference > 0)
    number = is_there.sum(axis=-1)
    precision = np.where(is_there, matches / own, 0.0).sum(axis=-1) / number
    recall = np.where(is_there, matches / reference, 0.0).sum(axis=-1) / number

    score = (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)
    return np.where((number > 0) & (precision + recall > 0), 100 * score, 0.0)


def ter_formula(sums: Sums) -> Sums:
    """Return TER from sums of (edits, length of the reference)."""
    edits, reference = sums[..., 0], sums[..., 1]
    without_reference: Any = np.where(edits > 0, 100.0, 0.0)
    return np.where(reference > 0, 100 * edits / reference, without_reference)


class Counted(NamedTuple):
    """What sacrebleu counts for a kind of metric, and how a score is computed from it."""

    formula: Callable[[Sums], Sums]  # from sums of counts, ... x numbers, to scores, ...
    numbers: int
    # which of the numbers are matches, and n-grams, of all orders
    matches: slice = slice(0, 0)
    ngrams: slice = slice(0, 0)


COUNTED: Mapping[str, Counted] = {
    BLEU: Counted(bleu_formula, BLEU_NGRAMS.stop, BLEU_MATCHES, BLEU_NGRAMS),
    CHRF: Counted(chrf_formula, CHRF_COUNTS * CHARACTER_ORDER, CHRF_MATCHES, CHRF_NGRAMS),
    CHRF_OF_WORDS: Counted(
        chrf_formula, CHRF_COUNTS * (CHARACTER_ORDER + WORD_ORDER), CHRF_MATCHES, CHRF_NGRAMS
    ),
    TER: Counted(ter_formula, 2),
}


def formula_of(name: str) -> Callable[[Sums], Sums]:
    """Return the formula of a metric, or of a user's own score."""
    if name not in METRICS:
        return user_formula
    if name == TOKENIZED_BLEU:
        return partial(bleu_formula, smoothing="none")
    return COUNTED[METRICS[name].kind].formula
