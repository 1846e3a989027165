"""``itersel weights``: show weights, and export them for other tools."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from itersel.cli.argument_types import not_negative
from itersel.cli.arguments import add_options
from itersel.cli.shared_options import add_text_output
from itersel.results import WEIGHTS

if TYPE_CHECKING:
    from itersel.storage.arrays import Int64s
    from itersel.vectors.weights import Weights

# See `add_command`.
RUNS_KERNELS = False

PARTS = {
    "weights show": "print the largest weights and their provenance",
    "weights export": "write all weights in cdec's text format",
}


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print a feature per line (name, tab, weight), after lines of provenance that begin with '#'."
    )
    parser.add_argument("file", metavar="FILE", help="weights (.h5 or text), folder of a system, or bundle")
    shown = "number of weights to print; 0: all (default: %(default)s)"
    add_options(parser, {"--number N": shown}, type=not_negative, default=20)
    by = "sort by largest magnitude, by largest value, or by name (default: %(default)s)"
    add_options(parser, {"--by": by}, choices=("magnitude", "value", "name"), default="magnitude")


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.description = "Write one feature per line (name, tab, weight), sorted by name, as cdec reads it."
    parser.add_argument("file", metavar="FILE", help="weights (.h5 or text), folder of a system, or bundle")
    add_text_output(parser)


def _show(options: argparse.Namespace) -> None:
    from itersel.storage.files import is_hdf5_name
    from itersel.storage.hdf5 import header_of
    from itersel.vectors.weights import FORMAT

    path = _file_of(options.file)
    weights = _read(path)
    if is_hdf5_name(path):
        for name, value in sorted(header_of(path, FORMAT).attributes.items()):
            print(f"# {name}: {value}")
    print(f"# weights: {weights.key.shape[0]}")
    rows = _order(weights, options.by)
    for row in rows[: options.number or None].tolist():
        print(f"{weights.name.get(row)}\t{float(weights.value[row])!r}")


def _export(options: argparse.Namespace) -> None:
    from itersel.errors import InputError
    from itersel.lists.weights import write_any_weights
    from itersel.storage.files import is_hdf5_name

    if is_hdf5_name(options.output):
        raise InputError("is not a name for a text file; choose one that does not end in .h5", options.output)
    weights = _read(_file_of(options.file))
    try:
        write_any_weights(options.output, weights)
    except InputError as error:
        # a name that cannot be written as text
        raise InputError(f"as text: {error.message}", options.file) from None


def _file_of(path: str) -> str:
    """Return the weights file of a folder with a system, such as ``best``; other paths as they are."""
    inside = os.path.join(path, WEIGHTS)
    return inside if os.path.isfile(inside) else path


def _read(path: str) -> Weights:
    from itersel.lists.weights import read_any_weights
    from itersel.storage.arrayfile import is_array_file

    if is_array_file(path):
        from itersel.system.loading import load_any

        return load_any(path).weights
    return read_any_weights(path)


def _order(weights: Weights, by: str) -> Int64s:
    """Return the rows in the chosen order, with ties sorted by name."""
    import numpy as np

    names = np.argsort(np.array(weights.name.to_list(), object), kind="stable")
    if by == "name":
        return names
    value = weights.value[names]
    return names[np.argsort(-np.abs(value) if by == "magnitude" else -value, kind="stable")]
