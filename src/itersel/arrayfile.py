"""A container of named arrays that many processes map read-only: one copy in memory per node.

Layout: 8 bytes magic, 8 bytes length of the header (little-endian), the header (JSON: kind, attributes,
and of each array its type, shape and position), then the arrays, each aligned to 64 bytes (one cache
line). Why not .npz or HDF5: neither is mapped without copying.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.files import atomic_path

MAGIC = b"ITERSEL\x01"
ALIGNMENT = 64


def write_arrays(
    path: str | os.PathLike[str],
    kind: str,
    arrays: Mapping[str, NDArray[Any]],
    attributes: Mapping[str, Any],
) -> None:
    """Write arrays and JSON-serialisable attributes; `kind` names what the file is."""
    entries: dict[str, dict[str, Any]] = {}
    position = 0
    for name, array in arrays.items():
        position = _align(position)
        entries[name] = {"dtype": array.dtype.str, "shape": list(array.shape), "position": position}
        position += array.nbytes
    document = {"kind": kind, "attributes": dict(attributes), "arrays": entries, "size": position}
    header = json.dumps(document).encode()
    start = _align(16 + len(header))
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        stream.write(MAGIC + len(header).to_bytes(8, "little") + header)
        for name, array in arrays.items():
            stream.seek(start + entries[name]["position"])
            stream.write(np.ascontiguousarray(array).data if array.size else b"")
        stream.truncate(start + position)


def map_arrays(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Map a file of `write_arrays`; returns the arrays (read-only) and the attributes.

    Raises
    ------
    InputError
        If the file is missing, of another kind, or shorter than its header says.
    """
    try:
        with open(path, "rb") as stream:
            magic, length = stream.read(8), int.from_bytes(stream.read(8), "little")
            if magic != MAGIC:
                raise InputError(f"is not a file of kind '{kind}' made by itersel", path)
            header = stream.read(length)
            size = os.fstat(stream.fileno()).st_size
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except IsADirectoryError:
        raise InputError("is a folder, a file was expected", path) from None
    start = _align(16 + length)
    try:
        document = json.loads(header)
    except ValueError:
        raise InputError("damaged or truncated; make it anew", path) from None
    if document["kind"] != kind:
        raise InputError(f"holds a '{document['kind']}', a '{kind}' was expected", path)
    if size < start + document["size"]:
        raise InputError("truncated; make it anew", path)
    whole = np.memmap(path, np.uint8, "r", offset=0) if size else np.empty(0, np.uint8)
    arrays = {}
    for name, entry in document["arrays"].items():
        dtype, begin = np.dtype(entry["dtype"]), start + entry["position"]
        count = int(np.prod(entry["shape"], dtype=np.int64))
        view = np.asarray(whole[begin : begin + count * dtype.itemsize]).view(dtype)
        arrays[name] = view.reshape(entry["shape"])
    return arrays, document["attributes"]


def _align(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT
