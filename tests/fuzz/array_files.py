"""Damage to array files: the header and the arrays."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import xxhash
from tests.fuzz import arrays, documents, texts
from tests.fuzz.targets import DAMAGED

from itersel.storage.arrayfile import ALIGNMENT, DIGEST_BYTES, MAGIC
from itersel.storage.formats import FileFormat, check_arrays, digest

HEADER = "header"
WEIGHTS = {**arrays.WEIGHTS, HEADER: 20}


class Parts:
    """The parts of an array file: its header, and its arrays by name."""

    def __init__(self, content: bytes) -> None:
        length = int.from_bytes(content[8:16], "little")
        self.header: dict[str, Any] = json.loads(content[16 : 16 + length])
        self.arrays = {}
        start = _align(16 + length + DIGEST_BYTES)
        for name, entry in self.header["arrays"].items():
            count = int(np.prod(entry["shape"], dtype=np.int64))
            flat = np.frombuffer(content, entry["dtype"], count, start + entry["position"])
            self.arrays[name] = flat.reshape(entry["shape"]).copy()

    def put(self, name: str, array: arrays.AnyArray) -> None:
        """Replace an array and its entry in the header."""
        self.arrays[name] = array
        self.header["arrays"][name].update(dtype=array.dtype.str, shape=list(array.shape))

    def body(self, *, seal: bool) -> bytes:
        """Return all arrays in order; the header gets their places and, if `seal`, correct checksums."""
        body = b""
        for name, array in self.arrays.items():
            entry = self.header["arrays"][name]
            entry["position"] = _align(len(body))
            body += bytes(entry["position"] - len(body)) + np.ascontiguousarray(array).tobytes()
            if seal:
                entry["digest"] = digest(array)
        self.header["size"] = len(body)
        return body


def container(header: str, body: bytes) -> bytes:
    """Return a file with a header and its correct checksum."""
    text = header.encode(errors="surrogateescape")
    start = MAGIC + len(text).to_bytes(8, "little") + text + xxhash.xxh3_128_digest(text)
    return start + bytes(-len(start) % ALIGNMENT) + body


def mutate(chance: Random, original: Path, copy: Path, mode: str, format: FileFormat) -> list[str]:
    """Write a damaged copy of a file; returns the changes."""
    content = original.read_bytes()
    if mode == DAMAGED and chance.random() < 0.6:
        name = chance.choice(sorted(texts.BYTES))
        copy.write_bytes(texts.damage(chance, content, name))
        return [name]
    parts = Parts(content)
    sizes = check_arrays(format, parts.arrays, original)
    weights = dict.fromkeys(arrays.VALUES, 1) if mode == DAMAGED else WEIGHTS
    chosen = chance.choices(list(weights), list(weights.values()), k=chance.choice((1, 1, 1, 3)))
    if mode != DAMAGED and chance.random() < 0.5:
        chosen = [arrays.DECLARED] * chance.choice((1, 1, 2, 5))
    for name in chosen:
        array = chance.choice(sorted(parts.arrays))
        if name != HEADER:
            result = arrays.apply(chance, parts.arrays[array], name, format.arrays[array], sizes)
            if result is not None:
                parts.put(array, result)
    body = parts.body(seal=mode != DAMAGED)
    header = json.dumps(parts.header)
    if HEADER in chosen:
        header, changes = documents.change_json(chance, header)
        chosen += changes
    copy.write_bytes(container(header, body))
    return chosen


def _align(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT
