"""Damage to HDF5 files: their bytes, their arrays, their structure."""

from __future__ import annotations

import contextlib
from pathlib import Path
from random import Random

import h5py
from tests.damage import reseal
from tests.fuzz import arrays, raw_bytes
from tests.fuzz.hdf5_structure import STRUCTURE, replace
from tests.fuzz.targets import DAMAGED

from itersel.errors import InputError
from itersel.storage.formats import FileFormat, check_arrays, without_extra
from itersel.storage.hdf5 import ERRORS, find_dataset

# Operations, of which a case applies one or a few; the frequent ones reach the code behind the checks.
WEIGHTS = {
    **dict.fromkeys(arrays.VALUES, 3),
    **dict.fromkeys(arrays.SHAPES, 3),
    **dict.fromkeys(STRUCTURE, 2),
    "packed zeros": 0.2,
    "attribute": 6,
    "as declared": 10,
}


def mutate(chance: Random, original: Path, copy: Path, mode: str, format: FileFormat) -> list[str]:
    """Write a damaged copy of a file; returns the changes."""
    copy.write_bytes(original.read_bytes())
    if mode == DAMAGED and chance.random() < 0.4:
        name = chance.choice(sorted(raw_bytes.OPERATIONS))
        copy.write_bytes(raw_bytes.damage(chance, copy.read_bytes(), name))
        return [name]
    weights = {name: weight for name, weight in WEIGHTS.items() if mode != DAMAGED or name != "as declared"}
    chosen = chance.choices(sorted(weights), [weights[name] for name in sorted(weights)], k=_how_many(chance))
    if mode != DAMAGED and chance.random() < 0.5:
        chosen = ["as declared"] * _how_many(chance)
    with h5py.File(copy, "r+") as stream:
        sizes = declared_sizes(stream, format, original)
        for name in chosen:
            apply(chance, stream, name, format, sizes)
        if mode != DAMAGED:
            reseal(stream)
    return chosen


def _how_many(chance: Random) -> int:
    return chance.choice((1, 1, 1, 1, 1, 2, 3, 6))


def apply(chance: Random, stream: h5py.File, name: str, format: FileFormat, sizes: dict[str, int]) -> None:
    """Apply one operation to a file; do nothing if earlier operations made it impossible."""
    if name in STRUCTURE:
        with contextlib.suppress(
            *ERRORS, MemoryError
        ):  # earlier operations may have left nothing to apply it to
            STRUCTURE[name](chance, stream)
        return
    present = sorted(array for array in format.arrays if _is_plain(stream, array, format))
    if not present:
        return
    array = chance.choice(present)
    dataset = stream[array]
    values = dataset[()]
    if name == "as declared":
        if values.dtype.str == format.arrays[array].dtype and values.ndim == len(format.arrays[array].shape):
            dataset[...] = arrays.redraw(chance, values, format.arrays[array], sizes)
    elif name in arrays.VALUES:
        dataset[...] = arrays.change_values(chance, values, name)
    elif values.shape[0]:
        replace(stream, array, arrays.SHAPES[name](chance, values))


def _is_plain(stream: h5py.File, name: str, format: FileFormat) -> bool:
    """Whether an array still exists in this file itself, and has numbers and rows."""
    try:
        dataset = find_dataset(stream, name, format.arrays[name])
    except (*ERRORS, MemoryError):
        return False
    return dataset.ndim > 0 and dataset.nbytes < 1 << 20


def declared_sizes(stream: h5py.File, format: FileFormat, path: Path) -> dict[str, int]:
    """Return the sizes of a file's arrays by name."""
    # skip optional arrays that the file does not have
    if not any(name in stream for name, array in format.arrays.items() if array.is_extra):
        format = without_extra(format)
    try:
        return check_arrays(format, {name: stream[name][()] for name in format.arrays}, path)
    except InputError as error:
        raise RuntimeError(f"the undamaged file is not as declared: {error}") from None
