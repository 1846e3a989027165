"""Select and join lines of a text by their labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

from itersel.corpus.labels import read_labels, refuse_repeats
from itersel.errors import InputError
from itersel.storage.files import read_lines

Line = TypeVar("Line")


def lines_of(labels: Sequence[str], tasks: Sequence[str]) -> list[int]:
    """Return the numbers (from 0) of the lines with the labels of some tasks, in the order of the text."""
    wanted = set(tasks)
    return [line for line, label in enumerate(labels) if label in wanted]


def pick(text: Sequence[Line], lines: Sequence[int]) -> list[Line]:
    """Return some lines of a text."""
    return [text[line] for line in lines]


def join_translations(
    labels: str | os.PathLike[str], tasks: Sequence[str], translations: Sequence[str | os.PathLike[str]]
) -> list[str]:
    """Return, for each line, the translation by the model of its task; empty if it belongs to no task.

    `labels` is a file with one label per line; for each of `tasks`, there is a file with its model's
    translations of the whole text.
    """
    if len(tasks) != len(translations):
        raise InputError(
            f"{len(tasks)} tasks, but {len(translations)} translations; give one translation per task"
        )
    refuse_repeats(tasks)
    label = read_labels(labels)
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
