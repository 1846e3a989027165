"""Reading and writing of HDF5 files with one-line errors for damaged files and full disks.

The HDF5 library does not survive a failed write: it crashes when the file is closed or the process ends.
Therefore it never sees one: files are built in memory and written by Python. For files that may not fit into
memory, see `itersel.storage.hdf5_rows`.

Compressed arrays are packed by libdeflate, but as HDF5 itself does with its filters gzip and shuffle, so
every tool for HDF5 reads them. libdeflate takes half of the time of HDF5's zlib to pack an array, and a third
to unpack it, and packs it smaller. Its output depends on its version, not on the processor.

Input is checked in three steps. The library checks its own metadata, which have checksums in the file format
of version 1.10. Each array must match its checksum in the file. Each array must also be as its format
declares it (`itersel.storage.formats`), so kernels can rely on their input.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import deflate
import h5py
import numpy as np
from numpy.typing import NDArray

from itersel.errors import FilePath, InputError, checked, opening
from itersel.run.atomic import atomic_path
from itersel.storage.files import max_unpacked
from itersel.storage.formats import (
    Arrays,
    FileFormat,
    check_arrays,
    check_digests,
    checksum,
    damaged,
    damaged_file,
    without_extra,
)

SIGNATURE = b"\x89HDF\r\n\x1a\n"
# Allocation step of files in memory.
MEMORY_STEP = 1 << 20
# Metadata with checksums, available since HDF5 1.10; readable by all later versions.
VERSION = ("v110", "v110")
# The attributes with the format of a file, and with the checksums of its arrays and other attributes.
FORMAT, DIGESTS = "format", "digests"
ATTRIBUTES = "attributes"
# Of files in memory; threads may write several at once.
_numbers = itertools.count()
# Exceptions that h5py raises for invalid files.
ERRORS = (KeyError, OSError, RuntimeError, TypeError, ValueError, AttributeError, IndexError)

DEFLATE, SHUFFLE = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE
FILTERS = ((DEFLATE,), (SHUFFLE, DEFLATE))
# Chunks of 128 kB to 1 MB make no difference; smaller ones are slower.
CHUNK_BYTES = 1 << 18
LEVEL = 1


def open_hdf5(path: FilePath) -> h5py.File:
    """Open an HDF5 file for reading; an InputError if it is missing, truncated, or another kind of file.

    It is an OSError if it cannot be read for a reason that recreating it would not fix.
    """
    with opening(path), open(path, "rb") as stream:
        signature = stream.read(len(SIGNATURE))
    if signature != SIGNATURE:
        raise InputError("damaged or truncated HDF5 file, or another kind of file; recreate it", path)

    try:
        try:
            # without a lock: some network file systems have none, and files are only ever replaced
            return h5py.File(path, "r", locking=False)
        except OSError as error:
            # HDF5 insists on the same locking for all openings of a file in a process, such as a notebook
            if "locking flag" not in str(error):
                raise
            return h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"damaged or truncated HDF5 file ({one_line(error)}); recreate it", path) from None


def one_line(error: Exception) -> str:
    """Return the message of an HDF5 error in one line."""
    return " ".join(str(error).split())


def header_of(path: FilePath, format: FileFormat) -> Header:
    """Read the header of a file; see `read_header`."""
    with open_hdf5(path) as stream:
        return read_header(stream, format, path)


class Header(NamedTuple):
    """The attributes of a file, and the checksums of its arrays by name."""

    attributes: dict[str, Any]
    digests: dict[str, str]


def read_header(stream: h5py.File, format: FileFormat, path: FilePath) -> Header:
    """Read the header of a file; an InputError if it is of another kind or version, or damaged."""
    try:
        attributes: dict[str, Any] = {name: _attribute(stream.attrs, name) for name in stream.attrs}
    except ERRORS as error:
        why = f"damaged, or of another version of itersel ({one_line(error)})"
        raise InputError(f"{why}; recreate the file", path) from None

    found = attributes.pop(FORMAT, None)
    if found != f"{format.kind}/{format.version}":
        if str(found).startswith(f"{format.kind}/"):
            raise InputError(f"is a {format.kind} of another version of itersel; recreate it", path)
        commands = " or ".join(f"'{command}'" for command in format.made_by)
        raise InputError(f"is not a {format.kind}; make one with {commands}", path)

    with checked(path, "damaged: has no checksums; recreate the file"):
        digests = {str(name): str(value) for name, value in json.loads(attributes.pop(DIGESTS)).items()}
    if digests.pop(ATTRIBUTES, None) != attributes_digest(attributes):
        raise damaged_file(path, "the attributes do not match their checksum")
    return Header(attributes, digests)


def _attribute(attributes: h5py.AttributeManager, name: str) -> str | int | float:
    """Return an attribute: a string or a number.

    Variable-length strings are rejected without reading them: HDF5 stores them without checksums, and hangs
    on some damage there.
    """
    if attributes.get_id(name).dtype.hasobject:
        raise TypeError(f"attribute '{name}' has no fixed length")
    value = attributes[name]
    return _plain(value.decode() if isinstance(value, np.bytes_) else value)


def _plain(value: Any) -> str | int | float:
    """Return a string or a number as a Python object; other types are not supported."""
    plain = value.item() if isinstance(value, np.integer | np.floating | np.bool_) else value
    if isinstance(plain, str | int | float):  # not a longdouble
        return plain
    raise TypeError(f"an attribute of type {type(value).__name__}")


def write_attribute(attributes: h5py.AttributeManager, name: str, value: str | int | float) -> None:
    """Write an attribute; strings are stored with a fixed length, see `_attribute`."""
    if isinstance(value, str):
        text = value.encode()
        attributes.create(name, text, dtype=h5py.string_dtype("utf-8", max(1, len(text))))
    else:
        attributes[name] = value


def attributes_digest(attributes: Mapping[str, Any]) -> str:
    """Return the checksum of attributes."""
    text = json.dumps(attributes, sort_keys=True)
    return checksum(np.frombuffer(text.encode(), np.uint8))


def read_arrays(
    path: FilePath, format: FileFormat, names: Collection[str] | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read and check arrays (all of the format, or those named) and attributes of a file from `write_arrays`.

    If anything is not as declared, the InputError names the file and the array.
    """
    if names is not None:
        format = replace(format, arrays={name: format.arrays[name] for name in names})

    with open_hdf5(path) as stream:
        header = read_header(stream, format, path)
        return checked_arrays(stream, header, format, path), header.attributes


