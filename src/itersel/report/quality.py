"""The mean quality of translations chosen from n-best lists, by which an epoch is chosen on devtest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from itersel.corpus.prepare import read_preparation
from itersel.errors import FilePath
from itersel.evaluate.epoch_scores import EpochTranslations, Scorer
from itersel.lists.lookup import find_texts
from itersel.lists.numbers import read_numbers


def quality_scorer(
    lists: Sequence[FilePath], quality: FilePath, preparation: FilePath, lines: Iterable[int]
) -> Scorer:
    """Return a scorer by mean quality, for the translations of these `lines`.

    `quality` is a file with a number for each translation in the `lists`, which are cleaned as the
    `preparation` says. The numbers are used as they are; only learners and tuners need them from 0 to 1.
    """
    # numbers are read before the lists, which take longest
    numbers = read_numbers(quality)
    prepared = read_preparation(preparation)
    scored = frozenset(lines)

    texts = find_texts(lists, prepared.clean_line, lambda line, text: line in scored)
    of_listed = numbers.of_translations(texts.translation_count)

    def score(chosen: EpochTranslations) -> float:
        rows = texts.rows(chosen.path, chosen.numbers, chosen.lines)
        # exact sums: the same on all processors
        return fmean(of_listed[rows].tolist())

    return score
