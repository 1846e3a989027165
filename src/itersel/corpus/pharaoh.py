"""Alignments as text: one sentence per line, points ``source-target`` counted from 0 (Pharaoh format)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from itersel.errors import InputError
from itersel.storage.files import line_blocks

Point = tuple[int, int]

# The same syntax as `itersel.grammar.index_kernels.parse_alignments` accepts.
_POINT = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


def read_alignment(path: str | os.PathLike[str]) -> Iterator[list[Point]]:
    """Yield the (source position, target position) of each line.

    Raises
    ------
    InputError
        If the file is empty or a point is not two numbers joined by a hyphen.
    """
    number = 0
    for number, line in enumerate(chain.from_iterable(line_blocks(path)), 1):
        yield parse_points(line, path, number)
    if not number:
        raise InputError("is empty; expected one line of alignment points per sentence", path)


def parse_points(line: str, path: str | os.PathLike[str], number: int) -> list[Point]:
    """Return the points of a line; `path` and `number` are for the `InputError`."""
    points = []
    for text in filter(None, line.split(" ")):
        match = _POINT.fullmatch(text)
        if match is None:
            message = f"'{text}' is not an alignment point; write source-target, for example 0-1"
            raise InputError(message, path, number)
        points.append((int(match[1]), int(match[2])))
    return points


def format_points(points: Sequence[Point]) -> str:
    """Return a line of Pharaoh format without the newline."""
    return " ".join(f"{i}-{j}" for i, j in points)
