"""Corpus scores by sacrebleu: BLEU of tokenised text; BLEU, chrF, chrF++ and TER of detokenised text.

sacrebleu counts matches and edits sentence by sentence. This module computes scores from sums of these
counts, for thousands of resampled texts in one pass; tests compare the formulas with sacrebleu's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sacrebleu.metrics import bleu as sacre_bleu
from sacrebleu.metrics import chrf as sacre_chrf
from sacrebleu.metrics import ter as sacre_ter
from sacrebleu.metrics.base import Metric as SacreMetric
from sacrebleu.tokenizers.tokenizer_none import NoneTokenizer

from itersel.bleu.order import ORDER
from itersel.errors import FilePath, InputError
from itersel.evaluate.chrf import BETA, CHARACTER_ORDER, WORD_ORDER
from itersel.evaluate.names import (
    BLEU,
    CHRF,
    CHRF_OF_WORDS,
    DEFAULT_TOKENIZER,
    METRICS,
    TABULATED,
    TER,
    TOKENIZED_BLEU,
)
from itersel.evaluate.tokenizers import check_tokenizer
from itersel.storage.arrays import Float64s
from itersel.storage.files import read_lines

Sums = Float64s
ReferenceText = Sequence[str | None]

# Scores are rounded to this many decimals.
DECIMALS = 10
# sacrebleu's tokenizers for languages without spaces, where TER also has to split text into characters.
UNSPACED = ("zh", "ja-mecab")
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
    # undocumented, like `TextMetric.counts`; sacrebleu adds whole numbers
    score = metric.counter._compute_score_from_stats(counts.sum(axis=0).astype(np.int64).tolist())
    return CorpusScore(score.score, tuple(score.precisions), score.bp, score.sys_len, score.ref_len)


def signature(counter: SacreMetric) -> str:
    """Return the sacrebleu signature of a metric."""
    return str(counter.get_signature().format())


def read_references(paths: Sequence[FilePath]) -> list[list[str | None]]:
    """Read one or more reference translations of a text, each with one line per sentence.

    With several references, an empty line becomes `None`, a missing reference, unless all are empty.
    """
    references: list[list[str | None]] = [[*read_lines(path)] for path in paths]
    for path, lines in zip(paths, references, strict=True):
        if not lines:
            raise InputError("is empty; expected reference translations", path)
        if len(lines) != len(references[0]):
            raise InputError(
                f"has {len(lines)} lines, but {os.fspath(paths[0])} has {len(references[0])}; all references "
                "must be of the same text",
                path,
            )
    return without_empty(references)


def checked_references(references: Sequence[ReferenceText]) -> list[list[str | None]]:
    """Return references given from Python like those that `read_references` returns."""
    for number, lines in enumerate(references):
        if isinstance(lines, str) or not all(line is None or isinstance(line, str) for line in lines):
            raise InputError(f"reference {number} is not a list of lines; give each reference by itself")
        if len(lines) != len(references[0]):
            raise InputError(f"reference {number} has {len(lines)} lines, the first has {len(references[0])}")
    return without_empty(references)


def without_empty(references: Sequence[ReferenceText]) -> list[list[str | None]]:
    """Return references with `None` for empty lines, except where all references of a sentence are empty."""
    found = [list(lines) for lines in references]
    for sentence, lines in enumerate(zip(*references, strict=True)):
        if any((line or "").strip() for line in lines):
            for one, line in zip(found, lines, strict=True):
                one[sentence] = line if (line or "").strip() else None
    return found


def read_translations(path: FilePath, references: Sequence[ReferenceText], reference: FilePath) -> list[str]:
    """Read the translations of one system, which must have as many lines as the file `reference`."""
    lines = read_lines(path)
    count = len(references[0])
    if len(lines) != count:
        raise InputError(
            f"has {len(lines)} lines, but the reference {os.fspath(reference)} has {count}; both must have "
            "one line per sentence",
            path,
        )
    return lines


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
            return np.round(_formula(self.name)(sums), DECIMALS)

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


def _formula(name: str) -> Callable[[Sums], Sums]:
    if name not in METRICS:
        return user_formula
    if name == TOKENIZED_BLEU:
        return partial(bleu_formula, smoothing="none")
    return COUNTED[METRICS[name].kind].formula
