"""Files of alignment models, with which further text can be aligned."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel import __version__
from itersel.align.sampler import DISTANCES, JUMP, NEVER, SAMPLERS, new_table, prior_of
from itersel.align.sampler_kernels import LARGEST_FERTILITY, LONGEST_JUMP, Model, move_pairs
from itersel.align.symmetrize import DIRECTIONS
from itersel.errors import InputError
from itersel.storage.formats import Array, FileFormat, all_packed
from itersel.storage.hdf5 import read_arrays, write_arrays
from itersel.storage.strings import StringTable, string_table

MOST = 2**31 - 1
FORMAT = FileFormat(
    "word alignment model",
    1,
    "itersel align --save",
    all_packed(
        {
            "given": Array("|u1", ("bytes of given words",)),
            "given_offset": Array("<i8", ("V+1",), into="bytes of given words", text="given"),
            "generated": Array("|u1", ("bytes of generated words",)),
            "generated_offset": Array("<i8", ("W+1",), into="bytes of generated words", text="generated"),
            "pair_given": Array("<i4", ("P",), least=0, below="V"),
            "pair_generated": Array("<i4", ("P",), least=1, below="W"),
            "pair_links": Array("<i4", ("P", SAMPLERS), least=0, most=MOST),
            "jumps": Array("<f8", (SAMPLERS, 2 * LONGEST_JUMP + 1), least=JUMP, most=2**52),
            "ratio": Array("<f4", ("V", LARGEST_FERTILITY + 1, SAMPLERS), least=0, most=2**52),
        }
    ),
)


class TrainedModel(NamedTuple):
    """A model that links each generated word to a given word or to NULL.

    Attributes
    ----------
    direction
        "forward" if the target is generated, "reverse" if the source is.
    given, generated
        The words by number, the first one NULL.
    model
        What was counted; if read from a file, with a last row for given words that are not among these.
    """

    direction: str
    given: Sequence[str]
    generated: Sequence[str]
    model: Model


def write_model(path: str | os.PathLike[str], trained: TrainedModel, seed: int) -> None:
    """Write the model of a sampler that has run, with its seed."""
    direction, given, generated, model = trained
    used = np.flatnonzero(model.pair_links[:-1].any(axis=1))
    used = used[np.argsort(model.pairs[used])]
    pairs = model.pairs[used]
    arrays: dict[str, NDArray[Any]] = {
        "pair_given": (pairs >> np.uint64(32)).astype(np.int32),
        "pair_generated": pairs.astype(np.uint32).astype(np.int32),
        "pair_links": model.pair_links[used],
        "jumps": model.jumps,
        "ratio": model.ratio,
    }
    for name, words in (("given", given), ("generated", generated)):
        arrays[name], arrays[f"{name}_offset"] = string_table(words)
    write_arrays(path, FORMAT, arrays, {"itersel": __version__, "direction": direction, "seed": seed})


def read_model(path: str | os.PathLike[str]) -> TrainedModel:
    """Read a model.

    Raises
    ------
    InputError
        See `itersel.storage.hdf5.read_arrays`; also if there is no direction.
    """
    arrays, attributes = read_arrays(path, FORMAT)
    if attributes.get("direction") not in DIRECTIONS:
        raise InputError("damaged: has no direction; recreate the file", path)
    given, generated = (
        StringTable(arrays[name], arrays[f"{name}_offset"]).to_list() for name in ("given", "generated")
    )
    return TrainedModel(attributes["direction"], given, generated, _model(arrays, prior_of(len(generated))))


def _model(arrays: Mapping[str, NDArray[Any]], prior: float) -> Model:
    pair_given, pair_links, jumps, ratio = (
        arrays[name] for name in ("pair_given", "pair_links", "jumps", "ratio")
    )
    table = new_table(len(pair_given))
    keys = pair_given.astype(np.uint64) << np.uint64(32) | arrays["pair_generated"].astype(np.uint64)
    move_pairs(keys, pair_links, *table)
    links = np.zeros((len(ratio) + 1, SAMPLERS), np.int32)
    np.add.at(links, pair_given, pair_links)
    all_jumps = (jumps - JUMP).sum(axis=1) + DISTANCES * JUMP
    # words without links in the text of the model have these ratios too
    unknown = np.ones((1, *ratio.shape[1:]), np.float32)
    unknown[:, -2:] = NEVER
    ratio = np.concatenate([ratio, unknown])
    return Model(*table, links, prior, 1 / (links + prior), jumps, all_jumps, ratio)
