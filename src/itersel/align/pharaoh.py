"""Alignments as text: one sentence per line, points ``source-target`` counted from 0 (Pharaoh format)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from itersel.errors import InputError
from itersel.storage.files import read_lines

Point = tuple[int, int]

# The same syntax as `itersel.grammar.index_kernels.parse_alignments` accepts.
_POINT = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


def read_alignment(path: str | os.PathLike[str]) -> list[list[Point]]:
    """Read a list of (source position, target position) from each line.

    Raises
    ------
    InputError
        If the file is empty or a point is not two numbers joined by a hyphen.
    """
    lines = read_lines(path)
    if not lines:
        raise InputError("is empty; expected one line of alignment points per sentence", path)
    return [parse_points(line, path, number) for number, line in enumerate(lines, 1)]


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


def check_points(
    points: Iterable[Point],
    source_length: int,
    target_length: int,
    path: str | os.PathLike[str],
    line: int,
) -> None:
    """Raise an InputError if a point lies outside the sentence pair (lengths in tokens)."""
    for i, j in points:
        if i >= source_length or j >= target_length:
            message = (
                f"alignment point {i}-{j} is outside its sentence pair ({source_length} and {target_length} "
                "tokens, counted from 0); align this text again"
            )
            raise InputError(message, path, line)


def format_points(points: Sequence[Point]) -> str:
    """Return a line of Pharaoh format without the newline."""
    return " ".join(f"{i}-{j}" for i, j in points)
