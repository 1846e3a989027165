"""Weights in the formats of other decoders (Moses's ``[weight]`` block and JSON), and in itersel's own."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from itersel.corpus.text import split_words
from itersel.errors import FilePath, InputError
from itersel.lists.features import ListFeatures, value_names
from itersel.lists.lines import named_numbers, parse_object
from itersel.storage.files import open_output, read_lines, without_compression
from itersel.storage.formats import MAX_MAGNITUDE, magnitude_fault
from itersel.storage.numbers import parse_number
from itersel.vectors.weights import Weights, make_weights, read_itersel_weights, write_itersel_weights

_SECTION = re.compile(r"\[(.*)\]")
# names of other decoders may contain # and =
_COMMENT = re.compile(r"(^|\s)#.*")


class GivenWeights(NamedTuple):
    """Weights as a user gives them."""

    weights: Weights
    # of each name in Moses's block; other files and mappings may leave out weights of 0
    sizes: Mapping[str, int] = {}
    path: FilePath | None = None

    def checked_against(self, features: ListFeatures) -> Weights:
        """Return the weights; InputError if a feature function has more or fewer weights than values."""
        given = self.weights.to_dict().keys()
        names = set(features.names)
        # features without a size, such as further ones from a file, have one value
        counts = {name: 1 for name in self.sizes if name in names} | dict(features.sizes)

        for name, count in counts.items():
            advice = f"{count} value{'s' * (count > 1)} in the lists; use the weights that made the lists"
            if (size := self.sizes.get(name, count)) != count:
                have = f"has {size} weight{'s' * (size > 1)}"
                raise InputError(f"'{name}' {have}, but {advice}", self.path)
            if count == 1 and name in given:
                # NAME_0, NAME_1, ... are features of their own
                continue
            numbered = re.compile(rf"{re.escape(name)}(_[0-9]+)?")
            if unknown := sorted(filter(numbered.fullmatch, given - names)):
                why = f"there is a weight for '{unknown[-1]}', but '{name}' has {advice}"
                raise InputError(why, self.path)

        return self.weights


def read_any_weights(path: FilePath) -> Weights:
    """Read weights: HDF5 (``.h5``), Moses's block (``.ini``), a JSON object (``.json``), or ``name value``.

    Raises
    ------
    InputError
        If the file is missing or damaged, or contains a weight that is not finite.
    """
    return given_weights(path).weights


def given_weights(values: Weights | Mapping[str, float] | FilePath) -> GivenWeights:
    """Return weights that are given as they are, by name, or in a file; see `read_any_weights`."""
    if isinstance(values, Weights):
        return GivenWeights(values)
    if isinstance(values, Mapping):
        return GivenWeights(make_weights(values))

    sizes: dict[str, int] = {}
    kind = _kind(values)
    if kind == ".ini":
        found, sizes = _read_moses(values)
    elif kind == ".json":
        found = _read_object(values)
    else:
        return GivenWeights(read_itersel_weights(values), path=values)
    for name, value in found.items():
        if not abs(value) <= MAX_MAGNITUDE:
            raise InputError(f"the weight of '{name}' is {value:g}, {magnitude_fault(value)}", values)
    return GivenWeights(make_weights(found), sizes, values)


def _kind(path: FilePath) -> str:
    return os.path.splitext(without_compression(path))[1].lower()


def _read_moses(path: FilePath) -> tuple[dict[str, float], dict[str, int]]:
    """Read the ``[weight]`` block of a Moses configuration, and how many weights each name has in it."""
    values: dict[str, float] = {}
    sizes: dict[str, int] = {}
    section = None

    for number, line in enumerate(read_lines(path), 1):
        line = _COMMENT.sub("", line).strip()
        if found := _SECTION.fullmatch(line):
            section = found[1]
        elif line and section == "weight":
            name, equals, rest = line.rpartition("=")
            try:
                numbers = [parse_number(word) for word in split_words(rest)]
            except ValueError:
                numbers = []
            if not equals or not numbers:
                raise InputError("expected 'Name= weight weight ...'", path, number)
            sizes[name.strip()] = len(numbers)
            for one, value in zip(value_names(name.strip(), len(numbers)), numbers, strict=True):
                if one in values:
                    raise InputError(f"the weight of '{one}' is given twice", path, number)
                values[one] = value

    if section is None or not values:
        raise InputError("has no block [weight] with weights", path)
    return values, sizes


def _read_object(path: FilePath) -> dict[str, float]:
    try:
        return dict(named_numbers(parse_object("\n".join(read_lines(path)))))
    except ValueError as error:
        raise InputError(str(error), path) from None


def write_any_weights(
    path: FilePath,
    weights: Weights,
    attributes: Mapping[str, object] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> None:
    """Write weights in the format that the file name implies; see `read_any_weights`.

    Parameters
    ----------
    attributes
        Stored in ``.h5``.
    sizes
        For ``.ini``: number of weights on the line of each name. Without it, ``TM_0``, ``TM_1`` and so on
        become the line of ``TM``.

    Raises
    ------
    InputError
        If a name could not be read back from text.
    """
    kind = _kind(path)
    if kind not in (".ini", ".json"):
        write_itersel_weights(path, weights, attributes)
        return

    values = weights.to_dict()
    sizes = _sizes(values) if sizes is None else sizes
    with open_output(path) as stream:
        if kind == ".json":
            json.dump(dict(sorted(values.items())), stream, ensure_ascii=False, indent=2)
            stream.write("\n")
            return

        stream.write("[weight]\n")
        for name, count in sizes.items():
            numbers = [values.pop(one, 0.0) for one in value_names(name, count)]
            stream.write(f"{name}= {' '.join(map(repr, numbers))}\n")
        stream.writelines(f"{name}= {value!r}\n" for name, value in sorted(values.items()))


def _sizes(values: Mapping[str, float]) -> dict[str, int]:
    """Return the number of weights of each name ``TM`` with ``TM_0``, ``TM_1`` and so on."""
    sizes = {}
    for name in sorted(one.removesuffix("_0") for one in values if one.endswith("_0")):
        sizes[name] = next(count for count in itertools.count() if f"{name}_{count}" not in values)
    return {name: count for name, count in sizes.items() if count > 1 and name not in values}
