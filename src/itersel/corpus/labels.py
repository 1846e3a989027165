"""Labels of the sentences of a text: the task of each line, one word."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

from itersel.errors import InputError
from itersel.storage.files import read_lines

# Labels that a message or a table shows.
SHOWN_LABELS = 5


def read_labels(
    path: str | os.PathLike[str], lines: int | None = None, text: str | os.PathLike[str] = ""
) -> list[str]:
    """Return the label of each line of a text.

    Parameters
    ----------
    path
        A file with one label per line.
    lines, text
        The number of lines of the text, if it is known, and its file.

    Raises
    ------
    InputError
        If there are not as many labels as lines, or a line is not a label.
    """
    labels = checked_labels(read_lines(path), path)
    if lines not in (None, len(labels)):
        raise InputError(
            f"has {len(labels)} lines, {os.fspath(text)} has {lines}; give one label for each line", path
        )
    return labels


def checked_labels(lines: Sequence[str], path: str | os.PathLike[str], before: int = 0) -> list[str]:
    """Return the labels in some lines of a file; `before` is the number of lines before them.

    Raises
    ------
    InputError
        If a line is not one word.
    """
    labels = [line.strip() for line in lines]
    for number, label in enumerate(labels, before + 1):
        if not label or " " in label or "\t" in label:
            raise InputError(f"'{label}' is not a task label; give one word a line", path, number)
    return labels


def require_label(labels: Sequence[str], name: str, path: str | os.PathLike[str] | None = None) -> None:
    """Refuse labels of a text, read from `path`, none of which is `name`.

    Raises
    ------
    InputError
        Names the most frequent labels.
    """
    if name not in labels:
        known = most_frequent(count_labels(labels)) or "none, as the file is empty"
        raise InputError(f"no sentence has the label '{name}'; the most frequent labels are {known}", path)


def refuse_repeats(names: Sequence[str]) -> None:
    """Raise an InputError if a task is named twice."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise InputError(f"task '{name}' is named twice; name it once")


def count_labels(labels: Sequence[str]) -> dict[str, int]:
    """Return how many sentences have each label: the most frequent first, equally frequent ones by name."""
    return dict(sorted(Counter(labels).items(), key=lambda item: (-item[1], item[0])))


def most_frequent(counts: Mapping[str, int]) -> str:
    """Return the most frequent labels, with their numbers of sentences, for a message."""
    shown = ", ".join(f"'{label}' ({count})" for label, count in [*counts.items()][:SHOWN_LABELS])
    return f"{shown} and others" if len(counts) > SHOWN_LABELS else shown
