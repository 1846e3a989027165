"""What the scores of a system on a test set are computed from, counted once and kept in a file.

Counting takes far longer than scoring: TER of 3,000 sentences a minute or two. So it is done for each system
in a job of its own, and `itersel report table` only adds up.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from itersel.errors import InputError
from itersel.evaluate.bleu import References
from itersel.evaluate.metrics import FORMULAS, NUMBERS, Metric, Sums, make_metrics
from itersel.limits import CASES, METRICS
from itersel.storage.formats import Array, FileFormat, digest
from itersel.storage.hdf5 import read_arrays, write_arrays

# The metrics of a file: pairs of a case and a name.
SCORES = [(case, name) for case in CASES for name in METRICS]
FORMAT = FileFormat(
    "score counts",
    1,
    "itersel detokenize --counts",
    {"counts": Array("<i8", ("sentences", "numbers"), least=0, most=1 << 52, packed=True, shuffled=True)},
)


class Counts(NamedTuple):
    """The counts of a text.

    Attributes
    ----------
    metrics
        Those of `make_metrics`.
    counts
        Of each metric: sentences x numbers.
    references
        Digest of the references.
    """

    metrics: tuple[Metric, ...]
    counts: tuple[Sums, ...]
    references: str


def count(translations: Sequence[str], references: Sequence[References], tokenizer: str) -> Counts:
    """Count for all metrics; see `itersel.evaluate.metrics.make_metrics`."""
    metrics = make_metrics(references, tokenizer)
    text = "\n".join(repr(line) for lines in references for line in lines)
    return Counts(
        tuple(metrics),
        tuple(metric.counts(translations) for metric in metrics),
        digest(np.frombuffer(text.encode(), np.uint8)),
    )


def write_counts(path: str | os.PathLike[str], counts: Counts) -> None:
    """Write counts as HDF5."""
    attributes: dict[str, str | int] = {"references": counts.references}
    for metric in counts.metrics:
        attributes[f"{metric.case} {metric.name}"] = metric.signature
        attributes[f"scale of {metric.case} {metric.name}"] = metric.scale
    write_arrays(path, FORMAT, {"counts": np.hstack(counts.counts).astype("<i8")}, attributes)


def read_counts(path: str | os.PathLike[str]) -> Counts:
    """Read what `write_counts` wrote.

    Raises
    ------
    InputError
        If the file is damaged or something else.
    """
    arrays, attributes = read_arrays(path, FORMAT)
    ends = list(accumulate(NUMBERS[name] for _, name in SCORES))
    if arrays["counts"].shape[1] != ends[-1]:
        raise InputError("damaged: has counts of other metrics; recreate the file", path)
    try:
        metrics = tuple(
            Metric(
                name=name,
                case=case,
                signature=str(attributes[f"{case} {name}"]),
                formula=FORMULAS[name],
                scale=int(attributes[f"scale of {case} {name}"]),
            )
            for case, name in SCORES
        )
        references = str(attributes["references"])
    except (KeyError, ValueError):
        raise InputError("damaged: does not say what was counted; recreate the file", path) from None
    columns = np.hsplit(arrays["counts"].astype(np.float64), ends[:-1])
    return Counts(metrics, tuple(columns), references)


def require_same_text(paths: Sequence[str | os.PathLike[str]], counts: Sequence[Counts]) -> None:
    """Raise an InputError unless all counts are of one test set, scored in the same way."""
    first = counts[0]
    for path, other in zip(paths, counts, strict=True):
        if other.references != first.references or other.metrics != first.metrics:
            raise InputError(
                f"was counted with other references or another tokenizer than {os.fspath(paths[0])}; "
                "make both again with 'itersel detokenize --counts'",
                path,
            )


def pool_counts(parts: Sequence[Counts]) -> Counts:
    """Return the counts of several texts as those of one."""
    metrics, counts = [], []
    for number, metric in enumerate(parts[0].metrics):
        same = [part.metrics[number] for part in parts]
        scale = math.lcm(*(one.scale for one in same))
        metrics.append(
            Metric(
                name=metric.name,
                case=metric.case,
                signature=_pooled_signature([one.signature for one in same]),
                formula=metric.formula,
                scale=scale,
            )
        )
        counts.append(
            np.vstack([part.counts[number] * (scale // part.metrics[number].scale) for part in parts])
        )
    return Counts(tuple(metrics), tuple(counts), " ".join(part.references for part in parts))


def _pooled_signature(signatures: Sequence[str]) -> str:
    """Return a signature with sacrebleu's ``var`` where the texts differ, as in the number of references."""
    fields = [dict(field.partition(":")[::2] for field in one.split("|")) for one in signatures]
    return "|".join(
        f"{key}:{value if all(other.get(key) == value for other in fields) else 'var'}"
        for key, value in fields[0].items()
    )
