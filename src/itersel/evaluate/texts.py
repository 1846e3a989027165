"""The texts that are scored: references, and translations that are parallel to them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from itersel.errors import FilePath, InputError
from itersel.storage.files import read_lines

ReferenceText = Sequence[str | None]


def read_references(paths: Sequence[FilePath]) -> list[list[str | None]]:
    """Read one or more reference translations of a text, each with one line per sentence.

    With several references, an empty line becomes `None`, a missing reference, unless all are empty.
    """
    references: list[list[str | None]] = [[*read_lines(path)] for path in paths]
    for path, lines in zip(paths, references, strict=True):
        if not lines:
            raise InputError("is empty; expected reference translations", path)
        if len(lines) != len(references[0]):
            raise InputError(
                f"has {len(lines)} lines, but {os.fspath(paths[0])} has {len(references[0])}; all references "
                "must be of the same text",
                path,
            )
    return without_empty(references)


def checked_references(references: Sequence[ReferenceText]) -> list[list[str | None]]:
    """Return references given from Python like those that `read_references` returns."""
    for number, lines in enumerate(references):
        if isinstance(lines, str) or not all(line is None or isinstance(line, str) for line in lines):
            raise InputError(f"reference {number} is not a list of lines; give each reference by itself")
        if len(lines) != len(references[0]):
            raise InputError(f"reference {number} has {len(lines)} lines, the first has {len(references[0])}")
    return without_empty(references)


def without_empty(references: Sequence[ReferenceText]) -> list[list[str | None]]:
    """Return references with `None` for empty lines, except where all references of a sentence are empty."""
    found = [list(lines) for lines in references]
    for sentence, lines in enumerate(zip(*references, strict=True)):
        if any((line or "").strip() for line in lines):
            for one, line in zip(found, lines, strict=True):
                one[sentence] = line if (line or "").strip() else None
    return found


def read_translations(path: FilePath, references: Sequence[ReferenceText], reference: FilePath) -> list[str]:
    """Read the translations of one system, which must have as many lines as the file `reference`."""
    lines = read_lines(path)
    count = len(references[0])
    if len(lines) != count:
        raise InputError(
            f"has {len(lines)} lines, but the reference {os.fspath(reference)} has {count}; both must have "
            "one line per sentence",
            path,
        )
    return lines
