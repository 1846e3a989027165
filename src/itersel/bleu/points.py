"""The unit of BLEU and of other quality: 0 to 1 in the code, points (0 to 100) where people read or write it.

Kernels, lists, learners and tuners use 0 to 1, as formulas do. Configs, options, printed output, recorded
attributes and results in Python are in points, as in sacrebleu. These functions convert at the border; what
sacrebleu counts (`itersel.evaluate`) is in points throughout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from itersel.storage.arrays import Float64s

Value = TypeVar("Value", float, "Float64s")


def to_points(quality: Value) -> Value:
    """Return a quality from 0 to 1 in points."""
    return 100 * quality


def from_points(points: Value) -> Value:
    """Return a quality in points from 0 to 1."""
    return points / 100
