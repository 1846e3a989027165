"""Damage to an array (values, order, shape and type), and to array files: the header and the arrays."""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.damage import Parts, container
from tests.fuzz import texts
from tests.fuzz.targets import DAMAGED

from itersel.storage.formats import Array, FileFormat, check_arrays

AnyArray = NDArray[Any]
BOUNDARIES = (
    *(0, 1, -1, -2, -3, 2, 127, 255, 256, 2**31 - 1, -(2**31), 10**9, -(10**9), 2**40),
    *(2**63 - 1, 2**64 - 1),
)
ODD_NUMBERS = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e30, -1e30, 1e-40, 1e12, -1e12, 1e300)
TYPES = (
    *("<i8", "<i4", "<i2", "|i1", "|u1", "<u4", "<u8", "<f4", "<f8"),
    *(">i4", ">i8", ">f4", ">f8", "|b1", "<c16"),
)


def _set_values(chance: Random, array: AnyArray) -> None:
    """Set some elements, or all, to extreme values of the type."""
    flat = array.reshape(-1)
    odd = ODD_NUMBERS if array.dtype.kind == "f" else BOUNDARIES
    if chance.random() < 0.1:
        flat[:] = _cast(chance.choice(odd), array.dtype)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        flat[chance.randrange(flat.size)] = _cast(chance.choice(odd), array.dtype)


def _shift(chance: Random, array: AnyArray) -> None:
    """Add a number to one value, or to all from a row on."""
    flat = array.reshape(-1)
    place = chance.randrange(flat.size)
    end = chance.choice((place + 1, flat.size))
    with np.errstate(all="ignore"):
        flat[place:end] += _cast(chance.choice((1, -1, 2, -2, 7, 100, 2**20)), array.dtype)


def _copy_rows(chance: Random, array: AnyArray) -> None:
    """Copy a row, or a run of rows, over others."""
    begin, to = chance.randrange(array.shape[0]), chance.randrange(array.shape[0])
    rows = array[begin : begin + chance.choice((1, 1, 2, 10))].copy()
    array[to : to + rows.shape[0]] = rows[: array.shape[0] - to]


def _reorder(chance: Random, array: AnyArray) -> None:
    """Swap two rows, reverse or shuffle all rows, or sort all values."""
    order = list(range(array.shape[0]))
    one, other = chance.choice(order), chance.choice(order)
    swapped = [{one: other, other: one}.get(row, row) for row in order]
    shuffled = chance.sample(order, len(order))
    array[...] = chance.choice((array[swapped], array[::-1].copy(), array[shuffled], np.sort(array, axis=0)))


def _flip_bits_of_values(chance: Random, array: AnyArray) -> None:
    data = array.reshape(-1).view(np.uint8)
    for _ in range(chance.choice((1, 1, 1, 4, 20))):
        data[chance.randrange(data.size)] ^= 1 << chance.randrange(8)


VALUES = texts.by_name(_set_values, _shift, _copy_rows, _reorder, _flip_bits_of_values)


