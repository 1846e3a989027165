"""Tables of strings as two arrays, so that millions of names cost no Python object each."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class StringTable(NamedTuple):
    """UTF-8 strings laid end to end.

    Attributes
    ----------
    data
        uint8, all bytes.
    offset
        int64 (count + 1); string i is ``data[offset[i]:offset[i + 1]]``.
    """

    data: NDArray[np.uint8]
    offset: NDArray[np.int64]

    @property
    def count(self) -> int:  # type: ignore[override]
        """Number of strings (``len()`` is the number of fields of the tuple)."""
        return int(self.offset.shape[0]) - 1

    def get(self, index: int) -> str:
        """Return one string."""
        return self.data[self.offset[index] : self.offset[index + 1]].tobytes().decode()

    def to_list(self) -> list[str]:
        """Return all strings."""
        content, ends = self.data.tobytes(), self.offset.tolist()
        return [content[a:b].decode() for a, b in itertools.pairwise(ends)]

    def take(self, indices: NDArray[np.integer]) -> StringTable:
        """Return the table of the strings at `indices`, in that order."""
        length = np.diff(self.offset)[indices]
        offset = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
        # position in data = start of the string + distance from its start in the result
        position = np.arange(offset[-1]) + np.repeat(self.offset[:-1][indices] - offset[:-1], length)
        return StringTable(self.data[position], offset)


def string_table(strings: Iterable[str]) -> StringTable:
    """Lay strings end to end."""
    encoded = [text.encode() for text in strings]
    offset = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offset[1:])
    return StringTable(np.frombuffer(b"".join(encoded), np.uint8), offset)


def concatenate(tables: Sequence[StringTable]) -> StringTable:
    """Return one table with the strings of all `tables` in order."""
    lengths = [np.diff(table.offset) for table in tables]
    offset = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
    return StringTable(np.concatenate([table.data for table in tables]), offset)
