"""Cut a corpus into shards of equal size."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.storage.files import read_lines, write_lines


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
    if seed is None:
        return np.array_split(np.arange(lines), shards)
    # The raw bits of a generator never change between versions of numpy, its shuffles may.
    return np.array_split(np.argsort(np.random.PCG64(seed).random_raw(lines), kind="stable"), shards)


def shard_corpus(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    shards: int,
    seed: int | None,
    output: str | os.PathLike[str],
) -> None:
    """Write shard z as ``z.source.gz``, ``z.target.gz`` and ``z.ids`` (line numbers) into a new folder.

    The folder appears whole or not at all.

    Raises
    ------
    InputError
        If the folder holds anything already, the two sides differ in their number of lines, or are fewer
        lines than shards.
    """
    texts = {"source": read_lines(source), "target": read_lines(target)}
    lines = len(texts["source"])
    if len(texts["target"]) != lines:
        raise InputError(f"has {len(texts['target'])} lines, {os.fspath(source)} has {lines}", target)
    if lines < shards:
        limit = f"use at most {lines} (in a config: decoder.jobs, or shards of an experiment)"
        raise InputError(f"has {lines} lines, too few for {shards} shards; {limit}", source)
    with _new_folder(Path(output)) as folder:
        _write_shards(folder, texts, shard_lines(lines, shards, seed))


@contextlib.contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder that becomes `path` on success; what a killed process left of it is removed."""
    if path.is_dir() and any(path.iterdir()):
        raise InputError("is a folder that holds something; name a new one", path)
    unfinished = path.absolute().with_name(f".unfinished.{path.absolute().name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        unfinished.replace(path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _write_shards(
    folder: Path, texts: Mapping[str, Sequence[str]], parts: Sequence[NDArray[np.int64]]
) -> None:
    for shard, numbers in enumerate(parts):
        ids = numbers.tolist()
        for side, text in texts.items():
            write_lines(folder / f"{shard}.{side}.gz", (text[line] for line in ids))
        write_lines(folder / f"{shard}.ids", map(str, ids))
