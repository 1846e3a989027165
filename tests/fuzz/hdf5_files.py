"""Damage to HDF5 files: their bytes, their arrays, and their structure (attributes, other HDF5 objects)."""

import contextlib
from pathlib import Path
from random import Random
from typing import Any

import h5py
import numpy as np
from tests.damage import reseal
from tests.fuzz import arrays, texts
from tests.fuzz.targets import DAMAGED

from itersel.errors import InputError
from itersel.storage.formats import FileFormat, check_arrays, without_extra
from itersel.storage.hdf5 import ERRORS, find_dataset, write_attribute

HUGE = (2**31, 2**40, 2**61)


def _name(chance: Random, stream: h5py.File) -> str:
    names: list[str] = []
    stream.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return chance.choice(names or [""])


def _values(stream: h5py.File, name: str) -> Any:
    """Return an array, or zeros if an earlier operation made it huge or self-referential."""
    dataset = stream[name]
    return np.zeros(3) if dataset.nbytes > 1 << 24 or dataset.is_virtual else dataset[()]


def _rearranged(chance: Random, stream: h5py.File) -> None:
    """Delete an array or a group, swap two arrays, or store one under the name of another."""
    one, other, kind = _name(chance, stream), _name(chance, stream), chance.randrange(3)
    if kind == 0:
        del stream[one if chance.random() < 0.8 else one.split("/")[0]]
    elif one != other and kind == 1:
        stream.move(one, "kept")
        stream.move(other, one)
        stream.move("kept", other)
    elif one != other:
        target = stream[one]
        del stream[other]
        stream[other] = target


def _linked(chance: Random, stream: h5py.File) -> None:
    """Replace an array by a link: to itself, to nothing, or to another file."""
    name = _name(chance, stream)
    array = _values(stream, name)
    del stream[name]
    if chance.random() < 0.6:
        target = chance.choice(("/kept", "/nowhere", f"/{name}"))
        stream[name] = h5py.SoftLink(target)
        if target == "/kept":
            stream["kept"] = array
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
        # `create_virtual_dataset` stores the time, and cases would differ
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_obj_track_times(False)
        properties.set_layout(h5py.h5d.VIRTUAL)
        space = h5py.h5s.create_simple(shape)
        if 0 not in shape:
            source = chance.choice(("sentences.h5", ".", "nothing.h5"))
            properties.set_virtual(space, source.encode(), name.encode(), space)
        h5py.h5d.create(stream.id, name.encode(), h5py.h5t.py_create(dtype, logical=True), space, properties)
    elif kind == 1:
        file = chance.choice(("source.txt", "nothing", "/dev/zero"))
        stream.create_dataset(name, shape, dtype, external=[(file, 0, h5py.h5f.UNLIMITED)])
    else:
        stream.create_group(name)["0"] = array


def _huge_size(chance: Random, stream: h5py.File) -> None:
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
    name = chance.choice(sorted(stream.attrs))
    old = stream.attrs[name]
    kind = chance.randrange(5)
    if kind == 0:
        del stream.attrs[name]
    elif kind == 1:
        values: tuple[Any, ...] = (0, -1, 1, 2**62, 1.5, float("nan"), float("inf"), True, "", "x", "1_000")
        values += (b"\xff\xfe", np.zeros(3), np.array([b"a", b"b"]), h5py.Empty("f"), np.void(b"\x01\x02"))
        stream.attrs[name] = chance.choice(values)
    else:
        text, _ = texts.change_json(chance, old if isinstance(old, bytes) else str(old).encode())
        # an attribute has at most 64 KB
        write_attribute(stream.attrs, name, text[:60_000].decode(errors="ignore"))


def _added(chance: Random, stream: h5py.File) -> None:
    kind = chance.randrange(3)
    if kind == 0:
        stream.attrs["more"] = chance.choice((1, "x", np.arange(3)))
    elif kind == 1:
        stream["more/array"] = np.arange(3)
    else:
        stream[_name(chance, stream)].attrs["more"] = 1


STRUCTURE = texts.by_name(_rearranged, _linked, _elsewhere, _huge_size, _odd_type, _attribute, _added)
# Operations, of which a case applies one or a few; the frequent ones reach the code behind the checks.
WEIGHTS = {**arrays.WEIGHTS, **dict.fromkeys(STRUCTURE, 2), "rearranged": 6, "attribute": 6}


def mutate(chance: Random, original: Path, copy: Path, mode: str, format: FileFormat) -> list[str]:
    copy.write_bytes(original.read_bytes())
    if mode == DAMAGED and chance.random() < 0.4:
        name = chance.choice(sorted(texts.BYTES))
        copy.write_bytes(texts.damage(chance, copy.read_bytes(), name))
        return [name]
    weights = {name: weight for name, weight in WEIGHTS.items() if mode != DAMAGED or name != arrays.DECLARED}
    chosen = chance.choices(sorted(weights), [weights[name] for name in sorted(weights)], k=_how_many(chance))
    if mode != DAMAGED and chance.random() < 0.5:
        chosen = [arrays.DECLARED] * _how_many(chance)
    with h5py.File(copy, "r+") as stream:
        sizes = _declared_sizes(stream, format, original)
        for name in chosen:
            _apply(chance, stream, name, format, sizes)
        if mode != DAMAGED:
            reseal(stream)
    return chosen


def _how_many(chance: Random) -> int:
    return chance.choice((1, 1, 1, 1, 1, 2, 3, 6))


def _apply(chance: Random, stream: h5py.File, name: str, format: FileFormat, sizes: dict[str, int]) -> None:
    """Apply one operation to a file; do nothing if earlier operations made it impossible."""
    if name in STRUCTURE:
        with contextlib.suppress(*ERRORS, MemoryError):
            STRUCTURE[name](chance, stream)
        return
    present = sorted(array for array in format.arrays if _is_plain(stream, array, format))
    if not present:
        return
    array = chance.choice(present)
    result = arrays.apply(chance, stream[array][()], name, format.arrays[array], sizes)
    if result is not None and name in arrays.SHAPES:
        del stream[array]
        stream[array] = result
    elif result is not None:
        stream[array][...] = result


def _is_plain(stream: h5py.File, name: str, format: FileFormat) -> bool:
    """Whether an array still exists in this file itself, and has numbers and rows."""
    try:
        dataset = find_dataset(stream, name, format)
    except (*ERRORS, MemoryError):
        return False
    return dataset.ndim > 0 and dataset.nbytes < 1 << 20


def _declared_sizes(stream: h5py.File, format: FileFormat, path: Path) -> dict[str, int]:
    # skip optional arrays that the file does not have
    if not any(name in stream for name, array in format.arrays.items() if array.is_extra):
        format = without_extra(format)
    try:
        return check_arrays(format, {name: stream[name][()] for name in format.arrays}, path)
    except InputError as error:
        raise RuntimeError(f"the undamaged file is not as declared: {error}") from None
