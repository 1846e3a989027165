"""Damage to the structure of HDF5 files: attributes, and other HDF5 objects instead of arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import h5py
import numpy as np

from itersel.storage.hdf5 import write_attribute

HUGE = (2**31, 2**40, 2**61)


def _names(stream: h5py.File) -> list[str]:
    names: list[str] = []
    stream.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return names


def _name(chance: Random, stream: h5py.File) -> str:
    return chance.choice(_names(stream) or [""])


def _values(stream: h5py.File, name: str) -> Any:
    """Return an array, or zeros if an earlier operation made it huge or self-referential."""
    dataset = stream[name]
    return np.zeros(3) if dataset.nbytes > 1 << 24 or dataset.is_virtual else dataset[()]


def replace(stream: h5py.File, name: str, array: Any, **more: Any) -> None:
    """Replace an array by another."""
    del stream[name]
    stream.create_dataset(name, data=array, **more)


def _missing(chance: Random, stream: h5py.File) -> None:
    name = _name(chance, stream)
    del stream[name if chance.random() < 0.8 else name.split("/")[0]]


def _swapped(chance: Random, stream: h5py.File) -> None:
    one, other = _name(chance, stream), _name(chance, stream)
    if one != other:
        stream.move(one, "kept")
        stream.move(other, one)
        stream.move("kept", other)


def _duplicated(chance: Random, stream: h5py.File) -> None:
    one, other = _name(chance, stream), _name(chance, stream)
    if one != other:
        target = stream[one]
        del stream[other]
        stream[other] = target


def _linked(chance: Random, stream: h5py.File) -> None:
    """Replace an array by a link: to itself, to nothing, or to another file."""
    name = _name(chance, stream)
    array = _values(stream, name)
    del stream[name]
    kind = chance.randrange(5)
    if kind == 0:
        stream["kept"] = array
        stream[name] = h5py.SoftLink("/kept")
    elif kind == 1:
        stream[name] = h5py.SoftLink("/nowhere")
    elif kind == 2:
        stream[name] = h5py.SoftLink(f"/{name}")
    else:
        stream[name] = h5py.ExternalLink(chance.choice(("weights.h5", "nothing.h5", "/dev/zero")), name)


def _elsewhere(chance: Random, stream: h5py.File) -> None:
    """Store the values of an array outside of the file, or nowhere."""
    name = _name(chance, stream)
    shape, dtype = stream[name].shape, stream[name].dtype
    array = _values(stream, name)
    del stream[name]
    kind = chance.randrange(3)
    if kind == 0:
        layout = h5py.VirtualLayout(shape, dtype)
        if 0 not in shape:
            layout[...] = h5py.VirtualSource(
                chance.choice(("shard.h5", ".", "nothing.h5")), name, shape, dtype
            )
        stream.create_virtual_dataset(name, layout)
    elif kind == 1:
        file = chance.choice(("source.txt", "nothing", "/dev/zero"))
        stream.create_dataset(name, shape, dtype, external=[(file, 0, h5py.h5f.UNLIMITED)])
    else:
        stream.create_group(name)["0"] = array


def _huge(chance: Random, stream: h5py.File) -> None:
    """Declare a huge array without data."""
    name = _name(chance, stream)
    dtype, ndim = stream[name].dtype, stream[name].ndim
    del stream[name]
    shape = (chance.choice(HUGE), *(2,) * (ndim - 1))
    more: dict[str, Any] = {}
    if chance.random() < 0.6:
        more = {"chunks": (1 << 16, *shape[1:])}
        if chance.random() < 0.5:
            more |= {"compression": "gzip"}
    dataset = stream.create_dataset(name, shape, dtype, **more)  # HDF5 refuses some; then it is missing
    if more:
        dataset[:4] = 1


def _filters(chance: Random, stream: h5py.File) -> None:
    """Change the storage of an array."""
    name = _name(chance, stream)
    array = _values(stream, name)
    if array.size == 0:
        return
    options: list[dict[str, Any]] = [
        {"compression": "gzip", "compression_opts": 9, "shuffle": True},
        {"compression": "lzf"},
        {"fletcher32": True},
        {"chunks": (1, *array.shape[1:])},
        {"maxshape": (None, *array.shape[1:])},
    ]
    if array.dtype.kind in "iu":
        options.append({"scaleoffset": 0})
    replace(stream, name, array, **chance.choice(options))


def _packed_zeros(chance: Random, stream: h5py.File) -> None:
    """Replace an array by 50 to 100 MB of zeros, which compress well."""
    name = _name(chance, stream)
    dtype, columns = stream[name].dtype, stream[name].shape[1:]
    del stream[name]
    rows = chance.choice((50, 100)) * 10**6 // (dtype.itemsize * int(np.prod(columns, dtype=int) or 1))
    shape = (rows, *columns)
    dataset = stream.create_dataset(name, shape, dtype, chunks=shape, compression="gzip", compression_opts=1)
    dataset[...] = 0


def _odd_type(chance: Random, stream: h5py.File) -> None:
    """Replace an array by texts, records, references or a single number."""
    name = _name(chance, stream)
    rows = stream[name].shape[0]
    del stream[name]
    values: list[tuple[Any, Any]] = [
        (["x"] * rows, h5py.string_dtype()),
        ([b"abcd"] * rows, "S4"),
        (np.zeros(rows, [("a", "<i4"), ("b", "<f4")]), None),
        (np.zeros(rows, "V8"), None),
        ([stream.ref] * rows, h5py.ref_dtype),
        (np.zeros(rows, "<i4"), h5py.enum_dtype({"A": 0, "B": 1}, basetype="<i4")),
        (7, None),
        (h5py.Empty("<i4"), None),
        (None, h5py.vlen_dtype(np.int32)),
    ]
    value, dtype = chance.choice(values)
    stream.create_dataset(name, (rows,) if value is None else None, dtype, value)


def _attribute(chance: Random, stream: h5py.File) -> None:
    """Damage an attribute."""
    name = chance.choice(sorted(stream.attrs))
    old = stream.attrs[name]
    kind = chance.randrange(5)
    if kind == 0:
        del stream.attrs[name]
        return
    text = old.decode() if isinstance(old, bytes) else str(old)
    values: list[Any] = [
        0,
        -1,
        1,
        2**62,
        1.5,
        float("nan"),
        float("inf"),
        True,
        "",
        "x",
        "1_000",
        b"\xff\xfe",
    ]
    values += [np.zeros(3), np.array([b"a", b"b"]), h5py.Empty("f"), np.void(b"\x01\x02")]
    if kind == 1:
        values = [
            text[:-1],
            text + " ",
            text.replace('"', "'"),
            text.replace(":", ","),
            f"[{text}]",
            text * 2,
        ]
    elif kind == 2:
        values = ["[" * 50_000, '{"a":' * 5_000, "[" * 500 + "]" * 500, "null", "[]", "{}", "NaN", "1e999"]
    elif kind == 3:
        values = [json.dumps([text]), json.dumps({"a": [1]}), json.dumps(["a", "a"]), json.dumps([1, None])]
        values += [_json_values(chance, text)]
    value = _short(chance.choice(values))
    if isinstance(value, str) and chance.random() < 0.9:
        write_attribute(stream.attrs, name, value)
    else:
        stream.attrs[name] = value


def _short(value: Any) -> Any:
    """Return a text that fits into an attribute (64 KB)."""
    return value[:60_000] if isinstance(value, str) else value


def _json_values(chance: Random, text: str) -> str:
    """Drop, duplicate or swap elements of a list or mapping in JSON."""
    try:
        value = json.loads(text)
    except ValueError:
        return text[::-1]
    if isinstance(value, list) and value:
        place = chance.randrange(len(value))
        value[place] = chance.choice(
            (value[0], None, 3, "", "x" * 50_000, "a b", "\n", "\u2028", "PassThrough")
        )
    elif isinstance(value, dict) and value:
        value[chance.choice(sorted(value))] = chance.choice((None, 3, "", [], "f" * 32))
    return json.dumps(value)


def _added(chance: Random, stream: h5py.File) -> None:
    """Add an undeclared object."""
    kind = chance.randrange(3)
    if kind == 0:
        stream.attrs["more"] = chance.choice((1, "x", np.arange(3)))
    elif kind == 1:
        stream["more/array"] = np.arange(3)
    else:
        stream[_name(chance, stream)].attrs["more"] = 1


STRUCTURE: dict[str, Callable[[Random, h5py.File], None]] = {
    "missing": _missing,
    "names swapped": _swapped,
    "duplicated": _duplicated,
    "links": _linked,
    "stored elsewhere": _elsewhere,
    "huge size": _huge,
    "filters": _filters,
    "packed zeros": _packed_zeros,
    "odd type": _odd_type,
    "attribute": _attribute,
    "added": _added,
}
