"""Generate synthetic k-best lists of several iterations, to measure `itersel step tune` without decoding.

    python -m benchmarks.made_up_lists --features 1000000 FOLDER
    itersel step tune --settings '{"tuner": {"name": "pro"}}' --inputs FOLDER/list --iteration 10 \\
        --start FOLDER/start --output FOLDER/weights.h5

No two translations are equal. Their n-gram matches depend on a hidden quality, and so do the dense features
and, weakly, the choice of the sparse ones, so that there is something to learn. The translations of a
sentence choose from the same few hundred sparse features. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itersel.bleu.bleu_kernels import Statistics, ngram_counts
from itersel.bleu.order import ORDER
from itersel.lists.files import write_lists
from itersel.lists.headers import header_attributes
from itersel.lists.table import ListTable
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import StringTable, string_table
from itersel.tune.start_weights import START_WEIGHTS
from itersel.vectors.feature_names import DENSE_FEATURES
from itersel.vectors.features import feature_keys
from itersel.vectors.sparse_rows import SparseRows

SENTENCES, K_BEST, ITERATIONS = 1029, 100, 10
# Sparse features of a translation, and of all translations of a sentence.
EACH, CHOICE = 100, 300


def make_lists(
    folder: Path,
    sentences: int = SENTENCES,
    k_best: int = K_BEST,
    iterations: int = ITERATIONS,
    features: int = 0,
    seed: int = 1,
) -> Path:
    """Write ``1.h5``, ``2.h5`` and so on, as `itersel step kbest` would, and a manifest; returns its path.

    Parameters
    ----------
    folder
        Output folder; ``start`` there are the weights of the first iteration.
    sentences, k_best, iterations
        Sizes of the lists.
    features
        Number of sparse features, 0 for none.
    seed
        Random seed.
    """
    random = np.random.default_rng(seed)
    lengths = random.integers(5, 40, sentences)
    keys, names = _features(features)
    # popular features are in many sentences
    chosen = (features * random.random((sentences, CHOICE)) ** 3).astype(np.int64) if features else None
    for iteration in range(1, iterations + 1):
        table = _make_table(lengths, k_best, chosen, keys, names, np.random.default_rng((seed, iteration)))
        attributes = header_attributes("made up", 0, iteration, {}, "made up", table.dense_names)
        path = folder / f"{iteration}.h5"
        with write_lists(path, len(table.dense_names), attributes, keys, names, False) as writer:
            writer.append(table)
    (folder / "start").write_text("".join(f"{name} {value}\n" for name, value in START_WEIGHTS.items()))
    paths = folder / "list"
    paths.write_text("".join(f"{folder / str(i)}.h5\n" for i in range(1, iterations + 1)))
    return paths


def _features(count: int) -> tuple[NDArray[np.uint64], StringTable]:
    """Return keys, ascending, and names of sparse features as long as those of rules."""
    names = string_table(f"R:X:NX_quelle{i}:N1_ziel{i % 977}" for i in range(count))
    keys = feature_keys(names)
    order = np.argsort(keys)
    return keys[order], names.take(order)


def _make_table(
    lengths: NDArray[np.int64],
    k_best: int,
    chosen: NDArray[np.int64] | None,
    keys: NDArray[np.uint64],
    names: StringTable,
    random: np.random.Generator,
) -> ListTable:
    rows = lengths.shape[0] * k_best
    reference = np.repeat(lengths, k_best)
    length = np.maximum(1, reference + random.integers(-3, 4, rows))
    quality = random.uniform(0.4, 0.95, rows)
    ngrams = ngram_counts(length)
    dense = random.normal(size=(rows, len(DENSE_FEATURES))) + quality[:, None] * np.linspace(
        -2, 2, len(DENSE_FEATURES)
    )
    offset, feature = np.zeros(rows + 1, np.int64), np.zeros(0, np.int32)
    if chosen is not None:
        # better translations prefer the first of their sentence's features
        preference = random.random((rows, CHOICE), np.float32)
        preference += quality[:, None].astype(np.float32) * np.linspace(1, 0, CHOICE, dtype=np.float32)
        best = np.argpartition(-preference, EACH, axis=1)[:, :EACH]
        found = np.sort(np.take_along_axis(np.repeat(chosen, k_best, axis=0), best, axis=1), axis=1)
        # a sentence may have drawn a feature twice
        is_first = np.ones(found.shape, bool)
        is_first[:, 1:] = np.diff(found, axis=1) > 0
        offset, feature = offsets_of(is_first.sum(axis=1)), found[is_first].astype(np.int32)
    matches = ngrams * quality[:, None] ** np.arange(1, ORDER + 1)
    counts = matches, length, reference
    return ListTable(
        np.arange(lengths.shape[0] + 1) * k_best,
        dense,
        DENSE_FEATURES,
        SparseRows(feature, np.ones(feature.shape[0]), offset, keys, names),
        text=string_table(map(str, range(rows))),
        reference_length=lengths,
        sentence_reference_offset=np.arange(lengths.shape[0] + 1),
        statistics=Statistics(*(count.astype(np.int32) for count in counts)),
    )


def main() -> None:
    """Parse the options and generate the lists."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write 1.h5, 2.h5 ... and list")
    for name, default in (
        ("sentences", SENTENCES),
        ("k-best", K_BEST),
        ("iterations", ITERATIONS),
        ("features", 0),
        ("seed", 1),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=f"default: {default}")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    make_lists(**vars(options))


if __name__ == "__main__":
    main()
