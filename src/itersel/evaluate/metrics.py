"""Metrics by sacrebleu: BLEU of tokenised text; BLEU, chrF, chrF++ and TER of detokenised text.

sacrebleu counts matches and edits sentence by sentence; `itersel.evaluate.formulas` computes scores from sums
of these counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sacrebleu.metrics import bleu as sacre_bleu
from sacrebleu.metrics import chrf as sacre_chrf
from sacrebleu.metrics import ter as sacre_ter
from sacrebleu.metrics.base import Metric as SacreMetric
from sacrebleu.tokenizers.tokenizer_none import NoneTokenizer

from itersel.evaluate.chrf import WORD_ORDER
from itersel.evaluate.formulas import Sums, formula_of
from itersel.evaluate.names import (
    BLEU,
    CHRF_OF_WORDS,
    DEFAULT_TOKENIZER,
    METRICS,
    TABULATED,
    TER,
    TOKENIZED_BLEU,
)
from itersel.evaluate.texts import ReferenceText
from itersel.evaluate.tokenizers import check_tokenizer

# Scores are rounded to this many decimals.
DECIMALS = 10
# sacrebleu's tokenizers for languages without spaces, where TER also has to split text into characters.
UNSPACED = ("zh", "ja-mecab")

# Maps all white space that str.split splits at, except space and tab, to private-use characters.
_WHITE_SPACE = [code for code in range(0x3001) if chr(code).isspace() and chr(code) not in " \t"]
HIDDEN = {code: 0xE000 + number for number, code in enumerate(_WHITE_SPACE)}


class CorpusScore(NamedTuple):
    """BLEU of one system.

    Attributes
    ----------
    bleu
        0 to 100.
    precisions
        1-gram to 4-gram precisions, in per cent.
    brevity_penalty
        0 to 1.
    length, reference_length
        Words after sacrebleu's tokenisation.
    """

    bleu: float
    precisions: tuple[float, ...]
    brevity_penalty: float
    length: int
    reference_length: int


def make_tokenized_bleu(
    references: Sequence[ReferenceText], retokenize: str = DEFAULT_TOKENIZER
) -> TextMetric:
    """Return BLEU of tokenised text with the settings of mteval-v11b, lowercased.

    `references` are one or more reference translations of the text, each with one line per sentence; `None`
    instead of a line where a sentence has fewer references than others. `retokenize` is ``13a`` as in
    mteval-v11b, or ``none`` to score the tokens as they are.
    """
    # force: no warning that the text looks tokenised; it is.
    bleu = sacre_bleu.BLEU(lowercase=True, tokenize=retokenize, smooth_method="none", force=True)
    if retokenize == "none":
        bleu.tokenizer = _KeepWords()
    # private, because no public name does this
    bleu._ref_cache = bleu._cache_references(references)  # type: ignore[arg-type]  # sacrebleu documents None here
    return TextMetric(TOKENIZED_BLEU, signature(bleu), 1, bleu)


def tokenizer_for_bleu(tokenizer: str = DEFAULT_TOKENIZER) -> Callable[[str], str]:
    """Return one of sacrebleu's tokenizers."""
    check_tokenizer(tokenizer)
    tokenize: Callable[[str], str] = sacre_bleu.BLEU(tokenize=tokenizer).tokenizer
    return tokenize


class _KeepWords(NoneTokenizer):
    """Hides white space that does not separate words (`itersel.corpus.text.split_words`) from sacrebleu."""

    def __call__(self, line: str) -> str:
        return line.translate(HIDDEN)


def score_corpus(metric: TextMetric, translations: Sequence[str]) -> CorpusScore:
    """Return the BLEU of the translations, given a `metric` made by `make_tokenized_bleu`."""
    return score_of_counts(metric, metric.counts(translations))


