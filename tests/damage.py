"""Changing binary files for tests, with the old checksums or with new ones that hide the change."""

import contextlib
import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xxhash
from numpy.typing import NDArray

from itersel.storage.arrayfile import ALIGNMENT, DIGEST_BYTES, MAGIC
from itersel.storage.formats import checksum
from itersel.storage.hdf5 import ATTRIBUTES, DIGESTS, FORMAT, attributes_digest, write_attribute

LARGEST_SEALED = 1 << 28  # bytes


@contextlib.contextmanager
def resealed(path: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file for changes; correct all checksums at the end."""
    with h5py.File(path, "r+") as stream:
        yield stream
        reseal(stream)


def reseal(stream: h5py.File) -> None:
    """Correct the checksums of all arrays of numbers in an HDF5 file, except huge ones."""
    digests: dict[str, str] = {}
    for name, item in _arrays(stream):
        if item.shape is None or item.dtype.kind not in "iufb" or item.nbytes > LARGEST_SEALED:
            continue
        if not item.is_virtual and not item.external:  # HDF5 may crash on the targets of these
            digests[name] = checksum(np.asarray(item[()]).reshape(item.shape or (1,)))
    attributes = {name: _value(stream.attrs[name]) for name in stream.attrs if name not in (FORMAT, DIGESTS)}
    if all(isinstance(value, str | int | float) for value in attributes.values()):
        digests[ATTRIBUTES] = attributes_digest(attributes)
    write_attribute(stream.attrs, DIGESTS, json.dumps(digests))
    for name in stream.attrs:
        if isinstance(stream.attrs[name], str):
            with contextlib.suppress(UnicodeEncodeError):  # bytes that are not UTF-8 are left as they are
                write_attribute(stream.attrs, name, stream.attrs[name])


Opened = Callable[[Path], contextlib.AbstractContextManager[h5py.File]]
# Opens a file whose old checksums remain.
unsealed: Opened = functools.partial(h5py.File, mode="r+")


def changed(change: Callable[[h5py.File], object], opened: Opened = resealed) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        with opened(path) as stream:
            change(stream)

    return apply


def put(name: str, place: object, value: float, opened: Opened = resealed) -> Callable[[Path], None]:
    """Return a function that changes a value of an array in a file."""
    return changed(lambda stream: stream[name].__setitem__(place, value), opened)


def replaced(name: str, array: Callable[[Any], Any] | None = None) -> Callable[[Path], None]:
    """Return a function that removes an array of a file, or replaces it by `array` of its values."""

    def change(stream: h5py.File) -> None:
        values = stream.pop(name)[:]
        if array is not None:
            stream[name] = array(values)

    return changed(change)


def set_attributes(**values: object) -> Callable[[Path], None]:
    return changed(lambda stream: stream.attrs.update(values))


def _value(value: object) -> object:
    """Return an attribute in the form that the reader gets."""
    if isinstance(value, np.bytes_):
        return value.decode(errors="replace")
    return value.item() if isinstance(value, np.generic) else value


def _arrays(group: h5py.Group) -> Iterator[tuple[str, h5py.Dataset]]:
    """Yield all arrays by name, including second names, which `visititems` would skip."""
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        item = group[name]
        if isinstance(item, h5py.Dataset):
            yield name, item
        elif isinstance(item, h5py.Group):
            yield from ((f"{name}/{inner}", array) for inner, array in _arrays(item))


class Parts:
    """The parts of an array file: its header, and its arrays by name."""

    def __init__(self, content: bytes) -> None:
        length = int.from_bytes(content[8:16], "little")
        self.header: dict[str, Any] = json.loads(content[16 : 16 + length])
        self.arrays = {}
        start = _align(16 + length + DIGEST_BYTES)
        for name, entry in self.header["arrays"].items():
            count = int(np.prod(entry["shape"], dtype=np.int64))
            flat = np.frombuffer(content, entry["dtype"], count, start + entry["position"])
            self.arrays[name] = flat.reshape(entry["shape"]).copy()

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Replace an array and its entry in the header."""
        self.arrays[name] = array
        self.header["arrays"][name].update(dtype=array.dtype.str, shape=list(array.shape))

    def body(self, *, seal: bool) -> bytes:
        """Return all arrays in order; the header gets their places and, if `seal`, correct checksums."""
        body = b""
        for name, array in self.arrays.items():
            entry = self.header["arrays"][name]
            entry["position"] = _align(len(body))
            body += bytes(entry["position"] - len(body)) + np.ascontiguousarray(array).tobytes()
            if seal:
                entry["digest"] = checksum(array)
        self.header["size"] = len(body)
        return body


def container(header: bytes, body: bytes) -> bytes:
    """Return an array file with a header and its correct checksum."""
    start = MAGIC + len(header).to_bytes(8, "little") + header + xxhash.xxh3_128_digest(header)
    return start + bytes(-len(start) % ALIGNMENT) + body


def _align(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT


def reseal_header(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the header of an array file, and correct its checksum."""
    parts = Parts(path.read_bytes())
    body = parts.body(seal=False)
    change(parts.header)
    path.write_bytes(container(json.dumps(parts.header).encode(), body))


def reseal_array(path: Path, name: str, change: Callable[[Any], object]) -> None:
    """Change an array of an array file, and correct its checksum."""
    parts = Parts(path.read_bytes())
    change(parts.arrays[name])
    body = parts.body(seal=True)
    path.write_bytes(container(json.dumps(parts.header).encode(), body))
