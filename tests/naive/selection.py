"""Algorithms 1 to 4 of Simianer, Riezler & Dyer (ACL 2012), transcribed from their pseudo-code.

Weight vectors are dictionaries. A corpus is a list of shards, a shard a list of sentences. `train` replaces
the loop over the pairs of all sentences: it takes a shard and weights, and returns weights.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from itersel.storage.strings import string_table
from itersel.vectors.features import feature_keys

Vector = dict[str, float]
Shard = TypeVar("Shard")
Train = Callable[[Shard, Vector], Vector]


def scaled_sum(vectors: Sequence[Vector], scale: float) -> Vector:
    total: Vector = {}
    for vector in vectors:
        for name, value in vector.items():
            total[name] = total.get(name, 0.0) + value
    return {name: scale * value for name, value in total.items()}


def sgd(shard: Shard, epochs: int, train: Train[Shard]) -> Vector:
    """Algorithm 1."""
    weights: Vector = {}
    results = []
    for _ in range(epochs):
        weights = train(shard, weights)
        results.append(weights)
    return scaled_sum(results, 1 / epochs)


def mix_sgd(shards: Sequence[Shard], epochs: int, train: Train[Shard]) -> Vector:
    """Algorithm 2."""
    return scaled_sum([sgd(shard, epochs, train) for shard in shards], 1 / len(shards))


def iter_mix_sgd(shards: Sequence[Shard], epochs: int, train: Train[Shard]) -> Vector:
    """Algorithm 3."""
    weights: Vector = {}
    for _ in range(epochs):
        weights = scaled_sum([train(shard, weights) for shard in shards], 1 / len(shards))
    return weights


def iter_sel_sgd(shards: Sequence[Shard], epochs: int, train: Train[Shard], number: int) -> Vector:
    """Algorithm 4: in each epoch, select the K features with the largest l2 norm (ties by key)."""
    weights: Vector = {}
    for _ in range(epochs):
        results = [train(shard, weights) for shard in shards]
        names = {name for result in results for name in result}
        norm = {name: column_norm([w.get(name, 0.0) for w in results], "l2") for name in names}
        chosen = sorted(names, key=lambda name: (-norm[name], feature_keys(string_table([name]))))[:number]
        mean = scaled_sum(results, 1 / len(shards))
        weights = {name: mean[name] for name in chosen}
    return weights


def path_following(
    shards: Sequence[Shard],
    epochs: int,
    train: Train[Shard],
    loss: Callable[[Shard, Vector], float],
    path: tuple[float, float, float],
) -> tuple[Vector, list[float]]:
    """Algorithm 3 of the talk of Simianer & Riezler (2013); returns the weights and the thresholds used."""
    threshold, epsilon, minimum = path
    weights: Vector = {}
    thresholds = []
    before = 0.0
    for epoch in range(epochs):
        now = sum(loss(shard, weights) for shard in shards)
        if epoch > 0:
            threshold = min(threshold, (before - now) / epsilon)
        if threshold < minimum:
            break
        thresholds.append(threshold)
        before = now
        results = [train(shard, weights) for shard in shards]
        names = {name for result in results for name in result}
        columns = {name: [w.get(name, 0.0) for w in results] for name in names}
        mean = scaled_sum(results, 1 / len(shards))
        weights = {name: mean[name] for name in names if column_norm(columns[name], "l2") > threshold}
    return weights, thresholds


def column_norm(column: Sequence[float], norm: str) -> float:
    if norm == "l0":
        return float(sum(value != 0 for value in column))
    if norm == "linf":
        return max(abs(value) for value in column)
    if norm == "l1":
        return sum(abs(value) for value in column)
    return math.sqrt(sum(value * value for value in column))


def second_hash(name: str) -> int:
    """The hash that tells apart features with the same key: 8 bytes at a time, the last 8 last."""
    content = name.encode()
    size = len(content)
    state = size * 0x880355F21E6D1965 % 2**64
    parts = [content[place : place + 8] for place in range(0, size - 8, 8)] + [content[-8:]]
    for part in parts:
        word = int.from_bytes(part, "little" if size >= 8 else "big")
        mixed = (word ^ (word >> 23)) * 0x2127599BF4325C37 % 2**64
        state = (state ^ mixed ^ (mixed >> 47)) * 0x880355F21E6D1965 % 2**64
    return state
