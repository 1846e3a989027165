"""Word alignments in Pharaoh format: one line of points ``source-target``, counted from 0, per sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from itersel.errors import FilePath, InputError
from itersel.storage.files import line_blocks

Point = tuple[int, int]

# The same syntax as `itersel.grammar.index_kernels.parse_alignments` accepts.
_POINT = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


def read_alignment(path: FilePath) -> Iterator[list[Point]]:
    """Yield the points of each line: pairs of a source and a target position."""
    number = 0
    for number, line in enumerate(chain.from_iterable(line_blocks(path)), 1):
        yield parse_points(line, path, number)
    if not number:
        raise InputError("is empty; expected one line of alignment points per sentence", path)


def parse_points(line: str, path: FilePath, number: int) -> list[Point]:
    """Return the points of a line; `path` and `number` are for the `InputError`."""
    points = []
    for text in filter(None, line.split(" ")):
        if not (match := _POINT.fullmatch(text)):
            message = f"'{text}' is not an alignment point; write source-target, for example 0-1"
            raise InputError(message, path, number)
        points.append((int(match[1]), int(match[2])))
    return points


def format_points(points: Sequence[Point]) -> str:
    """Return a line of Pharaoh format without the newline."""
    return " ".join(f"{i}-{j}" for i, j in points)
