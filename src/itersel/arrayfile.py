"""A container of named arrays that many processes map read-only: one copy in memory per node.

Layout: 8 bytes magic, 8 bytes length of the header (little-endian), the header (JSON: kind, attributes,
and of each array its type, shape and position), then the arrays, each aligned to 64 bytes (one cache
line). Why not .npz or HDF5: neither is mapped without copying.
"""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.files import atomic_path

MAGIC = b"ITERSEL\x01"
ALIGNMENT = 64
DAMAGED = "damaged or truncated; make it anew"

# type, as numpy writes it in full ("<i4"), and number of dimensions
ArrayType = tuple[str, int]


def write_arrays(
    path: str | os.PathLike[str],
    kind: str,
    arrays: Mapping[str, NDArray[Any]],
    attributes: Mapping[str, Any],
    format: int,
) -> None:
    """Write arrays and JSON-serialisable attributes.

    `kind` names what the file is; `format` is to be raised when the layout of that kind changes.
    """
    entries: dict[str, dict[str, Any]] = {}
    position = 0
    for name, array in arrays.items():
        position = _align(position)
        entries[name] = {"dtype": array.dtype.str, "shape": list(array.shape), "position": position}
        position += array.nbytes
    document = {
        "kind": kind,
        "format": format,
        "attributes": dict(attributes),
        "arrays": entries,
        "size": position,
    }
    header = json.dumps(document).encode()
    start = _align(16 + len(header))
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        stream.write(MAGIC + len(header).to_bytes(8, "little") + header)
        for name, array in arrays.items():
            stream.seek(start + entries[name]["position"])
            stream.write(np.ascontiguousarray(array).data if array.size else b"")
        stream.truncate(start + position)


def map_arrays(
    path: str | os.PathLike[str], kind: str, types: Mapping[str, ArrayType], format: int
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Map a file of `write_arrays`; returns the arrays (read-only) and the attributes.

    Parameters
    ----------
    path, kind, format
        The file, and what it must be.
    types
        By name, the type and the number of dimensions of every array that there must be.

    Raises
    ------
    InputError
        If the file is missing, of another kind or format, damaged, or shorter than its header says.
    """
    try:
        with open(path, "rb") as stream:
            magic, length = stream.read(8), int.from_bytes(stream.read(8), "little")
            if magic != MAGIC:
                raise InputError(f"is not a file of kind '{kind}' made by itersel", path)
            size = os.fstat(stream.fileno()).st_size
            header = stream.read(min(length, size))
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except IsADirectoryError:
        raise InputError("is a folder, a file was expected", path) from None
    try:
        document = json.loads(header)
        found, number = document["kind"], document.get("format")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(DAMAGED, path) from None
    if found != kind:
        raise InputError(f"holds a '{found}', a '{kind}' was expected", path)
    if number != format:
        raise InputError(f"is a '{kind}' of another version of itersel; make it anew", path)
    start = _align(16 + length)
    try:
        if size < start + document["size"]:
            raise InputError("truncated; make it anew", path)
        whole = np.memmap(path, np.uint8, "r")
        arrays = {name: _view(whole[start:], document["arrays"][name], *types[name]) for name in types}
        return arrays, dict(document["attributes"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise InputError(DAMAGED, path) from None


def _view(data: NDArray[np.uint8], entry: Mapping[str, Any], dtype: str, dimensions: int) -> NDArray[Any]:
    """Return an array that lies in `data`.

    Raises
    ------
    ValueError, KeyError, TypeError
        If the entry of the header does not describe such an array.
    """
    shape, begin = [operator.index(size) for size in entry["shape"]], operator.index(entry["position"])
    end = begin + math.prod(shape) * np.dtype(dtype).itemsize
    if entry["dtype"] != dtype or len(shape) != dimensions or min(shape, default=0) < 0:
        raise ValueError("not of that type")
    if not 0 <= begin <= end <= data.shape[0]:
        raise ValueError("outside the file")
    return np.asarray(data[begin:end]).view(dtype).reshape(shape)


def _align(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT
