"""Weights files of many shards, read a range of keys at a time.

The positions of the arrays are looked up with HDF5 once per file (`itersel.vectors.shard_weights`). After
that, arrays are read directly: reopening thousands of HDF5 files would take longer than reading them, and
keeping them open would need more file descriptors than a process has.

Each file is eventually read in full, so its checksums are computed along the way: nothing is read twice.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.run.progress import progress
from itersel.select.merge_kernels import Entries
from itersel.storage.arrays import Int64s, UInt8s
from itersel.storage.formats import Digest, check_digests, check_strings, damaged
from itersel.vectors.feature_kernels import hash_names
from itersel.vectors.shard_weights import DAMAGED, ShardWeightsFile
from itersel.vectors.weights import FORMAT, KEY, NAME, NAME_OFFSET, VALUE

# Entries read at a time, of all shards and of each: 4 million take about 550 MB, with all that is computed
# from them. Smaller ranges are faster, because new memory is slow, until opening the file of each shard takes
# longer than reading from it.
RANGE_ENTRIES, SHARD_ENTRIES = 1 << 22, 1 << 14


class ShardReader:
    """Reads the entries of all shards in ranges of keys, ascending."""

    def __init__(self, shards: Sequence[ShardWeightsFile]) -> None:
        self._shards = shards
        range_entries = min(RANGE_ENTRIES, SHARD_ENTRIES * len(shards))
        self._ranges = max(1, sum(shard.weights for shard in shards) // range_entries)
        # equal parts of the 64-bit range, because keys are hashes
        self._low = np.array([i * 2**64 // self._ranges for i in range(self._ranges)], np.uint64)
        self._row = np.empty((len(shards), self._ranges + 1), np.int64)

        # of the arrays that are read in parts: all but the keys
        self._digests = [{name: Digest() for name in (VALUE, NAME_OFFSET, NAME)} for _ in shards]
        for z, shard in enumerate(shards):
            self._row[z] = self._range_rows(shard)

        # Reused for every range: new memory from the operating system takes as long as everything else.
        self.largest_range = int(np.diff(self._row).sum(axis=0).max())
        self._key = np.empty(self.largest_range, np.uint64)
        self._value = np.empty(self.largest_range)
        self._check = np.empty(self.largest_range, np.uint64)
        self._offset = np.zeros(self.largest_range + 1, np.int64)
        # a tenth more than the mean of a range, so that it is hardly ever enlarged
        self._name = np.empty(sum(shard.name_length for shard in shards) * 11 // self._ranges // 10, np.uint8)

    def read(self) -> Iterator[tuple[np.uint64, np.uint64, Entries]]:
        """Yield the lowest and highest key of each range, and its entries, which overwrite the previous ones.

        Damage that only the checksums show is an InputError with the last range.
        """
        for i in progress(range(self._ranges), "mix"):
            last = i == self._ranges - 1
            high = np.uint64(2**64 - 1) if last else self._low[i + 1] - np.uint64(1)
            entries = self._read_entries(self._row[:, i], self._row[:, i + 1])
            if last:
                self._check_digests()
            yield self._low[i], high, entries

    def _range_rows(self, shard: ShardWeightsFile) -> Int64s:
        """Return the row of a shard at which each range begins, and finally the number of rows."""
        key = np.empty(shard.weights, np.uint64)
        with open(shard.path, "rb", buffering=0) as stream:
            _read(stream, key, shard, KEY)
        check_digests({KEY: key}, shard.digest, shard.path)
        if not (key[1:] > key[:-1]).all():
            raise InputError(DAMAGED, shard.path)
        return np.append(np.searchsorted(key, self._low), shard.weights)

    def _read_entries(self, begin: Int64s, end: Int64s) -> Entries:
        """Read the rows ``begin[z]:end[z]`` of every shard."""
        place = np.concatenate(([0], np.cumsum(end - begin)))
        self._offset[0] = 0
        names = 0

        for z in np.flatnonzero(end > begin).tolist():
            shard = self._shards[z]
            first = int(begin[z])
            rows = slice(place[z], place[z + 1])
            with open(shard.path, "rb", buffering=0) as stream:
                _read(stream, self._key[rows], shard, KEY, 8 * first)
                _read(stream, self._value[rows], shard, VALUE, 8 * first)
                # One more than there are names: the end of the last, which is where the next shard's begin.
                ends = self._offset[place[z] : place[z + 1] + 1]
                _read(stream, ends, shard, NAME_OFFSET, 8 * first)
                name_first, name_end = int(ends[0]), int(ends[-1])
                if not 0 <= name_first <= name_end <= shard.name_length:
                    raise InputError(DAMAGED, shard.path)
                name = self._name_space(names, name_end - name_first)
                _read(stream, name, shard, NAME, name_first)

            for array, part in ((VALUE, self._value[rows]), (NAME_OFFSET, ends[:-1]), (NAME, name)):
                self._digests[z][array].add(part)

            ends -= name_first
            if not hash_names(name, ends, self._check[rows]):
                raise damaged(shard.path, NAME_OFFSET, "does not rise")
            check_strings(NAME, name, ends, shard.path)
            ends += names
            names += name.shape[0]

        total = place[-1]
        return Entries(
            place,
            self._key[:total],
            self._check[:total],
            self._value[:total],
            self._name[:names],
            self._offset[: total + 1],
        )

    def _check_digests(self) -> None:
        for shard, digests in zip(self._shards, self._digests, strict=True):
            digests[NAME_OFFSET].add(np.array([shard.name_length], np.int64))
            for name, digest in digests.items():
                if shard.digest[name] != digest.result(np.empty(0, FORMAT.arrays[name].dtype)):
                    raise damaged(shard.path, name, "does not match its checksum")

    def _name_space(self, begin: int, size: int) -> UInt8s:
        """Return space for `size` bytes of names after the first `begin` bytes."""
        if begin + size > self._name.shape[0]:
            larger = np.empty(2 * (begin + size), np.uint8)
            larger[:begin] = self._name[:begin]
            self._name = larger
        return self._name[begin : begin + size]


def _read(stream: io.FileIO, array: NDArray[Any], shard: ShardWeightsFile, name: str, begin: int = 0) -> None:
    """Fill an array with the bytes from `begin` on of an array of a file."""
    if array.nbytes == 0:
        return
    stream.seek(shard.position[name] + begin)
    view = array.data.cast("B")
    done = 0
    while done < array.nbytes:  # Linux reads at most 2 GiB at a time
        count = stream.readinto(view[done:])
        if not count:
            raise InputError(DAMAGED, shard.path)
        done += count
