"""Sparse weight vectors, and their two forms on disk: HDF5 and cdec's text."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import h5py
import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.features import feature_keys, unique_features
from itersel.files import atomic_path, open_output, read_lines
from itersel.strings import StringTable, string_table


class Weights(NamedTuple):
    """Features that have a weight; all others weigh zero.

    Attributes
    ----------
    key
        uint64 (D), ascending, none twice.
    value
        float64 (D), finite.
    name
        The D names, in the order of `key`.
    """

    key: NDArray[np.uint64]
    value: NDArray[np.float64]
    name: StringTable

    def to_dict(self) -> dict[str, float]:
        """Return weights by name."""
        return dict(zip(self.name.to_list(), self.value.tolist(), strict=True))


def make_weights(values: Mapping[str, float]) -> Weights:
    """Return the weight vector of a mapping from names to weights."""
    names = string_table(values)
    key, name = unique_features(feature_keys(names), names)
    return Weights(key, np.array([values[text] for text in name.to_list()], np.float64), name)


def find_weights(weights: Weights, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the weights of the features `keys` (any order), zero for those that have none."""
    if weights.key.shape[0] == 0:
        return np.zeros(keys.shape[0])
    place = np.minimum(np.searchsorted(weights.key, keys), weights.key.shape[0] - 1)
    return np.where(weights.key[place] == keys, weights.value[place], 0.0)


def read_weights(path: str | os.PathLike[str]) -> Weights:
    """Read weights: HDF5 where the name ends in ``.h5``, else text (``name<TAB or space>value``)."""
    if os.fspath(path).endswith(".h5"):
        return _read_hdf5(path)
    values: dict[str, float] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split()
        if len(fields) != 2:
            raise InputError("expected 'name value'", path, number)
        try:
            value = float(fields[1])
        except ValueError:
            raise InputError(f"'{fields[1]}' is not a number", path, number) from None
        if not math.isfinite(value):
            raise InputError(f"the weight of '{fields[0]}' is {fields[1]}, not finite", path, number)
        if fields[0] in values:
            raise InputError(f"feature '{fields[0]}' is listed twice", path, number)
        values[fields[0]] = value
    return make_weights(values)


def _read_hdf5(path: str | os.PathLike[str]) -> Weights:
    with open_hdf5(path) as stream:
        try:
            group = stream["features"]
            name = StringTable(group["name"][:], group["name_offset"][:])
            weights = Weights(group["key"][:], stream["v"][:], name)
        except (KeyError, OSError) as error:
            raise InputError(f"damaged or not a weights file ({error}); make it anew", path) from None
    bad = np.flatnonzero(~np.isfinite(weights.value))
    if bad.size:
        raise InputError(f"the weight of '{name.get(int(bad[0]))}' is not finite; make it anew", path)
    return weights


def write_weights(
    path: str | os.PathLike[str], weights: Weights, attributes: Mapping[str, Any] | None = None
) -> None:
    """Write weights: HDF5 where the name ends in ``.h5`` (with `attributes`), else text by name."""
    if not os.fspath(path).endswith(".h5"):
        with open_output(path) as stream:
            for name, value in sorted(weights.to_dict().items()):
                stream.write(f"{name}\t{value!r}\n")
        return
    with atomic_path(path) as temporary, h5py.File(temporary, "w") as stream:
        write_features(stream, weights.key, weights.name)
        stream["v"] = weights.value
        stream.attrs.update(attributes or {})


def write_features(stream: h5py.Group, key: NDArray[np.uint64], name: StringTable) -> None:
    """Write a feature table as the group ``features``: key, name (bytes) and name_offset."""
    group = stream.create_group("features")
    group["key"], group["name"], group["name_offset"] = key, name.data, name.offset


def open_hdf5(path: str | os.PathLike[str]) -> h5py.File:
    """Open an HDF5 file for reading.

    Raises
    ------
    InputError
        If it is missing, truncated, or something else.
    """
    try:
        return h5py.File(path, "r")
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except OSError as error:
        raise InputError(f"damaged or truncated HDF5 file ({error}); make it anew", path) from None
