"""Files of the sufficient statistics (counts) of a system's scores on a test set.

Counting takes far longer than scoring: a minute or two for TER of 3,000 sentences. It therefore runs once per
system, as a separate job, and `itersel step table` only sums the counts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from itersel.errors import FilePath, InputError, checked
from itersel.evaluate.formulas import COUNTED, Sums
from itersel.evaluate.metrics import Metric, make_metrics
from itersel.evaluate.names import METRICS, TABULATED, TER, title_of
from itersel.evaluate.texts import ReferenceText
from itersel.storage.formats import Array, FileFormat, checksum, damaged_file
from itersel.storage.hdf5 import read_arrays, write_arrays

MOST = 1 << 52
FORMAT = FileFormat(
    "file of score counts",
    2,
    ("itersel step count",),
    {"counts": Array("<i8", ("sentences", "numbers"), least=0, most=MOST, shuffled=True)},
    packed=True,
)


# The counts of a text: for each metric of `make_metrics`, sentences x numbers.
Counts = Mapping[Metric, Sums]


class CountedText(NamedTuple):
    """The counts of a text, with what identifies the text."""

    counts: Counts
    references: str  # digest of the references
    translations: str  # digest of the decoder output before detokenisation
    number: int  # of references


def count(
    translations: Sequence[str], text: Sequence[str], references: Sequence[ReferenceText], tokenizer: str
) -> CountedText:
    """Count for all metrics; see `itersel.evaluate.metrics.make_metrics`.

    `translations` and `text` are the decoder output, and the same text detokenised.
    """
    counts: Counts = {metric: metric.counts(text) for metric in make_metrics(references, tokenizer)}
    lines = [line for lines in references for line in lines]
    return CountedText(counts, text_digest(lines), text_digest(translations), len(references))


def text_digest(lines: Sequence[str | None]) -> str:
    """Return the digest of a text."""
    return checksum(np.frombuffer("\n".join(map(repr, lines)).encode(), np.uint8))


def write_counts(path: FilePath, counted: CountedText) -> None:
    """Write counts as HDF5."""
    counts = counted.counts
    if max(float(columns.max(initial=0)) for columns in counts.values()) > MOST:
        raise InputError(
            "cannot compute TER: the number of references varies too much between sentences; remove some"
        )

    attributes: dict[str, str | int] = {
        "references": counted.references,
        "number of references": counted.number,
        "translations": counted.translations,
    }
    for metric in counts:
        attributes[metric.name] = metric.signature
        attributes[f"multiplier of {metric.name}"] = metric.multiplier

    write_arrays(path, FORMAT, {"counts": np.hstack([*counts.values()]).astype("<i8")}, attributes)


def read_counts(path: FilePath) -> CountedText:
    """Read what `write_counts` wrote."""
    arrays, attributes = read_arrays(path, FORMAT)
    ends = list(accumulate(COUNTED[METRICS[name].kind].numbers for name in TABULATED))
    if arrays["counts"].shape[1] != ends[-1]:
        raise damaged_file(path, "the counts are for other metrics")

    with checked(path, "damaged: the attributes are incomplete; recreate the file"):
        metrics = [_read_metric(attributes, name) for name in TABULATED]
        references, translations = (_text(attributes[name]) for name in ("references", "translations"))
        number = _whole(attributes["number of references"])

    columns = np.hsplit(arrays["counts"].astype(np.float64), ends[:-1])
    counts = dict(zip(metrics, columns, strict=True))
    for metric, found in counts.items():
        counted = COUNTED[METRICS[metric.name].kind]
        if (found[:, counted.matches] > found[:, counted.ngrams]).any():
            raise damaged_file(path, f"{title_of(metric.name)} has more matches than n-grams")
    return CountedText(counts, references, translations, number)


def _read_metric(attributes: Mapping[str, object], name: str) -> Metric:
    multiplier = _whole(attributes[f"multiplier of {name}"])
    if multiplier != 1 and METRICS[name].kind != TER:
        raise ValueError(f"a multiplier of {name}")
    return Metric(name, _text(attributes[name]), multiplier)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError("not a text")
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or not 1 <= value <= MOST:
        raise ValueError("not a positive number")
    return value


def read_counts_of(
    paths: Sequence[FilePath], texts: Sequence[Sequence[str]], files: Sequence[FilePath], references: int
) -> list[Counts]:
    """Read the counts of translations, `texts` from `files` in the same order, with this many references.

    Raises an InputError if they are of other translations, or not scored in the same way.
    """
    counted = [read_counts(path) for path in paths]

    for path, other, text, translated in zip(paths, counted, texts, files, strict=True):
        if other.translations != text_digest(text):
            raise InputError(
                f"was not counted from the translations in {os.fspath(translated)}; list the files in the "
                "same order, or recreate the counts with 'itersel step count'",
                path,
            )

        if other.number != references:
            raise InputError(
                f"was counted with {other.number} references, but the test set has {references}; recreate "
                "it with 'itersel step count'",
                path,
            )

        pairs = zip(other.counts, counted[0].counts, strict=True)
        differences = [f"{one.signature} (that file: {two.signature})" for one, two in pairs if one != two]
        if other.references != counted[0].references:
            differences = ["other references"]
        if differences:
            raise InputError(
                f"was counted with {differences[0]}, unlike {os.fspath(paths[0])}; recreate both with "
                "'itersel step count'",
                path,
            )

    return [one.counts for one in counted]


def pool_counts(parts: Sequence[Counts]) -> Counts:
    """Concatenate the counts of several texts, which must have been scored in the same way."""
    pooled = {}
    for same in zip(*parts, strict=True):
        multiplier = math.lcm(*(one.multiplier for one in same))
        signature = _pooled_signature([one.signature for one in same])
        scaled = [part[one] * (multiplier // one.multiplier) for part, one in zip(parts, same, strict=True)]
        pooled[Metric(same[0].name, signature, multiplier)] = np.vstack(scaled)
    return pooled


def _pooled_signature(signatures: Sequence[str]) -> str:
    """Return the common signature, with sacrebleu's ``nrefs:var`` where the numbers of references differ."""
    fields = [one.partition("|") for one in signatures]
    numbers, others = {number for number, _, _ in fields}, {other for _, _, other in fields}
    if len(others) > 1:
        raise InputError(
            f"test sets were scored in different ways: {' and '.join(sorted(others))}; recreate the counts "
            "with the same tokenizer and version of sacrebleu"
        )
    return f"{numbers.pop() if len(numbers) == 1 else 'nrefs:var'}|{others.pop()}"