def checked_arrays(
    stream: h5py.File, header: Header, format: FileFormat, path: FilePath
) -> dict[str, NDArray[Any]]:
    """Read and check the arrays of a format from an open file with this header; see `read_arrays`."""
    arrays = {}
    for name, declared in format.arrays.items():
        if declared.is_extra and name not in header.digests:
            continue

        try:
            arrays[name] = read_packed(find_dataset(stream, name, format))
        except ERRORS as error:
            raise damaged(path, name, f"cannot be read ({one_line(error)})") from None

    check_digests(arrays, header.digests, path)
    for name, declared in format.arrays.items():
        arrays.setdefault(name, np.zeros((0,) * len(declared.shape), declared.dtype))
    check_arrays(format, arrays, path)
    return arrays


def find_dataset(stream: h5py.File, name: str, format: FileFormat) -> h5py.Dataset:
    """Return an array of a file after checking that it is stored in this file and has the declared size.

    The array is not read yet, so a small file cannot unpack to more than fits in memory. If there is no such
    array, one of `ERRORS` is raised.
    """
    # The low-level interface takes half of the time: mixing looks up the arrays of thousands of files.
    links = stream.id.links
    for end in [i for i, letter in enumerate(name) if letter == "/"] + [len(name)]:
        link = name[:end].encode()
        if not links.exists(link) or links.get_info(link).type != h5py.h5l.TYPE_HARD:
            raise ValueError(f"there is no '{name[:end]}'")

    found = h5py.h5o.open(stream.id, name.encode())
    if not isinstance(found, h5py.h5d.DatasetID):
        raise TypeError("is a group")
    dtype = found.dtype
    if dtype.kind not in "iuf":
        raise TypeError("is no array of numbers")

    properties = found.get_create_plist()
    filters = {properties.get_filter(i)[0] for i in range(properties.get_nfilters())}
    allowed = {DEFLATE, SHUFFLE} if format.packed else set()
    is_virtual = properties.get_layout() == h5py.h5d.VIRTUAL
    if is_virtual or properties.get_external_count() or filters - allowed:
        raise ValueError("is not stored in the way itersel stores arrays")

    stored = found.get_storage_size()
    size = math.prod(found.shape) * dtype.itemsize
    if filters:
        # one chunk, which may be larger than the array, is unpacked at a time
        size = max(size, math.prod(properties.get_chunk()) * dtype.itemsize)
    # The limit of the whole file: an array of mostly equal numbers unpacks to hundreds of times its size.
    if size > (max_unpacked(stream.id.get_filesize()) if filters else stored):
        raise ValueError(f"takes {size} bytes, of which the file contains {stored}")

    return h5py.Dataset(found)


