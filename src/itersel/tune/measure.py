"""What the quality of translations in n-best lists is measured by: a metric, or numbers for them.

BLEU is computed over the corpus. With other metrics, tuners learn from the quality of each translation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from itersel.bleu.points import from_points, to_points
from itersel.errors import FilePath, InputError, check_choice
from itersel.evaluate.metrics import make_metrics, tokenizer_for_bleu
from itersel.evaluate.names import (
    BLEU,
    DEFAULT_TOKENIZER,
    METRICS,
    OF_TEXT,
    QUALITY,
    TOKENIZERS,
    sign_of,
    title_of,
)
from itersel.evaluate.texts import ReferenceText
from itersel.lists.matches import with_matches
from itersel.lists.numbers import Numbers, read_numbers
from itersel.lists.reading import ReadLists
from itersel.lists.table import ListTable
from itersel.run.progress import progress
from itersel.storage.arrays import Float64s
from itersel.storage.ragged import offsets_of


class Measure(NamedTuple):
    """A metric, or else numbers for the translations; higher numbers are better."""

    metric_name: str | None = None
    numbers: Numbers | None = None
    tokenizer: str = DEFAULT_TOKENIZER  # sacrebleu's for BLEU; other metrics have none

    @property
    def title(self) -> str:
        """Its name in output for people."""
        return QUALITY if self.metric_name is None else title_of(self.metric_name)

    @property
    def sign(self) -> int:
        """The factor of a metric's values with which higher is better, as of quality: -1 for TER, else 1."""
        return 1 if self.metric_name is None else sign_of(self.metric_name)

    @property
    def is_bleu(self) -> bool:
        """Whether this is BLEU, which is computed over the corpus and not a mean over sentences."""
        return self.metric_name is not None and METRICS[self.metric_name].kind == BLEU

    @property
    def is_lowercased(self) -> bool:
        """Whether case is ignored."""
        return self.metric_name is not None and METRICS[self.metric_name].is_lowercased

    def shown(self, quality: float) -> float:
        """Return a quality as it is shown: in points and, of TER, lower for better translations."""
        return self.sign * to_points(quality)

    def is_better(self, one: float, other: float) -> bool:
        """Return whether one quality, as `shown`, is better than another."""
        return self.sign * (one - other) > 0

    def line_preparation(self) -> Callable[[str], str]:
        """Return the function that prepares a line for BLEU; other metrics take it as it is."""
        if not self.is_bleu:
            return str
        tokenize = tokenizer_for_bleu(self.tokenizer)
        return (lambda line: tokenize(line.lower())) if self.is_lowercased else tokenize

    def measured(self, lists: ReadLists, references: Sequence[ReferenceText], name: str) -> ReadLists:
        """Return lists with what tuners learn from, and only the first of equal translations.

        Tuners learn from the quality of each translation or, for BLEU, from n-gram matches and lengths. The
        lists were read with `line_preparation`; messages call them `name`. Where a sentence has fewer
        references than others, the rest are None.
        """
        kept = lists.without_duplicates()
        if self.is_bleu:
            prepare = self.line_preparation()
            prepared = [["" if line is None else prepare(line) for line in lines] for lines in references]
            table = with_matches(kept.table, prepared)
            table.check_matches(name)
            return kept._replace(table=table)

        if self.numbers is not None:
            # a number for each line, also for those of equal translations
            quality = self.numbers.as_quality(lists.row.shape[0])[kept.row]
        else:
            assert self.metric_name is not None
            quality = quality_by_metric(kept.table, references, self.metric_name)
        # MIRA needs the lengths of the translations
        return kept._replace(table=with_matches(kept.table, [])._replace(quality=quality))


def named_metric(given: FilePath | ArrayLike) -> str | None:
    """Return the metric that has this name, perhaps with capitals; None for numbers."""
    name = given.lower() if isinstance(given, str) else ""
    return name if name in OF_TEXT else None


def read_measure(given: FilePath | ArrayLike, tokenizer: str = DEFAULT_TOKENIZER) -> Measure:
    """Return a metric (`named_metric`), or the numbers in a file or an array.

    Raises an InputError if a tokenizer is unknown, or is not the default, but has no effect.
    """
    check_choice("tokenizer", tokenizer, TOKENIZERS)

    name = named_metric(given)
    measure = Measure(numbers=read_numbers(given)) if name is None else Measure(name)
    if tokenizer != DEFAULT_TOKENIZER and not measure.is_bleu:
        raise InputError(f"tokenizer {tokenizer} has no effect: quality is not BLEU; remove it")
    return measure._replace(tokenizer=tokenizer)


def quality_by_metric(table: ListTable, references: Sequence[ReferenceText], name: str) -> Float64s:
    """Return the quality of each translation by a sentence-level metric, as in `ListTable`: float64 (H).

    Where a sentence has fewer references than others, the rest are None.
    """
    [metric] = make_metrics(references, names=[name])

    # translations that differ at most in their features are counted once
    numbers: dict[tuple[int, str], int] = {}
    # not a list of all texts, of which the lists of several iterations have many twice
    pairs = zip(table.sentence.tolist(), map(table.text.get, range(table.translation_count)), strict=True)
    number = [numbers.setdefault(pair, len(numbers)) for pair in pairs]

    texts = [text for _, text in numbers]
    sizes = np.bincount([sentence for sentence, _ in numbers], minlength=table.sentence_count)
    offset = offsets_of(sizes)
    quality = np.empty(len(texts))

    for rank in progress(range(int(sizes.max())), f"count {title_of(name)} of the n-th translations"):
        # sacrebleu counts a text at a time: the translations at this rank, empty lines for shorter lists
        has_rank = rank < sizes
        rows = np.where(has_rank, offset[:-1] + rank, -1).tolist()
        scores = metric.scores(metric.counts([texts[row] if row >= 0 else "" for row in rows]))
        quality[offset[:-1][has_rank] + rank] = from_points(sign_of(name) * scores[has_rank])

    return quality[number]
