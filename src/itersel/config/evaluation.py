"""The keys of a config about scores, and the page of the run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from itersel.config.messages import wrong
from itersel.config.names import SCORE_PATTERN, Names, check_name, quotes
from itersel.config.section_checks import check_section
from itersel.evaluate.names import (
    DEFAULT_TOKENIZER,
    METRICS,
    OF_LANGUAGE,
    QUALITY,
    RETOKENIZATIONS,
    TOKENIZED_BLEU,
    TOKENIZERS,
    TRIALS,
)
from itersel.keys import key, key_of, paths, section, seed_key

# Names that the user's own scores cannot have: other scores, and other columns of tables (in lower case).
NO_SCORES = frozenset(METRICS) | {
    *(QUALITY, "system", "experiment", "learner", "mixing", "shards", "features", "epoch", "difference"),
    "repeats",
}


def check_score(name: object, key: str) -> None:
    """Reject the name of one of the user's own scores that cannot be the title of a column."""
    if not isinstance(name, str) or not re.fullmatch(SCORE_PATTERN, name):
        raise wrong(key, f": the name of a score may contain letters, digits, '.' and '-'{quotes(name)}")
    if name.lower() in NO_SCORES:
        raise wrong(key, ": tables have a column of this name; choose another")


@dataclass(frozen=True)
class UserScore:
    """A score of your own: numbers for translations of the test set."""

    list_numbers: tuple[str, ...] = paths(
        "data.kind: lists: file with a number for each translation in the lists of the test set, in their "
        "order. With several test sets, a list of files in their order."
    )
    system_numbers: dict[str, tuple[str, ...]] | None = key(
        "File with a number for each line of a system's translations of the test set, for other systems "
        "(evaluation.outputs) and, without lists, for experiments, by name; an experiment with repeats has a "
        "name for each repeat. With several test sets, a list of files in their order.",
        path=True,
        alone=True,
        names=Names("'name: file' lines", partial(check_name, "a system"), least=1),
    )


@dataclass(frozen=True)
class Evaluation:
    """Scores and significance tests."""

    retokenize: str = key(
        "sacrebleu's tokenizer for tokenized-bleu, applied to text that is already tokenised and lowercased: "
        f"{DEFAULT_TOKENIZER}, as in mteval-v11b, or none to score the tokens as they are.",
        DEFAULT_TOKENIZER,
        choices=RETOKENIZATIONS,
    )
    tokenizer: str | None = key(
        "sacrebleu's tokenizer for bleu and lowercased-bleu, of detokenised text; by default "
        f"{', '.join(f'{one} for {language}' for language, one in OF_LANGUAGE.items())}, and "
        f"{DEFAULT_TOKENIZER} for other target languages. `itersel compare` and `itersel tune` use "
        f"{DEFAULT_TOKENIZER} by default, whatever the language.",
        choices=TOKENIZERS,
    )
    choose_by: str = key(
        "Score on devtest by which the epoch is chosen: tokenized-bleu is BLEU of tokenised lowercased text, "
        "as in the papers; quality is the mean of the numbers in data.devtest.quality; the others are scores "
        "of detokenised text.",
        TOKENIZED_BLEU,
        choices=(*METRICS, QUALITY),
        any_case=True,
    )
    trials: int = key("Number of trials in approximate randomization.", TRIALS, minimum=1)
    outputs: dict[str, tuple[str, ...]] | None = key(
        "Translations by other systems, to compare with: a name for each, and the file of its translations "
        "of the test set, plain text with one sentence per line. With several test sets, a list of files in "
        "their order.",
        path=True,
        alone=True,
        names=Names("'name: file' lines", partial(check_name, "another system"), least=1),
    )
    user_scores: dict[str, UserScore] = section(
        dict,
        "Scores of your own, such as COMET, by name: the table has a column with the means of the numbers "
        "that you give, higher is better (docs/evaluation.md).",
        names=Names("scores by name", check_score),
    )


@dataclass(frozen=True)
class SignificanceSettings:
    """How differences between systems are tested for significance."""

    trials: int = key_of(Evaluation, "trials")
    seed: int = seed_key("Seed of the trials.")

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class Report:
    """The page of the run."""

    derivations: int = key(
        "Number of test sentences for which the page shows the derivations of a baseline and the best "
        "system: those in which the two differ most. They take about 10 kB each and are decoded again.",
        30,
        minimum=0,
        maximum=1000,
    )
