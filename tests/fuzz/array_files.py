"""Damage to array files: the header and the arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import xxhash
from tests.fuzz import arrays, raw_bytes
from tests.fuzz.targets import DAMAGED

from itersel.storage.arrayfile import ALIGNMENT, DIGEST_BYTES, MAGIC
from itersel.storage.formats import FileFormat, check_arrays, digest

Header = dict[str, Any]
NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    63,
    64,
    65,
    2**31,
    2**40,
    2**62,
    2**63,
    2**64,
    10**30,
    1.5,
    2.0,
    True,
    None,
    "4",
    [],
    {},
)
DTYPES = (
    "<i4",
    "<i8",
    ">i4",
    "|u1",
    "<f4",
    "<f8",
    "<f2",
    "O",
    "V8",
    "S4",
    "U4",
    "<i4,<f4",
    "<M8[s]",
    "|b1",
    "<c8",
    "x",
    "",
)
TEXTS = ("", "x", "grammar-index", "language-model", "shard", 1, None)


class Parts:
    """The parts of an array file: its header, and its arrays by name."""

    def __init__(self, content: bytes) -> None:
        length = int.from_bytes(content[8:16], "little")
        self.header: Header = json.loads(content[16 : 16 + length])
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

    def join(self, *, seal: bool) -> bytes:
        """Return the file with all arrays in order, with correct checksums or the old ones."""
        position = 0
        body = b""
        for name, array in self.arrays.items():
            position = _align(len(body))
            body += bytes(position - len(body)) + np.ascontiguousarray(array).tobytes()
            if name in self.header["arrays"]:
                self.header["arrays"][name]["position"] = position
                if seal:
                    self.header["arrays"][name]["digest"] = digest(array)
        self.header["size"] = len(body)
        return container(json.dumps(self.header).encode(), body)


def container(header: bytes, body: bytes) -> bytes:
    """Return a file with a header and its correct checksum."""
    start = MAGIC + len(header).to_bytes(8, "little") + header + xxhash.xxh3_128_digest(header)
    return start + bytes(-len(start) % ALIGNMENT) + body


def _entry(chance: Random, header: Header) -> Header:
    entry: Header = header["arrays"][chance.choice(sorted(header["arrays"]))]
    return entry


def _position(chance: Random, header: Header) -> None:
    entry, other = _entry(chance, header), _entry(chance, header)
    entry["position"] = chance.choice((*NUMBERS, other["position"], entry["position"] + 64, -64))


def _shape(chance: Random, header: Header) -> None:
    entry = _entry(chance, header)
    shape = entry["shape"]
    place = chance.randrange(len(shape))
    kind = chance.randrange(4)
    if kind == 0:
        shape[place] = chance.choice(NUMBERS)
    elif kind == 1:
        shape[place] += chance.choice((1, -1))
    else:
        size = int(np.prod(shape))
        options = (
            [size],
            [size, 1],
            [1, size],
            shape[::-1],
            [],
            [2**32, 2**32],
            [-1, -size],
            [0, 2**62],
            [1] * 40,
            None,
            3,
            "2",
        )
        entry["shape"] = chance.choice(options)


def _dtype(chance: Random, header: Header) -> None:
    _entry(chance, header)["dtype"] = chance.choice((*DTYPES, None, 3, ["<i4"]))


def _key(chance: Random, header: Header) -> None:
    """Drop, rename or replace any key."""
    place = chance.choice((header, header["arrays"], header["attributes"], _entry(chance, header)))
    key = chance.choice(sorted(place))
    kind = chance.randrange(3)
    if kind == 0:
        del place[key]
    elif kind == 1:
        place[key + "x"] = place.pop(key)
    else:
        place[key] = chance.choice((*NUMBERS, *TEXTS))


def _names(chance: Random, header: Header) -> None:
    """Swap two entries, or make both describe the same array."""
    one, other = (chance.choice(sorted(header["arrays"])) for _ in range(2))
    entries = header["arrays"]
    if chance.random() < 0.5:
        entries[one], entries[other] = entries[other], entries[one]
    else:
        entries[one] = entries[other]


def _attributes(chance: Random, header: Header) -> None:
    key = chance.choice(sorted(header["attributes"]))
    header["attributes"][key] = chance.choice((*NUMBERS, 5, 6, 7, "three", float("nan"), float("inf")))
    if "order" in header["attributes"] and chance.random() < 0.5:
        header["attributes"]["order"] = chance.choice((1, 2, 4, 5, 6, 7, 8, 20, True, 3.0))


HEADERS: dict[str, Callable[[Random, Header], None]] = {
    "header: position": _position,
    "header: shape": _shape,
    "header: type": _dtype,
    "header: key": _key,
    "header: names": _names,
    "header: attributes": _attributes,
}
JSON = "header: not JSON"
WEIGHTS = {
    **dict.fromkeys(arrays.VALUES, 3),
    **dict.fromkeys(arrays.SHAPES, 2),
    **dict.fromkeys(HEADERS, 3),
    JSON: 2,
    "as declared": 10,
}


def mutate(chance: Random, original: Path, copy: Path, mode: str, format: FileFormat) -> list[str]:
    """Write a damaged copy of a file; returns the changes."""
    content = original.read_bytes()
    if mode == DAMAGED and chance.random() < 0.6:
        name = chance.choice(sorted(raw_bytes.OPERATIONS))
        copy.write_bytes(raw_bytes.damage(chance, content, name))
        return [name]
    if mode == DAMAGED:
        return _values_alone(chance, content, copy)
    parts = Parts(content)
    sizes = check_arrays(format, parts.arrays, original)
    chosen = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
    if chance.random() < 0.5:
        chosen = ["as declared"] * chance.choice((1, 1, 2, 5))
    if chosen[0] in HEADERS or chosen[0] == JSON:
        body = parts.join(seal=True)
        length = int.from_bytes(body[8:16], "little")
        header = _damage_header(chance, parts.header, chosen[0])
        copy.write_bytes(container(header, body[_align(16 + length + DIGEST_BYTES) :]))
        return chosen
    if chance.random() < 0.1:
        chosen += chance.choices(sorted(arrays.VALUES), k=2)
    for name in chosen:
        array = chance.choice(sorted(parts.arrays))
        values = parts.arrays[array]
        if name == "as declared":
            if (
                values.shape == tuple(parts.header["arrays"][array]["shape"])
                and values.dtype.str == format.arrays[array].dtype
            ):
                parts.put(array, arrays.redraw(chance, values, format.arrays[array], sizes))
        elif name in arrays.VALUES:
            parts.put(array, arrays.change_values(chance, values, name))
        elif values.shape[0]:
            parts.put(array, arrays.SHAPES[name](chance, values))
    copy.write_bytes(parts.join(seal=True))
    return chosen


def _values_alone(chance: Random, content: bytes, copy: Path) -> list[str]:
    """Change values without updating the checksums."""
    parts = Parts(content)
    names = chance.choices(sorted(arrays.VALUES), k=chance.choice((1, 1, 1, 3)))
    for name in names:
        array = chance.choice(sorted(parts.arrays))
        parts.put(array, arrays.change_values(chance, parts.arrays[array], name))
    copy.write_bytes(parts.join(seal=False))
    return names


def _damage_header(chance: Random, header: Header, name: str) -> bytes:
    if name != JSON:
        HEADERS[name](chance, header)
        return json.dumps(header).encode()
    text = json.dumps(header)
    options = (
        text[: chance.randrange(len(text))],
        "[" * 100_000,
        '{"a":' * 100_000,
        f"[{text}]",
        text[:-1] + ', "kind": "other"}',
        text[:-1] + ', "arrays": {}}',
        text.replace('"', "'"),
        "\ufeff" + text,
        text + "\x00",
        "null",
        "",
    )
    content = chance.choice(options).encode()
    return raw_bytes.damage(chance, content or b" ", "flip a bit") if chance.random() < 0.3 else content


def _align(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT
