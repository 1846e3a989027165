"""Labels of sentences: one word per line. Tasks name the labels of the sentences that they consist of."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from itersel.corpus.text import check_line_counts
from itersel.errors import FilePath, InputError
from itersel.storage.files import read_lines

Line = TypeVar("Line")

# Maximum number of labels shown in a message or table.
SHOWN_LABELS = 5


def read_labels(path: FilePath, lines: int | None = None, text: FilePath = "") -> list[str]:
    """Return the label of each line of a text; `lines` is the number of its lines, if known."""
    found = read_lines(path)
    labels = checked_labels(found, path, range(1, 1 + len(found)))
    if lines is not None:
        check_label_count(labels, path, lines, text)
    return labels


def check_label_count(labels: Sequence[str], path: FilePath, lines: int, text: FilePath) -> None:
    """Raise an InputError unless each of the `lines` of a text has a label; `path` is the file of labels."""
    if len(labels) != lines:
        counts = f"has {len(labels)} lines, {os.fspath(text)} has {lines}"
        raise InputError(f"{counts}; give one label for each line", path)


def checked_labels(lines: Sequence[str], path: FilePath, numbers: Sequence[int | None]) -> list[str]:
    """Return the labels in lines of a file, with these numbers, after checking that each is one word."""
    labels = [line.strip() for line in lines]
    for number, label in zip(numbers, labels, strict=True):
        if label.split() != [label] or not label.isprintable():
            raise InputError(f"'{label}' is not a label; give one word per line", path, number)
    return labels


def require_label(labels: Sequence[str], name: str, path: FilePath | None = None) -> None:
    """Raise an InputError with the most frequent labels of a text if `name` is not among them."""
    if name not in labels:
        known = most_frequent(Counter(labels)) or "none, as the file is empty"
        raise InputError(f"no sentence has the label '{name}'; the most frequent labels are {known}", path)


def refuse_repeats(names: Sequence[str]) -> None:
    """Raise an InputError if a label is listed twice."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise InputError(f"label '{name}' is named twice; name it once")


def count_labels(labels: Iterable[str] | Mapping[str, int]) -> dict[str, int]:
    """Return the number of sentences with each label: most frequent first, ties by name."""
    return dict(sorted(Counter(labels).items(), key=lambda item: (-item[1], item[0])))


def most_frequent(counts: Mapping[str, int]) -> str:
    """Return the most frequent labels with their sentence counts, for messages."""
    shown = ", ".join(
        f"'{label}' ({count})" for label, count in [*count_labels(counts).items()][:SHOWN_LABELS]
    )
    return f"{shown} and others" if len(counts) > SHOWN_LABELS else shown


def lines_of(labels: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the numbers (from 0) of the lines with one of the wanted labels, in the order of the text."""
    kept = set(wanted)
    return [line for line, label in enumerate(labels) if label in kept]


def pick(text: Sequence[Line], lines: Sequence[int]) -> list[Line]:
    """Return some lines of a text."""
    return [text[line] for line in lines]


def join_tasks(labels: FilePath, translations: Mapping[str, FilePath]) -> list[str]:
    """Return, for each line, the translation by the model of its task; empty if it belongs to no task.

    `translations` are files of the whole text by label.
    """
    label = read_labels(labels)
    joined = [""] * len(label)
    for task, path in translations.items():
        text = read_lines(path)
        check_line_counts((labels, label), (path, text))
        for line in lines_of(label, [task]):
            joined[line] = text[line]
    return joined
