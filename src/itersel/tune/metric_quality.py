"""Sentence-level metrics of all translations in n-best lists, as what tuners learn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from itersel.evaluate.metrics import ReferenceText, make_metrics
from itersel.evaluate.names import sign_of, title_of
from itersel.lists.table import ListTable
from itersel.run.progress import progress
from itersel.storage.arrays import Float64s
from itersel.storage.ragged import offsets_of


def metric_quality(table: ListTable, references: Sequence[ReferenceText], name: str) -> Float64s:
    """Return a sentence-level metric, 0 to 1, or the negative if lower is better: float64 (H).

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
    offset, quality = offsets_of(sizes), np.empty(len(texts))

    for rank in progress(range(int(sizes.max())), f"count {title_of(name)} of the n-th translations"):
        # sacrebleu counts a text at a time: the translations at this rank, empty lines for shorter lists
        has_rank = rank < sizes
        rows = np.where(has_rank, offset[:-1] + rank, -1).tolist()
        found = metric.scores(metric.counts([texts[row] if row >= 0 else "" for row in rows]))
        quality[offset[:-1][has_rank] + rank] = sign_of(name) * found[has_rank] / 100

    return quality[number]
