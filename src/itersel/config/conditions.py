"""The conditions under which keys of an experiment have other defaults.

Keys declare them with the names below (``on={TUNE_ON_DEV: 0.1}``), so that a misspelling is an error; what
they stand for is shown in help and documentation, and packages write it out (docs/plugins.md).
`itersel.config.forms` finds the conditions that hold.
"""

from __future__ import annotations

import re

from itersel.keys import AND

TUNE_ON_TRAIN, TUNE_ON_DEV = "tune_on: train", "tune_on: dev"
BATCH_TUNER = "a batch tuner"
# The weights of several shards are mixed; otherwise, there is a single weight vector.
MIXED_WEIGHTS = "mixed weights"

_CONDITION = re.compile(
    rf"{TUNE_ON_TRAIN}|{TUNE_ON_DEV}|(algorithm|mixing): [\w-]+|{BATCH_TUNER}|{MIXED_WEIGHTS}"
)


def algorithm_is(name: object) -> str:
    """Return the condition that an experiment has this algorithm."""
    return f"algorithm: {name}"


def mixing_is(name: object) -> str:
    """Return the condition that an experiment has this mixing."""
    return f"mixing: {name}"


def all_of(*conditions: str) -> str:
    """Return the condition that all of these hold."""
    return AND.join(conditions)


# One of each kind, for messages.
EXAMPLES = (TUNE_ON_DEV, algorithm_is("sgd"), mixing_is("mean"), BATCH_TUNER, MIXED_WEIGHTS)


def can_hold(condition: str) -> bool:
    """Return whether this is a condition, or several, in the words of this module."""
    return all(map(_CONDITION.fullmatch, condition.split(AND)))
