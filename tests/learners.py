"""Training of online learners on made-up sentences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tests.naive import oracle
from tests.naive.learners import Vector

from itersel.learn.train import Training, TrainSettings, train_shard
from itersel.learn.weight_table import Start
from itersel.vectors.weights import make_weights

NAMES = [f"feature{i}" for i in range(8)]
ALL_NAMES = [*oracle.DENSE_NAMES, *NAMES]
# "elsewhere" is not a feature of the shard
START = {"feature2": 0.25, "LanguageModel": -0.5, "feature5": -0.0625, "elsewhere": 0.75}


def sentences(seed: int, count: int = 6, *, exact: bool = False) -> list[oracle.Sentence]:
    random = np.random.default_rng(seed)
    return [oracle.random_sentence(random, NAMES, exact=exact) for _ in range(count)]


def train(
    corpus: list[oracle.Sentence], learner: Any, start: Start | None = None, threads: int = 1, epoch: int = 1
) -> Training:
    shard = oracle.make_shard(corpus, NAMES)
    decoders = [oracle.OracleDecoder(corpus, shard) for _ in range(threads)]
    how = TrainSettings(k_best=15, learner=learner, epoch=epoch)
    return train_shard(shard, decoders, start or Start(make_weights(START)), how)


def close(found: Vector, expected: Vector) -> bool:
    """Whether lazy weights equal eager ones up to the rounding of sums of a few dozen terms."""
    return all(
        math.isclose(found.get(name, 0.0), value, rel_tol=1e-9, abs_tol=1e-12)
        for name, value in expected.items()
    )
