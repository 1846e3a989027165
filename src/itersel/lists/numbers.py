"""Numbers of translations in files of their own: further features, a quality, and users' own scores."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from itersel.corpus.text import find_control, split_words
from itersel.errors import FilePath, InputError
from itersel.evaluate.names import MAX_USER_SCORE
from itersel.storage.arrays import Float64s
from itersel.storage.files import read_lines
from itersel.storage.formats import MAX_MAGNITUDE, magnitude_fault
from itersel.storage.numbers import parse_number


class Numbers(NamedTuple):
    """Numbers from a file or an array. They are read before the lists, whose size is known only later.

    Shape: H translations in the lists.
    """

    value: Float64s  # finite; of any shape until it has been compared with the lists, then (H)
    what: str  # in messages
    path: FilePath | None

    def of_translations(self, count: int) -> Float64s:
        """Return the number of each translation, float64 (H), given their `count`."""
        self.check_count(count)
        return self.value

    def check_count(self, count: int) -> None:
        """Raise an InputError unless there is a number for each of `count` translations."""
        shape = self.value.shape
        if shape != (count,):
            size = f"{self.what} has the shape {'x'.join(map(str, shape))}"
            if self.path is not None:
                size = f"has {shape[0]} lines"
            raise InputError(f"{size} for {count} translations; give a number for each", self.path)

    def as_quality(self, count: int) -> Float64s:
        """Return scaled numbers, float64 (H): 0 for the lowest, 1 for the highest, which is the best."""
        self.check_quality(count)
        least = self.value.min()
        most = self.value.max()
        return np.asarray((self.value - least) / (most - least), np.float64)

    def check_quality(self, count: int) -> None:
        """Raise an InputError unless there is a number for each of `count` translations, and they differ."""
        self.check_count(count)
        if self.value.min() == self.value.max():
            raise InputError("all numbers are equal; there is nothing to tune for", self.path)


def read_numbers(values: FilePath | ArrayLike, what: str = "quality") -> Numbers:
    """Read numbers: from a file, each on its own line, or from an array, which messages call `what`.

    An array may have any shape here; `Numbers.check_count` refuses all but one dimension.
    """
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


def read_further_features(given: Mapping[str, FilePath | ArrayLike]) -> dict[str, Numbers]:
    """Read features besides those in lists: for each name, a number for each line, from a file or array."""
    found = {}
    for name, values in given.items():
        found[name] = read_numbers(values, f"the feature '{name}'")
        if split_words(name) != [name] or find_control(name):
            raise InputError(f"{name!r} cannot be the name of a feature", found[name].path)
    return found


def read_user_score_numbers(path: FilePath) -> Numbers:
    """Read and check the numbers of one of the user's own scores in a file: up to `MAX_USER_SCORE`."""
    return Numbers(_parse_numbers(path, MAX_USER_SCORE), "score", path)


def _parse_numbers(path: FilePath, most: float) -> Float64s:
    """Return the numbers in the lines of a file, one each, with a magnitude of at most `most`."""
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
