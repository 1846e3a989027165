"""A container of named arrays that many processes map read-only: one copy in memory per node.

Layout: 8 bytes magic, 8 bytes length of the header (little-endian), the header (JSON: kind, attributes, and
the type, shape, position and checksum of each array), 16 bytes checksum of the header (XXH3), then the
arrays, each aligned to 64 bytes (one cache line). Neither .npz nor HDF5 files can be mapped without copying.
"""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from itersel.errors import FilePath, InputError, checked, opening
from itersel.run.atomic import atomic_path
from itersel.storage.arrays import UInt8s
from itersel.storage.formats import Arrays, FileFormat, check_arrays, check_digests, checksum

MAGIC = b"ITERSEL\x02"
MAGIC_START = b"ITERSEL"
ALIGNMENT = 64
DIGEST_BYTES = 16
MAX_DIMENSIONS = 3
DAMAGED = "damaged or truncated; recreate it"


def write_arrays(path: FilePath, format: FileFormat, arrays: Arrays, attributes: Mapping[str, Any]) -> None:
    """Write arrays and JSON-serialisable attributes, with checksums."""
    entries: dict[str, dict[str, Any]] = {}
    position = 0
    for name in format.arrays:
        array = arrays[name]
        position = _align(position)
        entries[name] = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "position": position,
            "digest": checksum(array),
        }
        position += array.nbytes

    document = {
        "kind": format.kind,
        "format": format.version,
        "attributes": dict(attributes),
        "arrays": entries,
        "size": position,
    }
    header = json.dumps(document).encode()
    start = _align(16 + len(header) + DIGEST_BYTES)

    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        stream.write(MAGIC + len(header).to_bytes(8, "little") + header + xxhash.xxh3_128_digest(header))
        for name in format.arrays:
            stream.seek(start + entries[name]["position"])
            stream.write(np.ascontiguousarray(arrays[name]).data if arrays[name].size else b"")
        stream.truncate(start + position)


def map_arrays(path: FilePath, format: FileFormat) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Map a file written by `write_arrays`; returns the arrays (read-only) and the attributes.

    The whole file is read once to verify the checksums, which takes a second for 10 GB already in memory.
    """
    header, start = _read_header(path, format.kind)
    with checked(path, DAMAGED):
        document = json.loads(header)
        kind = document["kind"]
        entries = document["arrays"]
        attributes = dict(document["attributes"])

        if kind != format.kind:
            raise InputError(f"contains a '{kind}', expected a '{format.kind}'", path)
        if document["format"] != format.version:
            raise InputError(f"is a '{kind}' of another version of itersel; recreate it", path)

        whole = np.memmap(path, np.uint8, "r")
        if whole.shape[0] < start + document["size"]:
            raise InputError("truncated; recreate it", path)
        arrays = {name: _view(whole[start:], entries[name]) for name in format.arrays}
        digests = {name: entries[name]["digest"] for name in format.arrays}

    check_digests(arrays, digests, path)
    check_arrays(format, arrays, path)
    return arrays, attributes


def is_array_file(path: FilePath) -> bool:
    """Return whether a file has this format; False for what cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read(len(MAGIC_START)) == MAGIC_START
    except OSError:
        return False


def kind_of(path: FilePath, expected: str) -> str:
    """Return the kind of a file of this format; `expected` is named if it has another format."""
    header, _ = _read_header(path, expected)
    with checked(path, DAMAGED):
        return str(json.loads(header)["kind"])


def _read_header(path: FilePath, kind: str) -> tuple[bytes, int]:
    """Return the header, and the position where the arrays begin."""
    with opening(path), open(path, "rb") as stream:
        magic = stream.read(len(MAGIC))
        length = int.from_bytes(stream.read(8), "little")
        size = os.fstat(stream.fileno()).st_size
        header, found = stream.read(min(length, size)), stream.read(DIGEST_BYTES)
    if not magic.startswith(MAGIC_START):
        raise InputError(f"is not a file of kind '{kind}' made by itersel", path)
    if magic != MAGIC:
        raise InputError("was made by another version of itersel; recreate it", path)
    if found != xxhash.xxh3_128_digest(header):
        raise InputError(DAMAGED, path)
    return header, _align(16 + length + DIGEST_BYTES)


def _view(data: UInt8s, entry: Mapping[str, Any]) -> NDArray[Any]:
    """Return a view of an array in `data`; an error of Python if the header entry describes none."""
    shape = [operator.index(size) for size in entry["shape"]]
    begin = operator.index(entry["position"])
    dtype = np.dtype(entry["dtype"])
    end = begin + math.prod(shape) * dtype.itemsize
    if dtype.kind not in "iuf" or not 1 <= len(shape) <= MAX_DIMENSIONS or min(shape) < 0:
        raise ValueError("not an array of numbers")
    if not 0 <= begin <= end <= data.shape[0] or begin % ALIGNMENT:
        raise ValueError("outside the file")
    view: NDArray[Any] = np.asarray(data[begin:end]).view(dtype).reshape(shape)
    return view


def _align(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT
