"""Small array kernels compared with numpy and plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from itersel.grammar.array_kernels import RUN, sort_stably


@given(st.lists(st.sampled_from([-np.inf, -2.5, -0.0, 0.0, 1.0, np.inf]), max_size=5 * RUN), st.data())
def test_sort_stably(keys: list[float], data: st.DataObject) -> None:
    """Rows beyond the size stay as they are."""
    rows = data.draw(st.permutations(range(len(keys))))
    size = len(keys) // 4 * 4
    order, key = np.array(rows, np.int64), np.array(keys, np.float64)
    sort_stably(order, key, np.empty_like(order), size)
    assert order.tolist() == sorted(rows[:size], key=lambda row: keys[row]) + list(rows[size:])
