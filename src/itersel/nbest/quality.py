"""The quality of each translation in n-best lists: sentence-level scores, or the user's own numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.evaluate.epochs import sign_of
from itersel.evaluate.metrics import References, make_metrics
from itersel.nbest.lists import NBest, read_numbers
from itersel.storage.formats import FilePath

# Names of sentence-level scores, and of sacrebleu's metrics that compute them.
METRIC_QUALITIES = {"chrf": "chrF2++", "ter": "TER"}


def metric_quality(lists: NBest, references: Sequence[References], name: str) -> NDArray[np.float64]:
    """Return cased sentence-level ``chrf`` (chrF2++), 0 to 1, or negative ``ter``: float64 (H).

    In the reference translations of the text, None stands where a sentence has fewer.
    """
    metric = next(one for one in make_metrics(references) if one.name == METRIC_QUALITIES[name])
    quality = np.empty(len(lists.text))
    sizes = np.diff(lists.offset)
    for rank in range(int(sizes.max())):
        # sacrebleu counts a text at a time: the translations at this rank, empty lines for shorter lists
        has_rank = rank < sizes
        rows = np.where(has_rank, lists.offset[:-1] + rank, -1).tolist()
        found = metric.scores(metric.counts([lists.text[row] if row >= 0 else "" for row in rows]))
        quality[lists.offset[:-1][has_rank] + rank] = sign_of(metric.name) * found[has_rank] / 100
    return quality


def read_quality(path: FilePath, count: int) -> NDArray[np.float64]:
    """Read `count` numbers, scaled so that the lowest is 0 and the highest is 1: float64 (count)."""
    quality = np.array(read_numbers(path, count))
    least, most = quality.min(), quality.max()
    if least == most:
        raise InputError("all numbers are equal; there is nothing to tune for", path)
    return np.asarray((quality - least) / (most - least), np.float64)