def score_of_counts(metric: TextMetric, counts: Sums) -> CorpusScore:
    """Return the BLEU of the text with these counts by `metric`, made by `make_tokenized_bleu`."""
    # sacrebleu's own formula, whose digits runs record: those of `bleu_formula` end differently. It is
    # undocumented, like `TextMetric.counts`, and adds whole numbers.
    score = metric.counter._compute_score_from_stats(counts.sum(axis=0).astype(np.int64).tolist())
    return CorpusScore(score.score, tuple(score.precisions), score.bp, score.sys_len, score.ref_len)


def signature(counter: SacreMetric) -> str:
    """Return the sacrebleu signature of a metric."""
    return str(counter.get_signature().format())


@dataclass(frozen=True)
class Metric:
    """A corpus score, computed from sums of counts."""

    name: str  # one of `METRICS`, or of a user's own score
    signature: str  # sacrebleu's; empty for a user's own score
    multiplier: int  # factor that makes the counts whole numbers, whose sums are exact in any order

    def scores(self, sums: Sums) -> Sums:
        """Return the scores (0 to 100; TER may be higher) of corpora whose counts have these sums."""
        with np.errstate(divide="ignore", invalid="ignore"):
            # the last digits of logarithms vary between processors
            return np.round(formula_of(self.name)(sums), DECIMALS)

    def score(self, counts: Sums) -> float:
        """Return the score of the text with these counts."""
        return float(self.scores(counts.sum(axis=0)))


@dataclass(frozen=True)
class TextMetric(Metric):
    """A corpus score that can count, because sacrebleu's metric, `counter`, has the references of a text."""

    counter: SacreMetric = field(compare=False)

    def counts(self, translations: Sequence[str]) -> Sums:
        """Return the counts that the score is computed from: sentences x numbers, all whole."""
        # Undocumented, but sacrebleu has no other way to get counts; see docs/evaluation.md.
        counts = self.counter._extract_corpus_statistics(translations, None)
        return np.rint(np.array(counts, dtype=np.float64) * self.multiplier)


def make_metrics(
    references: Sequence[ReferenceText], tokenizer: str = DEFAULT_TOKENIZER, names: Sequence[str] = TABULATED
) -> list[TextMetric]:
    """Return metrics of detokenised text by name, in this order; by default the metrics of the main table.

    For `references` see `make_tokenized_bleu`; `tokenizer` is sacrebleu's for BLEU.
    """
    check_tokenizer(tokenizer)
    # TER divides by the mean length of a sentence's references.
    numbers = {sum(line is not None for line in lines) for lines in zip(*references, strict=True)}
    multiplier = math.lcm(*(number for number in numbers if number))
    metrics = []
    for name in names:
        counter = _make_counter(name, references, tokenizer)
        of_metric = multiplier if METRICS[name].kind == TER else 1
        metrics.append(TextMetric(name, signature(counter), of_metric, counter))
    return metrics


def signature_of(name: str, references: Sequence[ReferenceText], tokenizer: str) -> str:
    """Return the signature of a metric for which weights are tuned: BLEU is not smoothed."""
    return signature(_make_counter(name, references, tokenizer, smoothing="none"))


def _make_counter(
    name: str, references: Sequence[ReferenceText], tokenizer: str, smoothing: str = "exp"
) -> SacreMetric:
    """Return sacrebleu's metric of detokenised text."""
    kind, is_lower = METRICS[name].kind, METRICS[name].is_lowercased
    given: Any = {"references": references}
    if kind == BLEU:
        # force: no warning if the corpus was tokenised; the table says so
        return sacre_bleu.BLEU(
            lowercase=is_lower, tokenize=tokenizer, smooth_method=smoothing, force=True, **given
        )
    if kind == TER:
        is_split = tokenizer in UNSPACED
        return sacre_ter.TER(
            case_sensitive=not is_lower, normalized=is_split, asian_support=is_split, **given
        )
    return sacre_chrf.CHRF(lowercase=is_lower, word_order=WORD_ORDER if kind == CHRF_OF_WORDS else 0, **given)
