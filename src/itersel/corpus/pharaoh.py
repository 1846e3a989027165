"""Alignments as text: one sentence per line, points ``source-target`` counted from 0 (Pharaoh format)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from itersel.errors import InputError
from itersel.storage.files import line_blocks

Point = tuple[int, int]

# The same syntax as `itersel.grammar.index_kernels.parse_alignments` accepts.
_POINT = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


def read_alignment(path: str | os.PathLike[str]) -> list[list[Point]]:
    """Read a list of (source position, target position) from each line; raises as `alignment_blocks`."""
    return list(chain.from_iterable(alignment_blocks(path)))


def alignment_blocks(path: str | os.PathLike[str]) -> Iterator[list[list[Point]]]:
    """Yield the lines of an alignment in blocks, as `read_alignment` returns them.

    Raises
    ------
    InputError
        If the file is empty or a point is not two numbers joined by a hyphen.
    """
    number = 0
    for lines in line_blocks(path):
        yield [parse_points(line, path, place) for place, line in enumerate(lines, number + 1)]
        number += len(lines)
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
