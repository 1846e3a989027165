"""Sentence labels: one word per line that names the task of the sentence."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from itersel.errors import InputError
from itersel.storage.files import read_lines

# Maximum number of labels shown in a message or table.
SHOWN_LABELS = 5


def read_labels(
    path: str | os.PathLike[str], lines: int | None = None, text: str | os.PathLike[str] = ""
) -> list[str]:
    """Return the label of each line of a text; `lines` is the number of its lines, if known.

    Raises
    ------
    InputError
        If the numbers of labels and lines differ, or a line is not a label.
    """
    labels = checked_labels(read_lines(path), path)
    if lines not in (None, len(labels)):
        raise InputError(
            f"has {len(labels)} lines, {os.fspath(text)} has {lines}; give one label for each line", path
        )
    return labels


def checked_labels(
    lines: Sequence[str],
    path: str | os.PathLike[str],
    before: int = 0,
    numbers: Sequence[int | None] | None = None,
) -> list[str]:
    """Return the labels in lines of a file, each one word: those after `before`, or with these `numbers`."""
    labels = [line.strip() for line in lines]
    places = numbers or range(before + 1, before + 1 + len(labels))
    for number, label in zip(places, labels, strict=True):
        if label.split() != [label] or not label.isprintable():
            raise InputError(f"'{label}' is not a task label; give one word per line", path, number)
    return labels


def require_label(labels: Sequence[str], name: str, path: str | os.PathLike[str] | None = None) -> None:
    """Raise an InputError with the most frequent labels of a text if `name` is not among them."""
    if name not in labels:
        known = most_frequent(Counter(labels)) or "none, as the file is empty"
        raise InputError(f"no sentence has the label '{name}'; the most frequent labels are {known}", path)


def refuse_repeats(names: Sequence[str]) -> None:
    """Raise an InputError if a task is listed twice."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise InputError(f"task '{name}' is named twice; name it once")


def count_labels(labels: Iterable[str] | Mapping[str, int]) -> dict[str, int]:
    """Return the number of sentences with each label: most frequent first, ties by name."""
    return dict(sorted(Counter(labels).items(), key=lambda item: (-item[1], item[0])))


def most_frequent(counts: Mapping[str, int]) -> str:
    """Return the most frequent labels with their sentence counts, for messages."""
    shown = ", ".join(
        f"'{label}' ({count})" for label, count in [*count_labels(counts).items()][:SHOWN_LABELS]
    )
    return f"{shown} and others" if len(counts) > SHOWN_LABELS else shown
