"""Check the numbers of scores that users have, for ``itersel config check``."""

from __future__ import annotations

from collections.abc import Mapping

from itersel.config.splits import test_sets
from itersel.config.values import Config
from itersel.lists.numbers import read_own_numbers


def check_own_scores(
    config: Config, sentences: Mapping[str, int], translations: Mapping[str, int] | None = None
) -> None:
    """Reject files without a number for each sentence of a test set, or each translation in its lists.

    The numbers of both are given by split; if they are not known yet, only the lines are checked.
    """
    for score in config.evaluation.scores.values():
        for place, split in enumerate(test_sets(config).values()):
            if score.hypotheses:
                _check(score.hypotheses[place], (translations or {}).get(split))
            for files in (score.systems or {}).values():
                _check(files[place], sentences.get(split))


def _check(path: str, count: int | None) -> None:
    numbers = read_own_numbers(path)
    if count is not None:
        numbers.of_translations(count)
