"""Generate synthetic weights of many shards, to measure `itersel step mix` without training.

    python benchmarks/made_up_shards.py --shards 200 --weights 150000 FOLDER
    itersel step mix --inputs FOLDER/list --settings '{"mixing": {"select": 100000}, "shards": 200}' \\
        --output FOLDER/v.h5 --matrix FOLDER/W.h5

Feature frequencies follow Zipf's law, as those of rule identities do: feature i of N is in a shard with
probability min(1, c / i), where c gives a shard the requested number of weights. Names are as long as those
of rules and their bigrams. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itersel.storage.strings import StringTable, string_table
from itersel.vectors.features import feature_keys
from itersel.vectors.weights import Weights, write_itersel_weights

FEATURES_OF_WEIGHTS = 30  # N, as a multiple of the number of weights of a shard
SETTINGS = '{"made up": true}'


def make_shards(folder: Path, shards: int, weights: int, seed: int = 1, epoch: int = 1) -> Path:
    """Write ``0.h5`` to ``Z-1.h5``, as `itersel train` would, and their manifest; returns its path.

    Parameters
    ----------
    folder
        Output folder.
    shards, weights
        Z, and the approximate number of weights of each.
    seed
        Random seed.
    epoch
        Epoch number written to the files.
    """
    random = np.random.default_rng(seed)
    count = FEATURES_OF_WEIGHTS * weights
    names = _names(random, count)
    keys = feature_keys(names)
    order = np.argsort(keys)
    keys, names = keys[order], names.take(order)
    probability = _probabilities(count, weights)[random.permutation(count)]
    for z in range(shards):
        rows = np.flatnonzero(random.random(count, np.float32) < probability)
        # perceptron: multiples of the learning rate
        steps = random.geometric(0.3, rows.shape[0]) * random.choice([-1, 1], rows.shape[0])
        attributes = {"kind": "shard-weights", "settings": SETTINGS, "epoch": epoch, "shard": z}
        write_itersel_weights(
            folder / f"{z}.h5", Weights(keys[rows], 0.0001 * steps, names.take(rows)), attributes
        )
    paths = folder / "list"
    paths.write_text("".join(f"{folder / str(z)}.h5\n" for z in range(shards)))
    return paths


def _names(random: np.random.Generator, count: int) -> StringTable:
    """Return distinct names: pairs of words of 4 to 12 letters, made unique by a number."""
    letters = np.array(list("etaoinsrhldcumfpgwybvk"))
    words = ["".join(random.choice(letters, length)) for length in random.integers(4, 13, 20_000)]
    first, second = random.integers(0, len(words), (2, count)).tolist()
    kinds = ("R:X:NX_{}:N1_{}.{}", "RBS:{}_{}.{}", "RBT:{}_{}.{}")
    return string_table(
        kinds[i % 3].format(words[a], words[b], i) for i, (a, b) in enumerate(zip(first, second, strict=True))
    )


def _probabilities(count: int, expected: int) -> NDArray[np.float64]:
    """Return min(1, c / i) for i = 1 ... count, where c makes the sum `expected`."""
    rank = np.arange(1, count + 1)
    low, high = 0.0, float(count)
    for _ in range(60):
        middle = (low + high) / 2
        if np.minimum(1, middle / rank).sum() < expected:
            low = middle
        else:
            high = middle
    return np.minimum(1, high / rank)


def main() -> None:
    """Parse the options and generate the shards."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write 0.h5, 1.h5 ... and list")
    parser.add_argument("--shards", type=int, default=200, metavar="Z", help="how many (default: 200)")
    parser.add_argument(
        "--weights", type=int, default=150_000, metavar="D", help="weights a shard, about (default: 150000)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of all that is drawn (default: 1)")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    make_shards(options.folder, options.shards, options.weights, options.seed)


if __name__ == "__main__":
    main()
