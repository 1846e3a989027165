"""Numbers of translations given separately from the lists: further features, and a quality to learn from."""

from __future__ import annotations

import math
import os

import numpy as np
from numpy.typing import ArrayLike

from itersel.errors import FilePath, InputError
from itersel.storage.arrays import Float64s
from itersel.storage.files import read_lines
from itersel.storage.formats import MAX_MAGNITUDE
from itersel.storage.numbers import parse_number


def read_numbers(path: FilePath, count: int) -> Float64s:
    """Read one number for each translation, each on its own line: float64 (count)."""
    lines = read_lines(path)
    if len(lines) != count:
        raise InputError(f"has {len(lines)} lines for {count} translations; give a number for each", path)

    values = np.empty(count)
    for row, line in enumerate(lines):
        try:
            value = parse_number(line.strip())
        except ValueError:
            value = math.nan
        if not abs(value) <= MAX_MAGNITUDE:
            raise InputError(f"'{line.strip()[:40]}' is not a finite number", path, row + 1)
        values[row] = value

    return values


def checked_numbers(values: FilePath | ArrayLike, count: int, what: str) -> Float64s:
    """Return one number for each translation, from a file or an array: float64 (count)."""
    if isinstance(values, str | os.PathLike):
        return read_numbers(values, count)

    try:
        numbers = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} is neither a file nor an array of numbers") from None

    if numbers.shape != (count,):
        shape = "x".join(map(str, numbers.shape))
        raise InputError(f"{what} has the shape {shape} for {count} translations; give a number for each")
    wrong = np.flatnonzero(~(np.abs(numbers) <= MAX_MAGNITUDE))  # NaN too
    if wrong.shape[0]:
        raise InputError(f"{what}[{wrong[0]}] is {numbers[wrong[0]]}; it must be finite")
    return numbers


def checked_quality(quality: FilePath | ArrayLike, count: int) -> Float64s:
    """Return a number for each translation, scaled so that the lowest is 0 and the highest is 1.

    They are from a file, or an array (count); higher is better.
    """
    numbers = checked_numbers(quality, count, "quality")
    least, most = numbers.min(), numbers.max()
    if least == most:
        path = quality if isinstance(quality, str | os.PathLike) else None
        raise InputError("all numbers are equal; there is nothing to tune for", path)
    return np.asarray((numbers - least) / (most - least), np.float64)
