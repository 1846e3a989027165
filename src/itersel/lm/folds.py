"""The lines that the language model of a fold leaves out: those of every N-th shard."""

from __future__ import annotations

import os
import re
from itertools import chain
from pathlib import Path

from itersel.corpus.sharding import REST
from itersel.errors import InputError
from itersel.storage.files import read_lines


def lines_of_fold(
    text: str | os.PathLike[str], shards: str | os.PathLike[str], fold: int, folds: int
) -> set[int]:
    """Return the line numbers (from 0) of a text that are in shards `fold`, `fold` + `folds`, ...

    Parameters
    ----------
    text
        The target side that was split into shards.
    shards
        The folder of shards made from it by `itersel.corpus.sharding`.
    fold, folds
        Number of the fold, from 0, and number of folds.

    Raises
    ------
    InputError
        If the shards were not made from exactly this text; leaving out wrong lines would go unnoticed.
    """
    folder = Path(shards)
    rest = folder / REST
    count = len([path for path in folder.glob("*.ids") if path != rest])
    if count == 0:
        raise InputError("was not made by 'itersel shard': it contains no line numbers", folder)
    if count < folds:
        raise InputError(f"contains {count} shards, too few for {folds} folds", folder)
    lines = read_lines(text)
    numbers = [_numbers(folder / f"{shard}.ids") for shard in range(count)]
    others = _numbers(rest) if rest.exists() else []
    if sorted(chain(*numbers, others)) != list(range(len(lines))):
        message = (
            f"does not contain each of the {len(lines)} lines of {os.fspath(text)} exactly once; "
            "rerun 'itersel shard'"
        )
        raise InputError(message, folder)
    for shard in range(fold, count, folds):
        path = folder / f"{shard}.target.gz"
        if read_lines(path) != [lines[number] for number in numbers[shard]]:
            message = (
                f"differs from the lines in {shard}.ids of {os.fspath(text)}; give the target side that was "
                "split into shards"
            )
            raise InputError(message, path)
    return set(chain.from_iterable(numbers[fold::folds]))


def _numbers(path: Path) -> list[int]:
    lines = read_lines(path)
    for number, line in enumerate(lines, 1):
        if not re.fullmatch("[0-9]{1,15}", line):
            raise InputError(f"'{line[:40]}' is not a line number; rerun 'itersel shard'", path, number)
    return list(map(int, lines))
