"""Labels of the sentences of a text: the task of each line, one word."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from itersel.errors import InputError
from itersel.storage.files import read_lines

# Labels that a message or a table shows.
SHOWN_LABELS = 5

Line = TypeVar("Line")


def read_labels(
    path: str | os.PathLike[str],
    tasks: Sequence[str],
    lines: int | None = None,
    reference: str | os.PathLike[str] = "",
) -> list[str]:
    """Return the label of each line of a text.

    Parameters
    ----------
    path
        A file with one label per line.
    tasks
        Labels of interest.
    lines, reference
        The number of lines of the text, if it is known, and the file that has as many.

    Raises
    ------
    InputError
        If there are not as many labels as lines, a line is not a label, or a task is named twice.
    """
    labels = [line.strip() for line in read_lines(path)]
    if lines not in (None, len(labels)):
        raise InputError(
            f"has {len(labels)} lines, the reference {os.fspath(reference)} has {lines}; give one label for "
            "each line",
            path,
        )
    for number, label in enumerate(labels, 1):
        if not label or " " in label or "\t" in label:
            raise InputError(f"'{label}' is not a task label; give one word a line", path, number)
    for number, task in enumerate(tasks):
        if task in tasks[:number]:
            raise InputError(f"task '{task}' is named twice; name it once")
    return labels


def check_occurs(path: str | os.PathLike[str], labels: Sequence[str], tasks: Sequence[str]) -> None:
    """Refuse labels of a text, read from a file, none of which is that of a task.

    Raises
    ------
    InputError
        Names the file and the labels that occur.
    """
    if not set(tasks) & set(labels):
        wanted = ", ".join(f"'{task}'" for task in tasks)
        known = most_frequent(count_labels(labels)) or "none, as it is empty"
        raise InputError(f"no sentence has the label {wanted}; name labels that occur: {known}", path)


def count_labels(labels: Sequence[str]) -> dict[str, int]:
    """Return how many sentences have each label: the most frequent first, equally frequent ones by name."""
    return dict(sorted(Counter(labels).items(), key=lambda item: (-item[1], item[0])))


def most_frequent(counts: Mapping[str, int]) -> str:
    """Return the most frequent labels, with their numbers of sentences, for a message."""
    shown = ", ".join(f"'{label}' ({count})" for label, count in [*counts.items()][:SHOWN_LABELS])
    return f"{shown} and others" if len(counts) > SHOWN_LABELS else shown


def lines_of(labels: Sequence[str], tasks: Sequence[str]) -> list[int]:
    """Return the lines (from 0) with the labels of some tasks, in the order of the text."""
    wanted = set(tasks)
    return [line for line, label in enumerate(labels) if label in wanted]


def pick(text: Sequence[Line], lines: Sequence[int]) -> list[Line]:
    """Return some lines of a text."""
    return [text[line] for line in lines]


def join_translations(
    labels: str | os.PathLike[str], tasks: Sequence[str], translations: Sequence[str | os.PathLike[str]]
) -> list[str]:
    """Return for each line the translation by the model of its task; empty where it is of no task.

    Parameters
    ----------
    labels
        A file with one label per line.
    tasks, translations
        Labels, and for each the file of the translations of the whole text by its model.

    Raises
    ------
    InputError
        See `read_labels`; also if there are not as many translations as tasks, or as lines as labels.
    """
    if len(tasks) != len(translations):
        raise InputError(
            f"{len(tasks)} tasks, but {len(translations)} translations; give one of each for every task"
        )
    label = read_labels(labels, tasks)
    joined = [""] * len(label)
    for task, path in zip(tasks, translations, strict=True):
        text = read_lines(path)
        if len(text) != len(label):
            raise InputError(
                f"has {len(text)} lines, the labels {os.fspath(labels)} have {len(label)}; translate the "
                "whole text",
                path,
            )
        for line in lines_of(label, [task]):
            joined[line] = text[line]
    return joined
