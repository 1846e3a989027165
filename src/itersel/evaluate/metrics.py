"""BLEU, chrF2++ and TER of detokenised text by sacrebleu, cased and lowercased.

sacrebleu counts matches and edits sentence by sentence. This module computes scores from sums of these
counts, for thousands of resampled texts in one pass; tests compare the formulas with sacrebleu's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric as SacreMetric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from itersel.evaluate.bleu import References, signature
from itersel.evaluate.tokenizers import check_tokenizer
from itersel.limits import CASES, LOWER_IS_BETTER, METRICS

Sums = NDArray[np.float64]

# Scores are rounded to this many decimals.
DECIMALS = 10
# sacrebleu's tokenizers for languages without spaces, where TER also has to split text into characters.
UNSPACED = ("zh", "ja-mecab")
ORDERS = 4
# Parameters of chrF2++: orders of character and word n-grams, and the weight of recall.
CHARACTER_ORDERS, WORD_ORDERS, BETA = 6, 2, 2


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A corpus score, computed from sums of counts.

    Attributes
    ----------
    name, case
        One of `FORMULAS`; ``cased`` or ``lowercased``.
    signature
        sacrebleu's signature.
    scale
        Factor that makes the counts whole numbers, whose sums are exact in any order.
    """

    name: str
    case: str
    signature: str
    scale: int = 1

    @property
    def sign(self) -> int:
        """-1 where lower scores are better, else 1."""
        return -1 if self.name in LOWER_IS_BETTER else 1

    def scores(self, sums: Sums) -> Sums:
        """Return the scores (0 to 100; TER may be higher) of corpora whose counts have these sums."""
        with np.errstate(divide="ignore", invalid="ignore"):
            # the last digits of logarithms vary between processors
            return np.round(FORMULAS[self.name](sums), DECIMALS)

    def score(self, counts: Sums) -> float:
        """Return the score of the text with these counts."""
        return float(self.scores(counts.sum(axis=0)))


@dataclass(frozen=True, kw_only=True)
class TextMetric(Metric):
    """A corpus score that can count, because sacrebleu's metric, `counter`, has the references of a text."""

    counter: SacreMetric

    def counts(self, translations: Sequence[str]) -> Sums:
        """Return the counts that the score is computed from: sentences x numbers, all whole."""
        # Undocumented, but sacrebleu has no other way to get counts; see docs/evaluation.md.
        counts = self.counter._extract_corpus_statistics(translations, None)
        return np.rint(np.array(counts, dtype=np.float64) * self.scale)


def make_metrics(references: Sequence[References], tokenizer: str = "13a") -> list[TextMetric]:
    """Return the metrics of the main table: BLEU, chrF2++ and TER, first cased, then lowercased.

    For `references` see `itersel.evaluate.bleu.make_bleu`; `tokenizer` is sacrebleu's for BLEU.
    """
    check_tokenizer(tokenizer)
    # TER divides by the mean length of a sentence's references.
    numbers = {sum(line is not None for line in lines) for lines in zip(*references, strict=True)}
    scale = math.lcm(*(number for number in numbers if number))
    metrics = []
    for case, is_lower in zip(CASES, (False, True), strict=True):
        # force: no warning if the corpus was tokenised; the table says so
        bleu = BLEU(lowercase=is_lower, tokenize=tokenizer, force=True, references=references)  # type: ignore[arg-type]
        chrf = CHRF(lowercase=is_lower, word_order=WORD_ORDERS, references=references)  # type: ignore[arg-type]
        ter = TER(
            case_sensitive=not is_lower,
            normalized=tokenizer in UNSPACED,
            asian_support=tokenizer in UNSPACED,
            references=references,  # type: ignore[arg-type]
        )
        for name, counter in zip(METRICS, (bleu, chrf, ter), strict=True):
            metrics.append(
                TextMetric(
                    name=name,
                    case=case,
                    signature=signature(counter),
                    scale=scale if name == "TER" else 1,
                    counter=counter,
                )
            )
    return metrics


def tokenized_bleu(counter: BLEU) -> TextMetric:
    """Return BLEU of tokenised lowercased text as a metric; see `itersel.evaluate.bleu.make_bleu`."""
    return TextMetric(name=TOKENIZED, case="lowercased", signature=signature(counter), counter=counter)


def bleu_formula(smoothing: str) -> Callable[[Sums], Sums]:
    """Return a function from sums of (length, reference length, 4 x matches, 4 x n-grams) to BLEU.

    With smoothing ``exp``, the n-th order without a match counts as 1/2^n matches, as in mteval-v13a; with
    ``none``, BLEU is 0 if an order has no match.
    """

    def formula(sums: Sums) -> Sums:
        length, reference = sums[..., 0], sums[..., 1]
        matches, total = sums[..., 2 : 2 + ORDERS], sums[..., 2 + ORDERS : 2 + 2 * ORDERS]
        is_missed = matches == 0
        if smoothing == "exp":
            matches = np.where(is_missed, 0.5 ** np.cumsum(is_missed, axis=-1), matches)
        mean = np.log(100 * matches / total).mean(axis=-1)
        brevity = np.where(length < reference, np.exp(1 - reference / length), 1.0)
        # BLEU is 0 without any match, or if the translations have no n-grams of some order
        is_zero = is_missed.all(axis=-1) | (total == 0).any(axis=-1)
        return np.where(is_zero, 0.0, brevity * np.exp(mean))

    return formula


def chrf_formula(sums: Sums) -> Sums:
    """Return chrF2++ from sums of (n-grams, n-grams of the reference, matches) for each order."""
    orders = sums.reshape(*sums.shape[:-1], CHARACTER_ORDERS + WORD_ORDERS, 3)
    own, reference, matches = orders[..., 0], orders[..., 1], orders[..., 2]
    is_there = (own > 0) & (reference > 0)
    number = is_there.sum(axis=-1)
    precision = np.where(is_there, matches / own, 0.0).sum(axis=-1) / number
    recall = np.where(is_there, matches / reference, 0.0).sum(axis=-1) / number
    score = (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)
    return np.where((number > 0) & (precision + recall > 0), 100 * score, 0.0)


def ter_formula(sums: Sums) -> Sums:
    """Return TER from sums of (edits, length of the reference)."""
    edits, reference = sums[..., 0], sums[..., 1]
    without: Any = np.where(edits > 0, 100.0, 0.0)
    return np.where(reference > 0, 100 * edits / reference, without)


TOKENIZED = "tokenized BLEU"
# For each metric, the formula that maps sums of counts, ... x numbers, to scores, ...
FORMULAS = {
    "BLEU": bleu_formula("exp"),
    "chrF2++": chrf_formula,
    "TER": ter_formula,
    TOKENIZED: bleu_formula("none"),
}
# For each metric of detokenised text, the number of counts.
NUMBERS = {"BLEU": 2 + 2 * ORDERS, "chrF2++": 3 * (CHARACTER_ORDERS + WORD_ORDERS), "TER": 2}
