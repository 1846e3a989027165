"""The synthetic shards for benchmarks: mix accepts them, and the same seed gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.made_up_shards import make_shards

from itersel.cli.main import main
from itersel.vectors.features import feature_keys
from itersel.vectors.weights import read_weights


def test_mix_accepts_them(tmp_path: Path) -> None:
    paths = make_shards(tmp_path, 6, 500)
    command = ["mix", "--inputs", str(paths), "--shards", "6", "--mixing", "selection", "--epoch", "1"]
    assert main([*command, "--select", "50", "--output", str(tmp_path / "v.h5")]) == 0
    assert 0 < read_weights(tmp_path / "v.h5").key.shape[0] <= 50
    shards = [read_weights(tmp_path / f"{z}.h5") for z in range(6)]
    for weights in shards:
        assert 400 < weights.key.shape[0] < 600
        assert np.array_equal(feature_keys(weights.name), weights.key)
    # Zipf: some features are in all shards, most only in one
    _, times = np.unique(np.concatenate([weights.key for weights in shards]), return_counts=True)
    assert (times == 6).sum() > 50
    assert (times == 1).sum() > 500


def test_seeds(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        make_shards(tmp_path / name, 2, 100, seed)
    a, b, c = ((tmp_path / name / "1.h5").read_bytes() for name in "abc")
    assert a == b
    assert a != c
