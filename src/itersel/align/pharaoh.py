"""Alignments as text: a sentence a line, points ``source-target``, counted from 0 (Pharaoh format)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from itersel.errors import InputError
from itersel.storage.files import read_lines

Point = tuple[int, int]

# As `itersel.grammar.index_kernels.parse_alignments` takes them.
_POINT = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


def read_alignment(path: str | os.PathLike[str]) -> list[list[Point]]:
    """Read one list of (source position, target position) a line.

    Raises
    ------
    InputError
        If the file is empty or a point is not two numbers joined by a hyphen.
    """
    lines = read_lines(path)
    if not lines:
        raise InputError("is empty; one line of alignment points a sentence was expected", path)
    return [parse_points(line, path, number) for number, line in enumerate(lines, 1)]


def parse_points(line: str, path: str | os.PathLike[str], number: int) -> list[Point]:
    """Return the points of a line; `path` and `number` go into the `InputError`."""
    points = []
    for text in filter(None, line.split(" ")):
        match = _POINT.fullmatch(text)
        if match is None:
            raise InputError(f"'{text}' is not an alignment point; write source-target, as 0-1", path, number)
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
    """Return a line of Pharaoh format without its line end."""
    return " ".join(f"{i}-{j}" for i, j in points)
