"""Sparse weight vectors, and their two file formats: HDF5 and cdec's text format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.corpus.text import find_control, split_words
from itersel.errors import FilePath, InputError
from itersel.storage.arrays import Bools, Float64s, UInt64s
from itersel.storage.files import is_hdf5_name, open_output, read_lines
from itersel.storage.formats import MAX_MAGNITUDE, Array, Arrays, FileFormat, magnitude_fault, strings
from itersel.storage.hdf5 import header_of, read_arrays, write_arrays
from itersel.storage.numbers import parse_number
from itersel.storage.provenance import STOPPED, read_provenance
from itersel.storage.strings import StringTable, concatenate, string_table, strings_in
from itersel.vectors.features import feature_keys, unique_features

KEY, VALUE = "features/key", "v"
NAME, NAME_OFFSET = "features/name", "features/name_offset"
# D features. Not packed: `itersel.select.shard_files` reads parts of the arrays directly.
FORMAT = FileFormat(
    "weights file",
    2,
    ("itersel train",),
    {
        KEY: Array("<u8", ("D",), rising=True),
        **strings(NAME, "D", "names", rising=True),
        # no bounds here: `weights_of` checks them and names the feature
        VALUE: Array("<f8", ("D",)),
    },
)
# A space ends a name, and # at the beginning of a line starts a comment; a byte order mark there is dropped.
# Names are made of words, which have no control characters.
_NOT_IN_TEXT = re.compile(r"[ \x00-\x1f\x7f-\x9f]|^$|^[#\ufeff]")


class Weights(NamedTuple):
    """Features with a weight; the weight of all others is zero.

    Attributes
    ----------
    key
        uint64 (D), ascending, without duplicates.
    value
        float64 (D), finite.
    name
        The D names, in the order of `key`.
    """

    key: UInt64s
    value: Float64s
    name: StringTable

    def to_dict(self) -> dict[str, float]:
        """Return weights by name."""
        return dict(zip(self.name.to_list(), self.value.tolist(), strict=True))


def make_weights(values: Mapping[str, float]) -> Weights:
    """Make a weight vector from a mapping of names to weights."""
    names = string_table(values)
    key, name = unique_features(feature_keys(names), names)
    return Weights(key, np.array([values[text] for text in name.to_list()], np.float64), name)


def find_weights(weights: Weights, keys: UInt64s) -> Float64s:
    """Return the weights of the features `keys` (in any order), zero where there is none."""
    if weights.key.shape[0] == 0:
        return np.zeros(keys.shape[0])
    place = np.minimum(np.searchsorted(weights.key, keys), weights.key.shape[0] - 1)
    return np.where(weights.key[place] == keys, weights.value[place], 0.0)


def find_named(weights: Weights, names: Iterable[str]) -> Float64s:
    """Return the weights of the features with these names, zero where there is none."""
    return find_weights(weights, feature_keys(string_table(names)))


def take_weights(weights: Weights, kept: Bools) -> Weights:
    """Return the weights in the rows to keep."""
    rows = np.flatnonzero(kept)
    return Weights(weights.key[rows], weights.value[rows], weights.name.take(rows))


def nonzero(weights: Weights) -> Weights:
    """Return the weights that are not zero."""
    return take_weights(weights, weights.value != 0)


def weighted_sum(parts: Sequence[Weights], factors: Sequence[float]) -> Weights:
    """Return the sum of weights times factors, with all features of the parts, added in their order."""
    keys, _, names = zip(*parts, strict=True)
    key, name = unique_features(np.concatenate(keys), concatenate(names))
    value = np.zeros(key.shape[0])
    for part, factor in zip(parts, factors, strict=True):
        value[np.searchsorted(key, part.key)] += factor * part.value
    return Weights(key, value, name)


def read_itersel_weights(path: FilePath) -> Weights:
    """Read weights: HDF5 if the name ends in ``.h5``, else text (``name<TAB or space>value``).

    `itersel.lists.weights.read_any_weights` also reads those of other decoders.
    """
    if is_hdf5_name(path):
        return read_with_attributes(path)[0]

    values: dict[str, float] = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = split_words(line)
        if not fields or line.startswith("#"):
            continue

        if found := find_control(line):
            raise InputError(found, path, number)
        if len(fields) != 2:
            raise InputError("expected 'name value'", path, number)

        try:
            value = parse_number(fields[1])
        except ValueError:
            raise InputError(f"'{fields[1]}' is not a number", path, number) from None
        if not abs(value) <= MAX_MAGNITUDE:  # NaN too
            why = f"{fields[1]}, {magnitude_fault(value)}"
            raise InputError(f"the weight of '{fields[0]}' is {why}", path, number)

        if fields[0] in values:
            raise InputError(f"feature '{fields[0]}' is listed twice", path, number)
        values[fields[0]] = value

    return make_weights(values)


def read_with_attributes(path: FilePath) -> tuple[Weights, dict[str, Any]]:
    """Read the weights and the attributes of an HDF5 file."""
    arrays, attributes = read_arrays(path, FORMAT)
    return weights_of(arrays, path), attributes


def weights_of(arrays: Arrays, path: FilePath) -> Weights:
    """Make weights from the arrays of a file that `FORMAT` declares; none may be beyond `MAX_MAGNITUDE`."""
    weights = Weights(arrays[KEY], arrays[VALUE], strings_in(arrays, NAME))
    check_magnitude(weights, "", "recreate it", path)
    return weights


def check_magnitude(weights: Weights, whose: str, advice: str, path: FilePath | None = None) -> None:
    """Raise an `InputError` if scores could overflow or the weights could not be read back."""
    bad = np.flatnonzero(~(np.abs(weights.value) <= MAX_MAGNITUDE))  # NaN too
    if bad.size:
        name = weights.name.get(int(bad[0]))
        why = magnitude_fault(weights.value[bad[0]])
        raise InputError(f"the weight of '{name}'{whose} is {why}; {advice}", path)


def write_itersel_weights(
    path: FilePath, weights: Weights, attributes: Mapping[str, Any] | None = None
) -> None:
    """Write weights: HDF5 if the name ends in ``.h5`` (with `attributes`), else text sorted by name.

    Raises an `InputError` if a name could not be read back from text. Names made by `itersel` always can.
    """
    if not is_hdf5_name(path):
        values = sorted(weights.to_dict().items())
        for name, _ in values:
            if _NOT_IN_TEXT.search(name):
                raise InputError(f"a text file cannot contain the name {name!r}; write to a .h5 file", path)
        with open_output(path) as stream:
            stream.writelines(f"{name}\t{value!r}\n" for name, value in values)
        return
    write_arrays(path, FORMAT, weight_arrays(weights), attributes or {})


def has_stopped(path: FilePath) -> bool:
    """Return whether an epoch without training passed on these weights."""
    if not is_hdf5_name(path):
        return False
    return read_provenance(header_of(path, FORMAT).attributes, path).stopped


def pass_on_weights(path: FilePath, output: FilePath) -> None:
    """Write the weights of an epoch as the weights of the next epoch, in which nothing is trained."""
    if not is_hdf5_name(path):
        write_itersel_weights(output, read_itersel_weights(path))
        return
    weights, attributes = read_with_attributes(path)
    write_itersel_weights(output, weights, {**attributes, **STOPPED})


def weight_arrays(weights: Weights) -> dict[str, NDArray[Any]]:
    """Return the arrays of a weights file."""
    return {KEY: weights.key, NAME: weights.name.data, NAME_OFFSET: weights.name.offset, VALUE: weights.value}
