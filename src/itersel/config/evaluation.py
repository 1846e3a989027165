"""The keys of a config about scores, and the page of the run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from itersel.config.names import Names, check_name
from itersel.config.options import option
from itersel.evaluate.names import (
    DEFAULT_TOKENIZER,
    METRICS,
    QUALITY,
    TOKENIZATIONS,
    TOKENIZED_BLEU,
    TOKENIZERS,
    TRIALS,
)


@dataclass(frozen=True)
class Evaluation:
    """Scores and significance tests."""

    tokenize: str = option(
        "sacrebleu's tokenisation for tokenized BLEU (of tokenised lowercased text): 13a, as in mteval-v11b, "
        "or none to score the tokens as they are.",
        DEFAULT_TOKENIZER,
        choices=TOKENIZATIONS,
    )
    tokenizer: str | None = option(
        "sacrebleu's tokenizer for BLEU of detokenised translations; by default zh, ja-mecab or ko-mecab for "
        "these target languages, and 13a for all others.",
        choices=TOKENIZERS,
    )
    choose_by: str = option(
        "Score on devtest by which the epoch is chosen: tokenized-bleu is BLEU of tokenised lowercased text, "
        "as in the papers; quality is the mean of the numbers in data.devtest.quality; the others are scores "
        "of detokenised text.",
        TOKENIZED_BLEU,
        choices=(*METRICS, QUALITY),
        any_case=True,
    )
    trials: int = option("Number of trials in approximate randomization.", TRIALS, minimum=1)
    outputs: dict[str, tuple[str, ...]] | None = option(
        "Translations by other systems, to compare with: a name for each, and the file of its translations "
        "of the test set, plain text with one sentence per line. With several test sets, a list of files in "
        "their order.",
        path=True,
        alone=True,
        names=Names("'name: file' lines", partial(check_name, "another system"), least=1),
    )


@dataclass(frozen=True)
class Report:
    """The page of the run."""

    derivations: int = option(
        "Number of test sentences for which the page shows the derivations of a baseline and the best "
        "system: those in which the two differ most. They take about 10 kB each and are decoded again.",
        30,
        minimum=0,
        maximum=1000,
    )
