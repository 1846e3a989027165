"""Which lines of a text a language model leaves out: those of every N-th shard."""

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
    """Return the numbers (from 0) of the lines of a text that are in shards `fold`, `fold` + `folds`, ...

    Parameters
    ----------
    text
        The target side that was cut into shards.
    shards
        The folder that `itersel.corpus.sharding` made of it.
    fold, folds
        Which fold, from 0, of how many.

    Raises
    ------
    InputError
        If the folder is not made of this text, whole: a wrong line left out would pass unnoticed.
    """
    folder = Path(shards)
    rest = folder / REST
    count = len([path for path in folder.glob("*.ids") if path != rest])
    if count == 0:
        raise InputError("is no folder that `itersel shard` made: there are no line numbers in it", folder)
    if count < folds:
        raise InputError(f"holds {count} shards, too few for {folds} folds", folder)
    lines = read_lines(text)
    numbers = [_numbers(folder / f"{shard}.ids") for shard in range(count)]
    others = _numbers(rest) if rest.exists() else []
    if sorted(chain(*numbers, others)) != list(range(len(lines))):
        message = (
            f"does not have each of the {len(lines)} lines of {os.fspath(text)} once; cut that text again"
        )
        raise InputError(message, folder)
    for shard in range(fold, count, folds):
        path = folder / f"{shard}.target.gz"
        if read_lines(path) != [lines[number] for number in numbers[shard]]:
            message = f"is not what {shard}.ids names in {os.fspath(text)}; give the target side that was cut"
            raise InputError(message, path)
    return set(chain.from_iterable(numbers[fold::folds]))


def _numbers(path: Path) -> list[int]:
    lines = read_lines(path)
    for number, line in enumerate(lines, 1):
        if not re.fullmatch("[0-9]{1,15}", line):
            raise InputError(f"'{line[:40]}' is not the number of a line; cut the text again", path, number)
    return list(map(int, lines))
