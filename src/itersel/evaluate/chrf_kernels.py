"""The F score of chrF, for kernels; `itersel.evaluate.metrics` has chrF of whole texts."""

from itersel.compile.jit import leaf_kernel
from itersel.evaluate.chrf import BETA


@leaf_kernel
def f_score(precision: float, recall: float) -> float:
    """Return the F score in which recall has the weight `BETA`; 0 if there are no matches."""
    if precision + recall == 0.0:
        return 0.0
    square = BETA * BETA
    return (1.0 + square) * precision * recall / (square * precision + recall)
