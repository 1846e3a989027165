"""Tables of strings as ragged arrays of bytes: millions of names without a Python object for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from itersel.storage.arrays import Int64s, UInt8s
from itersel.storage.ragged import offsets_of
from itersel.storage.string_kernels import take_strings


class Strings(Protocol):
    """What a `StringTable` and names that are written on demand have in common."""

    def get(self, index: int) -> str:
        """Return one string."""

    def take(self, indices: NDArray[np.integer]) -> StringTable:
        """Return the table of the strings at `indices`, in that order."""


class StringTable(NamedTuple):
    """Concatenated UTF-8 strings."""

    data: UInt8s  # uint8, all bytes
    offset: Int64s  # (count + 1); string i is ``data[offset[i]:offset[i + 1]]``

    @property
    def count(self) -> int:  # type: ignore[override]
        """Number of strings (``len()`` is the number of fields of the tuple)."""
        return int(self.offset.shape[0]) - 1

    def get(self, index: int, errors: str = "strict") -> str:
        """Return one string; `errors` is as for `bytes.decode`, for data that may not be UTF-8."""
        return self.data[self.offset[index] : self.offset[index + 1]].tobytes().decode(errors=errors)

    def to_list(self) -> list[str]:
        """Return all strings."""
        content = self.data.tobytes()
        ends = self.offset.tolist()
        return [content[a:b].decode() for a, b in itertools.pairwise(ends)]

    def take(self, indices: NDArray[np.integer]) -> StringTable:
        """Return the table of the strings at `indices`, in that order."""
        rows = np.ascontiguousarray(indices, np.int64)
        return StringTable(*take_strings(self.data, self.offset, rows))


def string_table(strings: Iterable[str]) -> StringTable:
    """Build a table from strings."""
    encoded = [text.encode() for text in strings]
    # A bytearray, because kernels would be compiled again for read-only arrays.
    data = np.frombuffer(bytearray(b"".join(encoded)), np.uint8)
    return StringTable(data, offsets_of([len(text) for text in encoded]))


def concatenate(tables: Sequence[StringTable]) -> StringTable:
    """Return a table with the strings of all `tables` in order."""
    lengths = np.concatenate([np.diff(table.offset) for table in tables])
    return StringTable(np.concatenate([table.data for table in tables]), offsets_of(lengths))


def arrays_of(record: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of a dataclass by name; the offsets of a table of strings are ``<name>_offset``."""
    arrays: dict[str, NDArray[Any]] = {}
    for item in fields(record):
        value = getattr(record, item.name)
        if isinstance(value, StringTable):
            arrays[item.name], arrays[f"{item.name}_offset"] = value
        elif isinstance(value, np.ndarray):
            arrays[item.name] = value
    return arrays


def strings_in(arrays: Mapping[str, NDArray[Any]], name: str) -> StringTable:
    """Return a table of strings, given arrays named as in `arrays_of`.

    It is empty if its offsets have no rows.
    """
    data = arrays[name]
    offset = arrays[f"{name}_offset"]
    return StringTable(data, offset) if offset.shape[0] else string_table(())


def fields_of(kind: type[Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the fields of a dataclass that are in `arrays`, as `arrays_of` names them.

    The module of `kind` must postpone annotations.
    """
    found: dict[str, Any] = {}
    for item in fields(kind):
        if str(item.type).startswith("StringTable"):
            found[item.name] = strings_in(arrays, item.name)
        elif item.name in arrays:
            found[item.name] = arrays[item.name]
    return found