def write_arrays(path: FilePath, format: FileFormat, arrays: Arrays, attributes: Mapping[str, Any]) -> None:
    """Write arrays and attributes (strings and numbers) with their checksums, atomically.

    Arrays of a packed format are compressed, which reduces a file of grammars to a fifth of its size.
    """
    if not any(arrays[name].size for name, declared in format.arrays.items() if declared.is_extra):
        format = without_extra(format)
    with write_hdf5(path) as stream:
        for name, declared in format.arrays.items():
            # filters do not work on empty datasets
            if format.packed and arrays[name].size > 0:
                write_packed(stream, name, np.asarray(arrays[name]), declared.shuffled)
            else:
                stream.create_dataset(name, data=arrays[name])
        digests = {name: checksum(np.asarray(arrays[name])) for name in format.arrays}
        write_header(stream, format, attributes, digests)


def write_header(
    stream: h5py.File, format: FileFormat, attributes: Mapping[str, Any], digests: Mapping[str, str]
) -> None:
    """Write the header of a file; see `read_header`."""
    plain = {name: _plain(value) for name, value in attributes.items()}
    sealed = json.dumps({**digests, ATTRIBUTES: attributes_digest(plain)}, sort_keys=True)
    for name, value in {**plain, FORMAT: f"{format.kind}/{format.version}", DIGESTS: sealed}.items():
        write_attribute(stream.attrs, name, value)


@contextlib.contextmanager
def write_hdf5(path: FilePath) -> Iterator[h5py.File]:
    """Yield an HDF5 file in memory, and write it to `path` on success; for files of up to some 100 MB."""
    # HDF5 refuses to open a name twice, even if no file has that name
    with h5py.File(
        f"memory {next(_numbers)}",
        "w",
        driver="core",
        backing_store=False,
        block_size=MEMORY_STEP,
        libver=VERSION,
    ) as stream:
        yield stream
        stream.flush()
        image = stream.id.get_file_image()

    with atomic_path(path) as temporary:
        temporary.write_bytes(image)


def write_packed(stream: h5py.File, name: str, array: NDArray[Any], shuffled: bool) -> None:
    """Store an array with at least one row, compressed; each column on its own, so there should be few.

    Byte shuffling before that (`shuffled`) pays for numbers that rise, or whose high bytes are equal.
    """
    rows = min(array.shape[0], CHUNK_BYTES // array.itemsize)
    chunk = (rows, *(1 for _ in array.shape[1:]))
    filters = {"compression": "gzip", "compression_opts": LEVEL, "shuffle": shuffled}
    dataset = stream.create_dataset(name, array.shape, array.dtype, chunks=chunk, **filters)

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
    """Read an array that may be compressed; damage raises one of `ERRORS`."""
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


def _place(inside: tuple[slice, ...]) -> tuple[tuple[int, ...], tuple[slice, ...]]:
    """Return where a chunk starts, and which part of it is in the array, given its place in the array."""
    start = tuple(one.start for one in inside)
    return start, tuple(slice(0, one.stop - one.start) for one in inside)
