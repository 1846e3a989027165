"""Numbers of translations in files of their own: further features, a quality, and users' own scores."""

from __future__ import annotations

import math
import os
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from itersel.errors import FilePath, InputError
from itersel.evaluate.names import MAX_USER_SCORE
from itersel.storage.arrays import Float64s
from itersel.storage.files import read_lines
from itersel.storage.formats import MAX_MAGNITUDE, magnitude_fault
from itersel.storage.numbers import parse_number


class Numbers(NamedTuple):
    """Numbers from a file or an array. They are read before the lists, whose size is known only later."""

    value: Float64s  # finite, of any shape
    what: str  # in messages
    path: FilePath | None

    def of_translations(self, count: int) -> Float64s:
        """Return the numbers if there is one for each translation: float64 (count)."""
        self.check_count(count)
        return self.value

    def check_count(self, count: int) -> None:
        """Raise an InputError unless there is a number for each translation."""
        shape = self.value.shape
        if shape != (count,):
            size = f"{self.what} has the shape {'x'.join(map(str, shape))}"
            if self.path is not None:
                size = f"has {shape[0]} lines"
            raise InputError(f"{size} for {count} translations; give a number for each", self.path)

    def as_quality(self, count: int) -> Float64s:
        """Return the number of each translation, scaled: the lowest is 0, the highest (the best) is 1."""
        self.check_quality(count)
        least = self.value.min()
        most = self.value.max()
        return np.asarray((self.value - least) / (most - least), np.float64)

    def check_quality(self, count: int) -> None:
        """Raise an InputError unless there is a number for each translation, and they differ."""
        self.check_count(count)
        if self.value.min() == self.value.max():
            raise InputError("all numbers are equal; there is nothing to tune for", self.path)


def read_numbers(values: FilePath | ArrayLike, what: str = "quality") -> Numbers:
    """Read numbers: from a file, each on its own line, or from an array, which messages call `what`."""
    if isinstance(values, str | os.PathLike):
        return Numbers(_parse_numbers(values, MAX_MAGNITUDE), what, values)

    try:
        numbers = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} is neither a file nor an array of numbers") from None

    wrong = np.argwhere(~(np.abs(numbers) <= MAX_MAGNITUDE))  # NaN too
    if wrong.shape[0]:
        index = ", ".join(map(str, wrong[0].tolist()))
        number = numbers[tuple(wrong[0])]
        raise InputError(f"{what}[{index}] is {number:g}, {magnitude_fault(number)}")
    return Numbers(numbers, what, None)


def read_user_score_numbers(path: FilePath) -> Numbers:
    """Read and check the numbers of one of the user's own scores in a file: up to `MAX_USER_SCORE`."""
    return Numbers(_parse_numbers(path, MAX_USER_SCORE), "score", path)


def _parse_numbers(path: FilePath, most: float) -> Float64s:
    lines = read_lines(path)
    values = np.empty(len(lines))
    for row, line in enumerate(lines):
        try:
            value = parse_number(line.strip())
        except ValueError:
            value = math.nan
        if not abs(value) <= most:
            expected = f"a finite number, up to {most:g}"
            raise InputError(f"'{line.strip()[:40]}' is not {expected}", path, row + 1)
        values[row] = value

    return values
