"""Arrays packed by libdeflate are those of HDF5's filters, in both directions."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.limits import UNPACKED_BYTES
from itersel.storage import hdf5
from itersel.storage.formats import Array, FileFormat
from itersel.storage.hdf5 import read_arrays, read_packed, write_arrays, write_packed

DTYPES = ("|u1", "<u2", "<i4", "<u8", "<f4", ">i4")
FORM = FileFormat("numbers", 1, "itersel", {"a": Array("<i4", ("A",), packed=True)})


def in_memory() -> h5py.File:
    return h5py.File("memory", "w", driver="core", backing_store=False)


def numbers(seed: int, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.random.default_rng(seed).integers(200, size=shape).astype(dtype)


shapes = st.one_of(
    st.tuples(st.integers(1, 70)),
    st.tuples(st.integers(1, 30), st.integers(1, 4)),
    st.tuples(st.integers(1, 9), st.integers(1, 3), st.integers(1, 3)),
)


@given(st.integers(0, 99), st.sampled_from(DTYPES), shapes, st.booleans(), st.sampled_from([8, 64, 1 << 18]))
def test_hdf5_reads_what_is_packed(
    seed: int, dtype: str, shape: tuple[int, ...], shuffled: bool, chunk_bytes: int
) -> None:
    array = numbers(seed, dtype, shape)
    with pytest.MonkeyPatch.context() as patch, in_memory() as stream:
        patch.setattr(hdf5, "CHUNK_BYTES", chunk_bytes)
        write_packed(stream, "a", array, shuffled)
        for found in (stream["a"][:], read_packed(stream["a"])):
            assert found.dtype == array.dtype
            np.testing.assert_array_equal(found, array)
        assert (stream["a"].compression, stream["a"].shuffle) == ("gzip", shuffled)


@given(st.integers(0, 99), st.sampled_from(DTYPES), shapes, st.data())
def test_what_hdf5_packs_is_read(seed: int, dtype: str, shape: tuple[int, ...], data: st.DataObject) -> None:
    array = numbers(seed, dtype, shape)
    options = data.draw(
        st.sampled_from([{}, {"compression": "gzip"}, {"compression": "lzf"}, {"fletcher32": True}])
    )
    shuffle = data.draw(st.booleans())
    chunk = tuple(data.draw(st.integers(1, size + 3)) for size in shape)
    with in_memory() as stream:
        unlimited = (None,) * len(shape)
        stream.create_dataset(
            "a", shape, array.dtype, chunks=chunk, maxshape=unlimited, shuffle=shuffle, **options
        )
        stream["a"][...] = array
        np.testing.assert_array_equal(read_packed(stream["a"]), array)


def test_arrays_that_are_not_in_chunks() -> None:
    with in_memory() as stream:
        stream["a"], stream["empty"] = np.arange(9), np.zeros((0, 3))
        np.testing.assert_array_equal(read_packed(stream["a"]), np.arange(9))
        assert read_packed(stream["empty"]).shape == (0, 3)


def test_chunks_that_did_not_become_smaller() -> None:
    """HDF5 stores them as they are, and marks them."""
    array = np.random.default_rng(1).integers(1 << 31, size=1000).astype(np.int32)
    with in_memory() as stream:
        write_packed(stream, "a", array, shuffled=True)
        both = 0b11
        stream["a"].id.write_direct_chunk((0,), array.tobytes(), both)
        np.testing.assert_array_equal(read_packed(stream["a"]), array)


@pytest.mark.parametrize(
    ("chunk", "said"),
    [
        (b"\x00" * 20, "cannot be unpacked"),
        (zlib.compress(bytes(400))[:-1], "cannot be unpacked"),
        (zlib.compress(bytes(399)), "a chunk is incomplete"),
        (zlib.compress(bytes(401)), "cannot be unpacked"),
    ],
)
def test_a_damaged_chunk(tmp_path: Path, chunk: bytes, said: str) -> None:
    path = tmp_path / "numbers.h5"
    write_arrays(path, FORM, {"a": np.arange(100, dtype=np.int32)}, {})
    with h5py.File(path, "r+") as stream:
        stream["a"].id.write_direct_chunk((0,), chunk)
    with pytest.raises(InputError, match=rf"numbers\.h5: damaged: array 'a' cannot be read \({said}\)"):
        read_arrays(path, FORM)


@pytest.mark.parametrize("chunk", [10, 30, 100])
@pytest.mark.parametrize("is_first_there", [False, True])
def test_missing_chunks(tmp_path: Path, chunk: int, is_first_there: bool) -> None:
    path = tmp_path / "numbers.h5"
    write_arrays(path, FORM, {"a": np.arange(100, dtype=np.int32)}, {})
    with h5py.File(path, "r+", libver=("v110", "v110")) as stream:
        del stream["a"]
        stream.create_dataset("a", (100,), np.int32, chunks=(chunk,), compression="gzip")
        if is_first_there and chunk < 100:
            stream["a"][:chunk] = 1
    with pytest.raises(InputError, match=r"array 'a' cannot be read \(some chunks are missing\)"):
        read_arrays(path, FORM)


def test_a_single_number(tmp_path: Path) -> None:
    path = tmp_path / "numbers.h5"
    write_arrays(path, FORM, {"a": np.arange(100, dtype=np.int32)}, {})
    with h5py.File(path, "r+") as stream:
        del stream["a"]
        stream["a"] = np.int32(5)
    with pytest.raises(InputError, match="array 'a' cannot be read"):
        read_arrays(path, FORM)


def test_an_empty_array_of_many_chunks() -> None:
    with in_memory() as stream:
        stream.create_dataset(
            "a", (0, 10**11), np.int32, chunks=(1, 1), maxshape=(None, None), compression="gzip"
        )
        assert read_packed(stream["a"]).shape == (0, 10**11)


def test_types_that_numpy_stores_differently() -> None:
    twelve_bits = h5py.h5t.STD_I32LE.copy()
    twelve_bits.set_precision(12)
    twelve_bits.set_offset(8)
    with in_memory() as stream:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk((4,))
        properties.set_deflate(1)
        h5py.h5d.create(stream.id, b"a", twelve_bits, h5py.h5s.create_simple((4,)), properties)
        stream["a"][:] = [0, 1, 2, 3]
        assert read_packed(stream["a"]).tolist() == [0, 1, 2, 3]


def test_a_chunk_larger_than_the_limit(tmp_path: Path) -> None:
    """A small file must not make the process allocate more than fits in memory."""
    path = tmp_path / "numbers.h5"
    write_arrays(path, FORM, {"a": np.arange(100, dtype=np.int32)}, {})
    with h5py.File(path, "r+") as stream:
        del stream["a"]
        chunk = UNPACKED_BYTES // 4 + 1
        stream.create_dataset("a", (100,), np.int32, chunks=(chunk,), maxshape=(None,), compression="gzip")
    with pytest.raises(InputError, match=f"takes {4 * chunk} bytes, of which the file holds"):
        read_arrays(path, FORM)


def test_the_same_bytes(tmp_path: Path) -> None:
    array = numbers(1, "<i4", (200_000,))
    for name in ("one", "two"):
        write_arrays(tmp_path / name, FORM, {"a": array}, {})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one").stat().st_size < array.nbytes / 2
