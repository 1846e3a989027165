"""Declared formats of binary files, and the checks that every reader runs before passing arrays to kernels.

Kernels do not check bounds. Therefore this module first compares each array of a file with its declaration:
type, shape, range of the values, the array that an index points into, offsets that never decrease. Other
damage is detected by a checksum per array; see `checksum`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from itersel.errors import FilePath as FilePath
from itersel.errors import InputError

Arrays = Mapping[str, NDArray[Any]]

# A feature value, weight or cost beyond this can only be damage; the product of two is still finite.
MAX_MAGNITUDE = 1e12


def magnitude_fault(value: float) -> str:
    """Say what is wrong with a number that is NaN, infinite or beyond `MAX_MAGNITUDE`."""
    return f"beyond {MAX_MAGNITUDE:g}" if math.isfinite(value) else "not finite"


@dataclass(frozen=True)
class Array:
    """Declaration of one array of a file."""

    dtype: str  # numpy's full type string, such as ``<i4``
    # One entry per dimension: a number, or the name of a size shared with other arrays. ``R+1`` is one more
    # than ``R``. The first array that uses a name defines its value.
    shape: tuple[str | int, ...]
    # Bounds of the values, both inclusive.
    least: float | None = None
    most: float | None = None
    # The name of a size: values are rows of an array of that size, so they must be smaller.
    below: str | None = None
    # The name of a size: values are offsets that begin with 0, never decrease, and end with that size.
    into: str | None = None
    text: str | None = None  # the name of a ``uint8`` array that the offsets split into UTF-8 strings
    rising: bool = False  # values are strictly increasing
    optional: bool = False  # the array may have no rows, regardless of its size
    # Few files need the array: all such arrays are left out if none of them has rows. Implies `optional`.
    is_extra: bool = False
    # Compressed after byte shuffling, if the file is packed; see `itersel.storage.hdf5.write_arrays`.
    shuffled: bool = False


@dataclass(frozen=True)
class FileFormat:
    """A kind of file: its name, layout version, the commands that make it, and its arrays.

    Increase `version` when the layout changes.
    """

    kind: str  # recorded in the file
    version: int
    made_by: tuple[str, ...]
    arrays: Mapping[str, Array]
    packed: bool = False  # arrays are stored compressed; only in HDF5 files


def numbers(dtype: str, *shape: str | int, **more: Any) -> Array:
    """Declare an array of finite numbers with a magnitude of at most `MAX_MAGNITUDE`."""
    return Array(dtype, shape, **{"least": -MAX_MAGNITUDE, "most": MAX_MAGNITUDE, **more})


def offsets(rows: str, into: str, **more: Any) -> Array:
    """Declare where each of the `rows` of a ragged array begins and the last one ends."""
    return Array("<i8", (f"{rows}+1",), into=into, **more)


def strings(name: str, count: str, what: str, is_extra: bool = False, **of_offsets: Any) -> dict[str, Array]:
    """Declare a table of `count` strings: their bytes, and the offsets ``<name>_offset``."""
    size = f"bytes of {what}"
    return {
        name: Array("|u1", (size,), is_extra=is_extra),
        f"{name}_offset": offsets(count, size, text=name, is_extra=is_extra, **of_offsets),
    }


def without_extra(format: FileFormat) -> FileFormat:
    """Return the format without extra arrays (`Array.is_extra`)."""
    arrays = {name: array for name, array in format.arrays.items() if not array.is_extra}
    return replace(format, arrays=arrays)


class Digest:
    """The checksum of an array, XXH3 (128 bits) of its bytes, type and shape, computed incrementally."""

    def __init__(self) -> None:
        self._hasher = xxhash.xxh3_128()
        self._rows = 0

    def add(self, part: NDArray[Any]) -> None:
        """Add the next rows."""
        self._rows += part.shape[0]
        if part.size:
            self._hasher.update(np.ascontiguousarray(part).data)

    def result(self, like: NDArray[Any]) -> str:
        """Return the checksum of an array of all rows, with the type and other dimensions of `like`."""
        hasher = self._hasher.copy()
        hasher.update(f"{like.dtype.str}{[self._rows, *like.shape[1:]]}".encode())
        return hasher.hexdigest()


def checksum(array: NDArray[Any]) -> str:
    """Return the checksum of a whole array."""
    hasher = Digest()
    hasher.add(array)
    return hasher.result(array)


def damaged_file(path: FilePath, why: str) -> InputError:
    """Return the error for a damaged file."""
    return InputError(f"damaged: {why}; recreate the file", path)


def damaged(path: FilePath, name: str, why: str) -> InputError:
    """Return the error for a damaged array."""
    return damaged_file(path, f"array '{name}' {why}")


def check_digests(arrays: Arrays, digests: Mapping[str, str], path: FilePath) -> None:
    """Raise an InputError if an array is not the one that was written."""
    for name, array in arrays.items():
        if digests.get(name) != checksum(array):
            raise damaged(path, name, "does not match its checksum")


def check_arrays(format: FileFormat, arrays: Arrays, path: FilePath) -> dict[str, int]:
    """Compare the arrays of a file with its format, and return the sizes by name."""
    sizes: dict[str, int] = {}
    for name, declared in format.arrays.items():
        _check_shape(name, arrays[name], declared, sizes, path)

    for name, declared in format.arrays.items():
        array = arrays[name]
        if (declared.optional or declared.is_extra) and array.size == 0:
            continue

        if declared.into is not None:
            if declared.into not in sizes:
                raise damaged(path, name, f"has rows, but there are no {declared.into}")
            _check_offsets(name, array, sizes[declared.into], path)
        if declared.text is not None:
            check_strings(declared.text, arrays[declared.text], array, path)
        _check_values(name, array, declared, sizes, path)

    return sizes


def _check_shape(
    name: str, array: NDArray[Any], declared: Array, sizes: dict[str, int], path: FilePath
) -> None:
    if array.dtype.str != declared.dtype:
        raise damaged(path, name, f"is of type {array.dtype.str}, not {declared.dtype}")
    if array.ndim != len(declared.shape):
        raise damaged(path, name, f"has {array.ndim} dimensions, not {len(declared.shape)}")
    if (declared.optional or declared.is_extra) and array.shape[0] == 0:
        return

    for found, wanted in zip(array.shape, declared.shape, strict=True):
        if isinstance(wanted, int):
            size = wanted
            more = 0
        else:
            key, more = _key_of(wanted)
            size = sizes.setdefault(key, found - more)

        if found != size + more or size < 0:
            expected = "x".join(str(_size(entry, sizes)) for entry in declared.shape)
            shape = "x".join(map(str, array.shape))
            raise damaged(path, name, f"has the shape {shape}, not {expected}")


def _size(entry: str | int, sizes: Mapping[str, int]) -> int | str:
    """Return a size for a message, or its name if it is unknown."""
    if isinstance(entry, int):
        return entry
    key, more = _key_of(entry)
    return sizes[key] + more if key in sizes else entry


def _key_of(entry: str) -> tuple[str, int]:
    """Return the name of a size and what is added to it: ``rows+1`` is one more than ``rows``."""
    key = entry.removesuffix("+1")
    return key, 0 if key == entry else 1


def _check_offsets(name: str, offset: NDArray[Any], size: int, path: FilePath) -> None:
    if offset[0] != 0 or offset[-1] != size:
        raise damaged(path, name, f"runs from {offset[0]} to {offset[-1]}, not from 0 to {size}")
    if not (offset[1:] >= offset[:-1]).all():
        raise damaged(path, name, f"falls after row {int(np.argmax(offset[1:] < offset[:-1]))}")


def check_strings(name: str, data: NDArray[Any], offset: NDArray[Any], path: FilePath) -> None:
    """Raise an InputError unless non-decreasing offsets split bytes into UTF-8 strings."""
    if data.size == 0 or data.max() < 0x80:
        return
    begins = offset[: np.searchsorted(offset, data.shape[0])]
    # 10xxxxxx continues a character: no string may begin inside one
    if (data[begins] & 0xC0 == 0x80).any():
        raise damaged(path, name, "is cut inside of a character")
    try:
        data.tobytes().decode()
    except UnicodeDecodeError:
        raise damaged(path, name, "is not UTF-8") from None


def _check_values(
    name: str, array: NDArray[Any], declared: Array, sizes: Mapping[str, int], path: FilePath
) -> None:
    if declared.rising and not (array[1:] > array[:-1]).all():
        raise damaged(path, name, f"does not rise after row {int(np.argmin(array[1:] > array[:-1]))}")

    most = declared.most if declared.below is None else sizes[declared.below] - 1
    if array.size == 0 or (declared.least is None and most is None):
        return

    # Two passes need no temporary array. If there is a NaN, the minimum is NaN.
    low = array.min()
    high = array.max()
    least = low if declared.least is None else declared.least
    most = high if most is None else most
    if least <= low and high <= most:
        return

    is_allowed = (array >= least) & (array <= most)
    row_size = array.size // array.shape[0]
    row = int(np.argmin(is_allowed)) // row_size
    bad = array[row] if array.ndim == 1 else array[row].tolist()
    raise damaged(path, name, f"contains {bad} in row {row}, outside of {least} to {most}")
