"""Helpers for tests of mixing: synthetic weights of shards, and running the step on a folder of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.naive.selection import Vector
from tests.steps import settings

from itersel.cli.main import main
from itersel.vectors.weights import make_weights, write_itersel_weights

# Simianer, Riezler & Dyer 2012, figure 2: three shards, five features
FIGURE_2 = {
    18: [[6, 4, 0, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 2, 3]],
    12: [[6, 4, 0, 0, 0], [3, 0, 0, 0, 0], [2, 3, 0, 0, 0]],
}


def write_shards(folder: Path, shards: list[Vector], epoch: int = 1, **more: str | float) -> list[str]:
    """Write the weights of shards, with `more` attributes; returns the paths."""
    paths = []
    for z, weights in enumerate(shards):
        path = folder / f"shard{z}.h5"
        nonzero = {name: value for name, value in weights.items() if value}
        attributes = {"kind": "shard-weights", "settings": "the same", "epoch": epoch, "shard": z, **more}
        write_itersel_weights(path, make_weights(nonzero), attributes)
        paths.append(str(path))
    return paths


def rows_of(matrix: list[list[int]]) -> list[Vector]:
    return [{f"x{d}": float(value) for d, value in enumerate(row)} for row in matrix]


def command(
    folder: Path, *options: str, paths: Sequence[str] = (), shards: int | None = None, **mixing: Any
) -> list[str]:
    """Return the command that mixes these files, or the shards of a folder, with the keys of a mixing."""
    paths = paths or sorted(str(path) for path in folder.glob("shard*.h5"))
    (folder / "list").write_text("".join(path + "\n" for path in paths))
    files = ["--inputs", str(folder / "list"), "--output", str(folder / "v.h5")]
    return ["step", "mix", *files, *settings(mixing=mixing, shards=shards or len(paths)), *options]


def run(folder: Path, *options: str, **mixing: Any) -> int:
    return main(command(folder, *options, **mixing))
