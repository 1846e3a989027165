"""Arrays on disk against arrays in memory, and tables of strings against lists."""

import errno
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.storage.diskarray import DiskArray, gather, tally
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import StringTable, concatenate, string_table

texts = st.lists(st.text(max_size=4), max_size=6)


def on_disk(values, dtype="i8"):
    array = DiskArray(dtype)
    array.append(np.array(values, dtype))
    return array


def test_blocks_and_parts():
    array = on_disk([0, 1, 2, 3, 4])
    assert [block.tolist() for block in array.blocks(2)] == [[0, 1], [2, 3], [4]]
    assert [block.tolist() for block in on_disk([]).blocks(2)] == []
    assert array.read(1, 3).tolist() == [1, 2]
    assert array.read(4, 9).tolist() == [4]
    assert array.read(5, 9).tolist() == []
    array.append(np.array([5]))
    array.write(1, np.array([-1, -2]))
    array.write(6, np.array([6]))
    assert array.read().tolist() == [0, -1, -2, 3, 4, 5, 6]
    assert array.size == 7


def test_values_are_converted_and_may_be_strided():
    array = on_disk([], "i4")
    array.append(np.arange(6)[::2])
    assert array.read().tolist() == [0, 2, 4]
    assert array.read().dtype == np.int32


def test_file_has_no_name_and_is_closed_with_the_array(tmp_path):
    before, folder = len(os.listdir("/proc/self/fd")), tmp_path / "deep" / "folder"
    array = DiskArray("f8", folder)
    array.append(np.ones(1000))
    assert (os.listdir(folder), array.read().sum()) == ([], 1000)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    del array
    assert len(os.listdir("/proc/self/fd")) == before


def test_partial_writes_are_continued(monkeypatch):
    write, read = os.pwrite, os.preadv
    monkeypatch.setattr(os, "pwrite", lambda file, data, place: write(file, data[:5], place))
    monkeypatch.setattr(os, "preadv", lambda file, data, place: read(file, [data[0][:3]], place))
    assert on_disk([1, -2, 3]).read().tolist() == [1, -2, 3]


def test_full_disk_names_the_folder(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    array = DiskArray("i8", tmp_path)
    monkeypatch.setattr(os, "pwrite", fail)
    with pytest.raises(OSError, match=str(errno.ENOSPC)) as error:
        array.append(np.zeros(1, np.int64))
    assert (error.value.filename, error.value.errno) == (str(tmp_path), errno.ENOSPC)


@given(st.data(), st.integers(1, 20), st.integers(1, 7), st.integers(1, 25))
def test_gather_and_tally(data, size, length, in_memory):
    index = data.draw(st.lists(st.integers(0, size - 1), max_size=50))
    table = np.random.default_rng(size).random(size)
    found = gather(on_disk(table, "f8"), on_disk(index), length, in_memory)
    assert found.read().tolist() == table[np.array(index, int)].tolist()
    counts = tally(on_disk(index), size, length, in_memory)
    assert counts.read().tolist() == np.bincount(np.array(index, int), minlength=size).tolist()


@given(texts, st.data(), st.sampled_from([np.int32, np.int64]))
def test_take(names, data, dtype):
    table = string_table(names)
    rows = data.draw(st.lists(st.integers(0, len(names) - 1), max_size=8)) if names else []
    taken = table.take(np.array(rows, dtype))
    assert taken.to_list() == [names[row] for row in rows]
    assert taken.offset.dtype == np.int64
    assert taken.offset[0] == 0


def test_take_from_read_only_arrays():
    data, offset = np.frombuffer(b"aabb", np.uint8), np.array([0, 2, 4])
    offset.flags.writeable = False
    assert StringTable(data, offset).take(np.array([1, 0])[::-1]).to_list() == ["aa", "bb"]


@given(st.lists(texts, min_size=1, max_size=4))
def test_concatenate(lists):
    joined = concatenate([string_table(names) for names in lists])
    assert joined.to_list() == [name for names in lists for name in names]
    assert joined.count == sum(map(len, lists))


@pytest.mark.parametrize("lengths", [[], [0], [3, 0, 2], [True, False, True]])
def test_offsets(lengths):
    expected = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    for given_lengths in (lengths, np.array(lengths), np.array(lengths, np.uint8)):
        found = offsets_of(given_lengths)
        assert found.tolist() == expected
        assert found.dtype == np.int64
