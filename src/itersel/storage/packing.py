"""Compressed arrays of HDF5 files, packed and unpacked by libdeflate.

The files are as HDF5 itself writes them with its filters gzip and shuffle, so every tool for HDF5 reads them.
libdeflate takes half of the time of HDF5's zlib to pack an array, and a third to unpack it, and packs it
smaller. Its output depends on its version, not on the processor.
"""

from __future__ import annotations

import math
from typing import Any

import deflate
import h5py
import numpy as np
from numpy.typing import NDArray

DEFLATE, SHUFFLE = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE
FILTERS = ((DEFLATE,), (SHUFFLE, DEFLATE))
# Chunks of 128 kB to 1 MB make no difference; smaller ones are slower.
CHUNK_BYTES = 1 << 18
LEVEL = 1

Slices = tuple[slice, ...]


def write_packed(stream: h5py.File, name: str, array: NDArray[Any], shuffled: bool) -> None:
    """Store an array compressed.

    Parameters
    ----------
    stream, name
        Where to store it.
    array
        An array with at least one row. Each column is compressed on its own, so there should be few.
    shuffled
        Apply byte shuffling first: it pays for numbers that rise, or whose high bytes are equal.
    """
    rows = min(array.shape[0], CHUNK_BYTES // array.itemsize)
    chunk = (rows, *(1 for _ in array.shape[1:]))
    dataset = stream.create_dataset(
        name,
        array.shape,
        array.dtype,
        chunks=chunk,
        compression="gzip",
        compression_opts=LEVEL,
        shuffle=shuffled,
    )
    whole = np.zeros(chunk, array.dtype)
    for inside in dataset.iter_chunks():
        start, part = _place(inside)
        # HDF5 stores the last chunk in full, too
        whole[...] = 0
        whole[part] = array[inside]
        content = whole.reshape(-1).view(np.uint8)
        if shuffled:
            content = np.ascontiguousarray(content.reshape(-1, array.itemsize).T)
        dataset.id.write_direct_chunk(start, bytes(deflate.zlib_compress(content.data, LEVEL)))


def read_packed(dataset: h5py.Dataset) -> NDArray[Any]:
    """Read an array that may be compressed.

    Raises
    ------
    OSError, RuntimeError, ValueError
        If it is damaged.
    """
    properties = dataset.id.get_create_plist()
    filters = tuple(properties.get_filter(i)[0] for i in range(properties.get_nfilters()))
    # HDF5 has types, such as integers of 12 bits, that numpy stores differently
    is_plain = dataset.id.get_type() == h5py.h5t.py_create(dataset.dtype)
    if filters not in FILTERS or not is_plain or not dataset.size:
        return np.asarray(dataset[:])
    array = np.empty(dataset.shape, dataset.dtype)
    size = math.prod(dataset.chunks) * dataset.dtype.itemsize
    # HDF5 does not survive reading a chunk if there are none
    chunks = (-(-rows // step) for rows, step in zip(dataset.shape, dataset.chunks, strict=True))
    if dataset.id.get_num_chunks() != math.prod(chunks):
        raise OSError("some chunks are missing")
    for inside in dataset.iter_chunks():
        start, part = _place(inside)
        unfiltered, packed = dataset.id.read_direct_chunk(start)
        if unfiltered:
            array[inside] = dataset[inside]
            continue
        try:
            content = np.frombuffer(deflate.zlib_decompress(packed, size), np.uint8)
        except deflate.DeflateError:
            raise OSError("cannot be unpacked") from None
        if len(content) != size:
            raise OSError("a chunk is incomplete")
        if SHUFFLE in filters:
            content = np.ascontiguousarray(content.reshape(dataset.dtype.itemsize, -1).T).reshape(-1)
        array[inside] = content.view(dataset.dtype).reshape(dataset.chunks)[part]
    return array


def _place(inside: Slices) -> tuple[tuple[int, ...], Slices]:
    """Return where a chunk starts, and which part of it is in the array, given its place in the array."""
    start = tuple(one.start for one in inside)
    return start, tuple(slice(0, one.stop - one.start) for one in inside)
