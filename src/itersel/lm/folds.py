"""The lines that the language model of a fold leaves out: those of every N-th shard, and their copies."""

from __future__ import annotations

import os
import re
from itertools import chain
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from itersel.corpus.sharding import REST
from itersel.errors import InputError
from itersel.storage.files import line_blocks, read_lines


def lines_of_fold(
    text: str | os.PathLike[str], shards: str | os.PathLike[str], fold: int, folds: int
) -> set[int]:
    """Return the line numbers (from 0) of shards `fold`, `fold` + `folds`, ..., and of their copies.

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
    lines = _digests(text)
    rows = [_numbers(folder / f"{shard}.ids") for shard in range(count)]
    numbers = [[row[0] for row in shard] for shard in rows]
    others = [row[0] for row in _numbers(rest)] if rest.exists() else []
    if sorted(chain(others, *numbers)) != list(range(lines.shape[0])):
        message = (
            f"does not contain each of the {lines.shape[0]} lines of {os.fspath(text)} exactly once; "
            "rerun 'itersel shard'"
        )
        raise InputError(message, folder)
    for shard in range(fold, count, folds):
        path = folder / f"{shard}.target.gz"
        if not np.array_equal(_digests(path), lines[numbers[shard]]):
            message = (
                f"differs from the lines in {shard}.ids of {os.fspath(text)}; give the target side that was "
                "split into shards"
            )
            raise InputError(message, path)
    return set(chain.from_iterable(chain.from_iterable(rows[fold::folds])))


def _digests(path: str | os.PathLike[str]) -> NDArray[np.uint64]:
    """Return a digest of each line of a text, which is too large to be kept."""
    blocks = (map(str.encode, lines) for lines in line_blocks(path))
    return np.fromiter(map(xxhash.xxh3_64_intdigest, chain.from_iterable(blocks)), np.uint64)


def _numbers(path: Path) -> list[list[int]]:
    """Return the line number of each sentence, followed by those of its copies."""
    lines = read_lines(path)
    for number, line in enumerate(lines, 1):
        if not re.fullmatch("[0-9]{1,15}(( [0-9]{1,15})*| @[0-9]{1,15})", line):
            raise InputError(f"'{line[:40]}' is not a line number; rerun 'itersel shard'", path, number)
    # copies that are listed elsewhere are in the same shard
    return [[int(word) for word in line.split() if word[0] != "@"] for line in lines]
