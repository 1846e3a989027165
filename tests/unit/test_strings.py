"""Tables of strings compared with lists of strings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.storage.strings import StringTable, concatenate, offsets_of, string_table

texts = st.lists(st.text(max_size=4), max_size=6)


@given(texts, st.data(), st.sampled_from([np.int32, np.int64]))
def test_take(names: list[str], data: st.DataObject, dtype: type) -> None:
    table = string_table(names)
    rows = data.draw(st.lists(st.integers(0, len(names) - 1), max_size=8)) if names else []
    taken = table.take(np.array(rows, dtype))
    assert taken.to_list() == [names[row] for row in rows]
    assert taken.offset.dtype == np.int64
    assert taken.offset[0] == 0


def test_take_from_read_only_arrays() -> None:
    data, offset = np.frombuffer(b"aabb", np.uint8), np.array([0, 2, 4])
    offset.flags.writeable = False
    assert StringTable(data, offset).take(np.array([1, 0])[::-1]).to_list() == ["aa", "bb"]


@given(st.lists(texts, min_size=1, max_size=4))
def test_concatenate(lists: list[list[str]]) -> None:
    joined = concatenate([string_table(names) for names in lists])
    assert joined.to_list() == [name for names in lists for name in names]
    assert joined.count == sum(map(len, lists))


@pytest.mark.parametrize("lengths", [[], [0], [3, 0, 2], [True, False, True]])
def test_offsets(lengths: list[int]) -> None:
    expected = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    for given_lengths in (lengths, np.array(lengths), np.array(lengths, np.uint8)):
        found = offsets_of(given_lengths)
        assert found.tolist() == expected
        assert found.dtype == np.int64
