"""What metrics of texts are called: the one table for configs, options, Python, files, tables and pages.

`itersel.bleu.names` has the names of the BLEUs of sentences that learners use.

A metric has one name. It is in lower case where programs read it (configs, options, Python, JSON, TSV, HDF5),
and in its usual case, the title, where people do. Input may be in either case.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from itersel.errors import InputError, suggest


class MetricName(NamedTuple):
    """A metric: how its name is shown, what it computes, and of which text."""

    title: str
    kind: str  # one of `KINDS`
    is_lowercased: bool  # ignores case
    is_tokenized: bool = False  # of the decoder's tokens, not of detokenised text


# The kinds of metrics; chrf++ is chrf with orders 1 and 2 of words.
BLEU, CHRF, CHRF_OF_WORDS, TER = "bleu", "chrf", "chrf++", "ter"
# How sacrebleu's documentation and the papers write them.
KINDS = {BLEU: "BLEU", CHRF: "chrF", CHRF_OF_WORDS: "chrF++", TER: "TER"}
# sacrebleu's tokenizer where none is stated: that of mteval-v11b.
DEFAULT_TOKENIZER = "13a"
# sacrebleu's tokenizers that need no download.
TOKENIZERS = (DEFAULT_TOKENIZER, "intl", "zh", "ja-mecab", "ko-mecab", "char", "none")
# Those of languages for which the default is unsuitable.
OF_LANGUAGE = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
# The ones that tokenized BLEU may apply to text that is already tokenised.
RETOKENIZATIONS = (DEFAULT_TOKENIZER, "none")
# BLEU of tokenised lowercased text, as mteval-v11b computes it.
TOKENIZED_BLEU = "tokenized-bleu"

METRICS = {
    TOKENIZED_BLEU: MetricName("tokenized BLEU", BLEU, True, True),
    **{kind: MetricName(title, kind, False) for kind, title in KINDS.items()},
    **{f"lowercased-{kind}": MetricName(f"lowercased {title}", kind, True) for kind, title in KINDS.items()},
}
# The title of all sentence-level BLEUs that learners use (`itersel.bleu.names`).
SENTENCE_BLEU = f"sentence {KINDS[BLEU]}"
# What epochs can be chosen by besides metrics: the mean of numbers that users give for translations in lists.
QUALITY = "quality"
# Metrics of detokenised text.
OF_TEXT = tuple(name for name, one in METRICS.items() if not one.is_tokenized)
# The metric that is tuned or compared by default, those that `itersel compare` computes, and those in the
# tables of a run.
DEFAULT_METRIC = BLEU
DEFAULT_METRICS = (BLEU, CHRF_OF_WORDS, TER)
TABULATED = (*DEFAULT_METRICS, *(f"lowercased-{name}" for name in DEFAULT_METRICS))
# The largest magnitude of numbers in a user's own score: sums of 9,000 of them, with six decimals, are exact.
MAX_USER_SCORE = 10**6
# Trials of approximate randomization, where their number is not stated.
TRIALS = 10_000


def check_metric_name(text: object, choices: Collection[str]) -> str:
    """Return the name of a metric in lower case, or raise an InputError if it is not one of the choices."""
    name = text.lower() if isinstance(text, str) else text
    if name not in choices:
        raise InputError(f"metric is {text!r}; choose one of {', '.join(choices)}{suggest(name, choices)}")
    return str(name)


def title_of(name: str) -> str:
    """Return how the name of a metric is shown; a user's own score is shown as it is named."""
    return METRICS[name].title if name in METRICS else name


def decimals_of(name: str) -> int:
    """Return the number of decimals that are shown of a metric, or of a user's own score from 0 to 1."""
    return 2 if name in METRICS else 4


def sign_of(name: str) -> int:
    """Return -1 if lower values of a metric are better, else 1, as for a user's own score."""
    return -1 if name in METRICS and METRICS[name].kind == TER else 1
