"""Damage to an array: values, order, shape and type."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itersel.storage.formats import Array

AnyArray = NDArray[Any]
BOUNDARIES = (
    0,
    1,
    -1,
    -2,
    -3,
    2,
    127,
    255,
    256,
    2**31 - 1,
    -(2**31),
    10**9,
    -(10**9),
    2**40,
    2**63 - 1,
    2**64 - 1,
)
ODD_NUMBERS = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e30, -1e30, 1e-40, 1e12, -1e12, 1e300)
TYPES = (
    "<i8",
    "<i4",
    "<i2",
    "|i1",
    "|u1",
    "<u4",
    "<u8",
    "<f4",
    "<f8",
    ">i4",
    ">i8",
    ">f4",
    ">f8",
    "|b1",
    "<c16",
)


def set_values(chance: Random, array: AnyArray) -> None:
    """Set some elements to extreme values of the type."""
    flat = array.reshape(-1)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        value = chance.choice(ODD_NUMBERS if array.dtype.kind == "f" else BOUNDARIES)
        flat[chance.randrange(flat.size)] = _cast(value, array.dtype)


def nudge(chance: Random, array: AnyArray) -> None:
    """Change one value slightly."""
    flat = array.reshape(-1)
    place = chance.randrange(flat.size)
    with np.errstate(all="ignore"):
        flat[place] = flat[place] + _cast(chance.choice((1, -1, 2, -2, 7)), array.dtype)


def fill(chance: Random, array: AnyArray) -> None:
    """Make all values equal."""
    array[...] = _cast(chance.choice((0, 1, -1, 255, 2**31 - 1)), array.dtype)


def copy_row(chance: Random, array: AnyArray) -> None:
    """Copy a row to another, or a run of rows."""
    size = chance.choice((1, 1, 2, 10))
    begin, to = chance.randrange(array.shape[0]), chance.randrange(array.shape[0])
    rows = array[begin : begin + size].copy()
    array[to : to + rows.shape[0]] = rows[: array.shape[0] - to]


def swap_rows(chance: Random, array: AnyArray) -> None:
    """Swap two rows."""
    one, other = chance.randrange(array.shape[0]), chance.randrange(array.shape[0])
    array[[one, other]] = array[[other, one]]


def reverse(chance: Random, array: AnyArray) -> None:
    """Reverse the array."""
    array[...] = array[::-1].copy()


def shuffle(chance: Random, array: AnyArray) -> None:
    """Shuffle all rows."""
    order = list(range(array.shape[0]))
    chance.shuffle(order)
    array[...] = array[order]


def sort(chance: Random, array: AnyArray) -> None:
    """Sort all values."""
    array[...] = np.sort(array, axis=0)


def shift(chance: Random, array: AnyArray) -> None:
    """Add a number to all values from a row on."""
    amount = _cast(chance.choice((1, -1, 3, 100, 2**20)), array.dtype)
    begin = chance.choice((0, chance.randrange(array.shape[0])))
    with np.errstate(all="ignore"):
        array[begin:] += amount


def flip_value_bits(chance: Random, array: AnyArray) -> None:
    """Flip bits of the values."""
    data = array.reshape(-1).view(np.uint8)
    for _ in range(chance.choice((1, 1, 1, 4, 20))):
        data[chance.randrange(data.size)] ^= 1 << chance.randrange(8)


VALUES: dict[str, Callable[[Random, AnyArray], None]] = {
    "set values": set_values,
    "nudge": nudge,
    "fill": fill,
    "copy rows": copy_row,
    "swap rows": swap_rows,
    "reverse": reverse,
    "shuffle": shuffle,
    "sort": sort,
    "shift": shift,
    "flip bits of values": flip_value_bits,
}


def change_values(chance: Random, array: AnyArray, name: str) -> AnyArray:
    """Return the array after one of `VALUES`."""
    result = np.array(array)
    if result.size:
        VALUES[name](chance, result)
    return result


def redraw(chance: Random, array: AnyArray, declared: Array, sizes: dict[str, int]) -> AnyArray:
    """Return different values within the declared bounds, which pass the check of the format.

    sizes: by name, as returned by `check_arrays`.
    """
    result = np.array(array)
    if not result.size:
        return result
    if declared.into is not None:
        _redraw_offsets(chance, result, sizes[declared.into])
        return result
    flat = result.reshape(-1)
    count = chance.choice((1, 1, 3, flat.size))
    places = chance.sample(range(flat.size), min(count, flat.size))
    for place in places:
        flat[place] = _cast(_declared_value(chance, flat, declared, sizes), result.dtype)
    return np.sort(result) if declared.rising else result


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
    least = declared.least
    most = declared.most if declared.below is None else sizes[declared.below] - 1
    if flat.dtype.kind == "f":
        return chance.choice((0.0, 1.0, -1.0, 1e12, -1e12, 1e-30, -99.0, chance.uniform(-10, 10)))
    info = np.iinfo(flat.dtype)
    least = info.min if least is None else int(least)
    most = info.max if most is None else int(most)
    return chance.choice((least, most, chance.randint(least, max(least, most))))


def rows_less(chance: Random, array: AnyArray) -> AnyArray:
    """Drop rows at either end, or all rows."""
    count = chance.choice((1, 1, 2, array.shape[0] // 2, array.shape[0]))
    return array[count:] if chance.random() < 0.3 else array[: max(0, array.shape[0] - count)]


def rows_more(chance: Random, array: AnyArray) -> AnyArray:
    """Repeat rows, or add zeros."""
    count = chance.choice((1, 1, 2, 100))
    more = np.zeros((count, *array.shape[1:]), array.dtype)
    return np.concatenate([array, array[-1:] if chance.random() < 0.5 else more])


def another_dimension(chance: Random, array: AnyArray) -> AnyArray:
    """Add or remove a dimension."""
    kind = chance.randrange(4)
    if kind == 0:
        return array.reshape(-1, 1)
    if kind == 1:
        return array.reshape(1, *array.shape)
    return array.T.copy() if kind == 2 and array.ndim > 1 else array.reshape(-1)


def another_type(chance: Random, array: AnyArray) -> AnyArray:
    """Convert to another type, or reinterpret the bytes."""
    dtype = np.dtype(chance.choice(TYPES))
    if chance.random() < 0.5 and array.ndim and array.nbytes % dtype.itemsize == 0:
        return array.reshape(-1).view(dtype)
    with np.errstate(all="ignore"):
        return array.astype(dtype)


SHAPES: dict[str, Callable[[Random, AnyArray], AnyArray]] = {
    "rows less": rows_less,
    "rows more": rows_more,
    "dimensions": another_dimension,
    "type": another_type,
}


def _cast(value: float, dtype: np.dtype[Any]) -> Any:
    """Convert a number to a type; numbers that are too large wrap around."""
    if dtype.kind in "iu":
        return np.array([int(value) & (2**64 - 1)], np.uint64).astype(dtype)[0]
    with np.errstate(all="ignore"):
        return np.array([value]).astype(dtype)[0]
