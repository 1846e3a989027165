"""The weights of a shard during training: steps, regularisation and averages, all computed lazily.

A sentence updates few weights, but regularisation changes all of them after every sentence, and an average
includes all of them. To avoid a pass over all weights per sentence, each weight is stored as of its last
update (its *anchor*), with the number of the step before that update. The effect of regularisation since then
has a closed form, and so has the sum of the weight's values since then.

Regularisers, after step t, with strength l:

- ``L1_CLIP``: w <- sign(w) max(0, |w| - l) (Carpenter 2008);
- ``L1_CUMULATIVE``: the same, but compares the total penalty so far, u = u0 + l t, with the penalty that the
  weight has received, so that a weight that moves around 0 is penalised for all steps (Tsuruoka, Tsujii and
  Ananiadou 2009, figure 2); u0 is that of earlier epochs;
- ``L2_SHRINK``: w <- w / (1 + l), the closed form of FOBOS for (l / 2) |w|^2 (Duchi and Singer 2009).

Shapes: n = weights, m = weights of one update.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import leaf_kernel
from itersel.config.numbered import L1_CLIP, L2_SHRINK, NONE
from itersel.storage.arrays import Float64s, Int32s, Int64s
from itersel.storage.formats import MAX_MAGNITUDE


class UpdateRule(NamedTuple):
    """The update rule: learning rate and regularisation."""

    regularization: int  # one of the four kinds (`itersel.config.numbered`)
    strength: float  # l, of one step
    owed_before: float  # u0, for `L1_CUMULATIVE`
    base_rate: float  # the learning rate, which a schedule may reduce
    # divide the steps of a weight by the square root of the sum of its squared gradients so far (AdaGrad)
    adaptive: bool


class Coordinates(NamedTuple):
    """Weights in training; all arrays of size n."""

    # the weights; `refresh` brings those of the sentences to be decoded up to date
    value: Float64s
    # each weight after its last update, before the regularisation of any step after `since`
    anchor: Float64s
    since: Int64s
    # Without regularisation and adaptive steps, anchor = start + base_rate * total. The total is stored
    # separately because it is an integer for rule counts: updates that cancel restore the initial weight
    # exactly, without a rounding error that would count as a feature.
    start: Float64s
    total: Float64s
    # for `L1_CUMULATIVE`, the total that regularisation has added to the weight, up to `since`
    paid: Float64s
    squares: Float64s  # sum of squared gradients
    area: Float64s  # sum of the weight after each step up to `since`


@leaf_kernel
def regularized(update_rule: UpdateRule, anchor: float, paid: float, since: int, now: int) -> float:
    """Return a weight after the regularisation of the steps since + 1, ..., now."""
    steps = now - since
    if steps == 0 or update_rule.regularization == NONE:
        return anchor
    if update_rule.regularization == L2_SHRINK:
        return anchor / (1.0 + update_rule.strength) ** steps
    magnitude = _magnitude(update_rule, anchor, paid, since) - steps * update_rule.strength
    if magnitude <= 0.0:
        return 0.0
    return magnitude if anchor > 0.0 else -magnitude


@leaf_kernel
def _magnitude(update_rule: UpdateRule, anchor: float, paid: float, since: int) -> float:
    """Return |w| after step `since`, minus the penalty still due for the steps up to then."""
    if update_rule.regularization == L1_CLIP:
        return abs(anchor)
    owed = update_rule.owed_before + since * update_rule.strength
    return abs(anchor) - (owed + paid if anchor > 0.0 else owed - paid)


@leaf_kernel
def summed(update_rule: UpdateRule, anchor: float, paid: float, since: int, now: int) -> float:
    """Return the sum of `regularized` after each of the steps since + 1, ..., now."""
    steps = now - since
    if update_rule.regularization == NONE:
        return steps * anchor
    if update_rule.regularization == L2_SHRINK:
        # geometric series; 1 - (1 + l)^-n would lose the digits of a small l
        return float(-anchor * np.expm1(-steps * np.log1p(update_rule.strength)) / update_rule.strength)

    magnitude = _magnitude(update_rule, anchor, paid, since)
    if magnitude <= 0.0:
        return 0.0

    # arithmetic series, down to 0
    count = min(float(steps), np.floor(magnitude / update_rule.strength))
    total = count * magnitude - update_rule.strength * count * (count + 1.0) / 2.0
    return float(total) if anchor > 0.0 else -float(total)


@leaf_kernel
def settle(update_rule: UpdateRule, weights: Coordinates, i: int, now: int) -> None:
    """Move the anchor of a weight to step `now`."""
    value = regularized(update_rule, weights.anchor[i], weights.paid[i], weights.since[i], now)
    weights.area[i] += summed(update_rule, weights.anchor[i], weights.paid[i], weights.since[i], now)
    weights.paid[i] += value - weights.anchor[i]
    weights.anchor[i] = value
    weights.value[i] = value
    weights.since[i] = now


@leaf_kernel
def update(
    update_rule: UpdateRule, weights: Coordinates, index: Int64s, gradient: Float64s, step: int, factor: float
) -> int:
    """Take step `step`, counted from 1; returns -1, or the first weight that became too large or NaN.

    index, gradient: int64 and float64 (m): the weights, each once, and the ascent direction. factor: the
    learning rate of the step as a multiple of ``update_rule.base_rate``.
    """
    for j in range(index.shape[0]):
        if gradient[j] == 0.0:
            continue

        i = index[j]
        settle(update_rule, weights, i, step - 1)

        if update_rule.adaptive:
            weights.squares[i] += gradient[j] * gradient[j]
            # 0 if the square of a first gradient underflows: no step
            if weights.squares[i] != 0.0:
                weights.anchor[i] += (
                    update_rule.base_rate * factor * gradient[j] / np.sqrt(weights.squares[i])
                )
        elif update_rule.regularization == NONE:
            weights.total[i] += factor * gradient[j]
            weights.anchor[i] = weights.start[i] + update_rule.base_rate * weights.total[i]
        else:
            weights.anchor[i] += update_rule.base_rate * factor * gradient[j]

        weights.value[i] = regularized(update_rule, weights.anchor[i], weights.paid[i], step - 1, step)
        if not abs(weights.value[i]) <= MAX_MAGNITUDE:  # NaN too
            return int(i)
    return -1


@leaf_kernel
def refresh(
    update_rule: UpdateRule, weights: Coordinates, rows: Int32s, feature: Int32s, offset: Int64s, now: int
) -> None:
    """Bring the values of the features of some rows, int32, up to step `now`.

    feature, offset: int32 and int64 (R + 1), the features of all R rows: rules of grammars, or translations.
    """
    for place in range(rows.shape[0]):
        row = rows[place]
        for j in range(offset[row], offset[row + 1]):
            i = feature[j]
            since = weights.since[i]
            weights.value[i] = regularized(update_rule, weights.anchor[i], weights.paid[i], since, now)


@leaf_kernel
def settle_all(update_rule: UpdateRule, weights: Coordinates, now: int) -> None:
    """Move all anchors to step `now`."""
    for i in range(weights.value.shape[0]):
        settle(update_rule, weights, i, now)
