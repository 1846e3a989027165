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
    corpus: list[oracle.Sentence],
    learner: Any,
    start: Start | None = None,
    threads: int = 1,
    measure_loss: bool = False,
    **options: Any,
) -> Training:
    shard = oracle.make_shard(corpus, NAMES)
    decoders = [oracle.OracleDecoder(corpus, shard) for _ in range(threads)]
    how = TrainSettings(k_best=15, learner=learner, **options)
    return train_shard(shard, decoders, start or Start(make_weights(START)), how, measure_loss)


def assert_same(found: Training, expected: Training) -> None:
    """Check that all but the measured loss is identical."""
    assert found.weights.to_dict() == expected.weights.to_dict()
    assert found[2:-1] == expected[2:-1]
    assert (found.state is None) == (expected.state is None)
    if found.state is not None and expected.state is not None:
        assert found.state.weights.to_dict() == expected.state.weights.to_dict()
        memories = [() if one is None else one for one in (found.state.memory, expected.state.memory)]
        assert [array.tolist() for array in memories[0]] == [array.tolist() for array in memories[1]]


def close(found: Vector, expected: Vector) -> bool:
    """Whether lazy weights equal eager ones up to the rounding of sums of a few dozen terms."""
    return all(
        math.isclose(found.get(name, 0.0), value, rel_tol=1e-9, abs_tol=1e-12)
        for name, value in expected.items()
    )