def _rows_less(chance: Random, array: AnyArray) -> AnyArray:
    """Drop rows at either end, or all rows."""
    count = chance.choice((1, 1, 2, array.shape[0] // 2, array.shape[0]))
    return array[count:] if chance.random() < 0.3 else array[: max(0, array.shape[0] - count)]


def _rows_more(chance: Random, array: AnyArray) -> AnyArray:
    """Repeat rows, or add zeros."""
    count = chance.choice((1, 1, 2, 100))
    more = np.zeros((count, *array.shape[1:]), array.dtype)
    return np.concatenate([array, array[-1:] if chance.random() < 0.5 else more])


def _another_dimension(chance: Random, array: AnyArray) -> AnyArray:
    shapes = (array.reshape(-1, 1), array.reshape(1, *array.shape), array.reshape(-1), array.T.copy())
    return chance.choice(shapes)


def _another_type(chance: Random, array: AnyArray) -> AnyArray:
    """Convert to another type, or reinterpret the bytes."""
    dtype = np.dtype(chance.choice(TYPES))
    if chance.random() < 0.5 and array.ndim and array.nbytes % dtype.itemsize == 0:
        return array.reshape(-1).view(dtype)
    with np.errstate(all="ignore"):
        return array.astype(dtype)


SHAPES = texts.by_name(_rows_less, _rows_more, _another_dimension, _another_type)
DECLARED = "as declared"
# How often each operation is applied to binary files.
WEIGHTS = {**dict.fromkeys(VALUES, 6), **dict.fromkeys(SHAPES, 3), DECLARED: 10}


def apply(
    chance: Random, array: AnyArray, name: str, declared: Array, sizes: dict[str, int]
) -> AnyArray | None:
    """Return an array after the operation `name` of `WEIGHTS`; None if it cannot be applied.

    `sizes` are those of the file, by name, as `check_arrays` returns them.
    """
    if name == DECLARED:
        is_declared = array.dtype.str == declared.dtype and array.ndim == len(declared.shape)
        return _redraw(chance, np.array(array), declared, sizes) if is_declared else None
    if not array.size:
        return None
    if name in SHAPES:
        return SHAPES[name](chance, array)
    result = np.array(array)
    VALUES[name](chance, result)
    return result


def _redraw(chance: Random, array: AnyArray, declared: Array, sizes: dict[str, int]) -> AnyArray:
    """Draw values within the declared bounds, which pass the check of the format."""
    if not array.size:
        return array
    if declared.into is not None:
        _redraw_offsets(chance, array, sizes[declared.into])
        return array
    flat = array.reshape(-1)
    count = chance.choice((1, 1, 3, flat.size))
    for place in chance.sample(range(flat.size), min(count, flat.size)):
        flat[place] = _cast(_declared_value(chance, flat, declared, sizes), array.dtype)
    return np.sort(array) if declared.rising else array


def _redraw_offsets(chance: Random, offset: AnyArray, size: int) -> None:
    """Move one inner offset between its neighbours, or redraw all of them."""
    if offset.size < 3:
        return
    if chance.random() < 0.3:
        offset[1:-1] = sorted(chance.choices(range(size + 1), k=offset.size - 2))
        return
    place = chance.randrange(1, offset.size - 1)
    offset[place] = chance.randint(*sorted((int(offset[place - 1]), int(offset[place + 1]))))


def _declared_value(chance: Random, flat: AnyArray, declared: Array, sizes: dict[str, int]) -> float:
    if chance.random() < 0.3:
        return flat[chance.randrange(flat.size)].item()
    if flat.dtype.kind == "f":
        return chance.choice((0.0, 1.0, -1.0, 1e12, -1e12, 1e-30, -99.0, chance.uniform(-10, 10)))
    info = np.iinfo(flat.dtype)
    most = declared.most if declared.below is None else sizes[declared.below] - 1
    least = info.min if declared.least is None else int(declared.least)
    most = info.max if most is None else int(most)
    return chance.choice((least, most, chance.randint(least, max(least, most))))


def _cast(value: float, dtype: np.dtype[Any]) -> Any:
    """Convert a number to a type; numbers that are too large wrap around."""
    if dtype.kind in "iu":
        return np.array([int(value) & (2**64 - 1)], np.uint64).astype(dtype)[0]
    with np.errstate(all="ignore"):
        return np.array([value]).astype(dtype)[0]


HEADER = "header"
FILE_WEIGHTS = {**WEIGHTS, HEADER: 20}


def mutate(chance: Random, original: Path, copy: Path, mode: str, format: FileFormat) -> list[str]:
    content = original.read_bytes()
    if mode == DAMAGED and chance.random() < 0.6:
        name = chance.choice(sorted(texts.BYTES))
        copy.write_bytes(texts.damage(chance, content, name))
        return [name]
    parts = Parts(content)
    sizes = check_arrays(format, parts.arrays, original)
    weights = dict.fromkeys(VALUES, 1) if mode == DAMAGED else FILE_WEIGHTS
    chosen = chance.choices(list(weights), list(weights.values()), k=chance.choice((1, 1, 1, 3)))
    if mode != DAMAGED and chance.random() < 0.5:
        chosen = [DECLARED] * chance.choice((1, 1, 2, 5))
    for name in chosen:
        array = chance.choice(sorted(parts.arrays))
        if name != HEADER:
            result = apply(chance, parts.arrays[array], name, format.arrays[array], sizes)
            if result is not None:
                parts.put(array, result)
    body = parts.body(seal=mode != DAMAGED)
    header = json.dumps(parts.header).encode()
    if HEADER in chosen:
        header, changes = texts.change_json(chance, header)
        chosen += changes
    copy.write_bytes(container(header, body))
    return chosen
