"""Cut a corpus into shards of equal size."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.files import read_lines, write_lines


def shard_lines(lines: int, shards: int, seed: int | None) -> list[NDArray[np.int64]]:
    """Return the line numbers (from 0) of each shard; sizes differ by one at most.

    Parameters
    ----------
    lines
        Lines of the corpus.
    shards
        Number of shards Z.
    seed
        Of the shuffle before the cut, which makes shards alike; `None` keeps the order of the corpus.
    """
    order = np.arange(lines) if seed is None else np.random.default_rng(seed).permutation(lines)
    return np.array_split(order, shards)


def shard_corpus(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    shards: int,
    seed: int | None,
    output: str | os.PathLike[str],
) -> None:
    """Write shard z as ``z.source.gz``, ``z.target.gz`` and ``z.ids`` (line numbers) into a folder.

    Raises
    ------
    InputError
        If the two sides differ in their number of lines, or are fewer lines than shards.
    """
    texts = {"source": read_lines(source), "target": read_lines(target)}
    lines = len(texts["source"])
    if len(texts["target"]) != lines:
        raise InputError(f"has {len(texts['target'])} lines, {os.fspath(source)} has {lines}", target)
    if lines < shards:
        limit = f"use at most {lines} (in a config: decoder.jobs, or shards of an experiment)"
        raise InputError(f"has {lines} lines, too few for {shards} shards; {limit}", source)
    folder = Path(output)
    for shard, numbers in enumerate(shard_lines(lines, shards, seed)):
        ids = numbers.tolist()
        for side, text in texts.items():
            write_lines(folder / f"{shard}.{side}.gz", (text[line] for line in ids))
        write_lines(folder / f"{shard}.ids", map(str, ids))
