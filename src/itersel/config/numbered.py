"""Values of keys that kernels compare: their names in configs and their numbers in kernels."""

from __future__ import annotations

# `regularization` of online learners; `itersel.learn.parameter_kernels` has the formulas.
NONE, L1_CLIP, L1_CUMULATIVE, L2_SHRINK = range(4)
REGULARIZATIONS = {"none": NONE, "l1": L1_CLIP, "l1-cumulative": L1_CUMULATIVE, "l2": L2_SHRINK}

# `norm` of mixings that select features.
L0, L1, L2, LINF = range(4)
NORMS = {"l0": L0, "l1": L1, "l2": L2, "linf": LINF}
