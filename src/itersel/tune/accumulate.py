"""The k-best lists of all shards and iterations, merged sentence by sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from operator import attrgetter
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.bleu.references import grouped_references
from itersel.bleu.score_kernels import ORDER, Statistics, best_bleu, closest_lengths
from itersel.errors import InputError, checked
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt64s
from itersel.storage.formats import FileFormat, FilePath, damaged_file
from itersel.storage.hdf5 import header_of, read_arrays
from itersel.storage.strings import StringTable, concatenate, offsets_of, places_of, string_table, sum_rows
from itersel.tune.generate import FORMAT
from itersel.vectors.features import unique_features
from itersel.vectors.weights import Weights, find_weights

# Arrays that define sizes must be read together with those that use them.
REFERENCE_ARRAYS = ("reference_length", "sentence_reference_offset")
SPARSE_ARRAYS = tuple(name for name in FORMAT.arrays if name.startswith("feature"))
DENSE_ARRAYS = tuple(name for name in FORMAT.arrays if name not in SPARSE_ARRAYS)
NO_SENTENCES = "contains no sentences, and neither does any other file; there is nothing to tune on"


class ListFile(NamedTuple):
    """A file of lists and its attributes; see `itersel.tune.generate`."""

    path: FilePath
    shard: int
    iteration: int
    settings: str
    sentences: str
    dense_names: tuple[str, ...]


class Pool(NamedTuple):
    """Translations of all sentences, by shard, sentence, iteration and rank, without duplicates.

    Shapes: N sentences, H translations, C dense features.
    """

    sentence_offset: Int64s  # (N + 1): the translations of each sentence
    # int64 and float64 (N): length of the longest reference, and mean length of references, in words
    longest_reference: Int64s
    mean_reference: Float64s
    statistics: Statistics  # for BLEU
    dense: Float64s  # (H, C)
    origin: Int64s  # (H): row in the concatenation of all files, by shard and iteration
    # float64 (H): what to tune for, higher is better; no rows: corpus BLEU
    quality: Float64s = np.zeros(0)

    @property
    def sentence_count(self) -> int:
        """Number of sentences."""
        return int(self.sentence_offset.shape[0]) - 1

    def best(self, score: Float64s) -> float:
        """Return corpus BLEU, 0 to 1, or the mean quality of the translations with the highest scores (H)."""
        if not self.quality.shape[0]:
            return float(best_bleu(score, self.sentence_offset, self.statistics))
        begin = self.sentence_offset[:-1]
        highest = np.repeat(np.maximum.reduceat(score, begin), np.diff(self.sentence_offset))
        rows = np.flatnonzero(score == highest)
        # its sum is exact: the same on all processors
        return fmean(self.quality[rows[np.searchsorted(rows, begin)]].tolist())


def name_of(paths: Sequence[FilePath]) -> str:
    """Return a short name of one or more files."""
    return os.fspath(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


class SparseRows(NamedTuple):
    """Sparse features of translations."""

    # int32, float64, int64 (rows + 1)
    feature: Int32s
    value: Float64s
    offset: Int64s
    # features of all files: uint64 (F), ascending, and the names
    key: UInt64s
    name: StringTable


def find_files(
    paths: Sequence[FilePath], shards: int, iterations: range, format: FileFormat = FORMAT
) -> list[ListFile]:
    """Read the headers of files in any order, and return them by shard and iteration.

    There must be one file for each shard, from 0, and each of the iterations, with the same settings.
    """
    place = attrgetter("shard", "iteration")
    files = sorted((_read_file(path, format) for path in paths), key=place)
    wanted, found = set(product(range(shards), iterations)), list(map(place, files))
    for missing in sorted(wanted.difference(found)):
        raise InputError(
            f"no file for shard {missing[0]}, iteration {missing[1]} among {len(files)} files; "
            f"{shards} shards and {len(iterations)} iterations need {len(wanted)}"
        )
    for number, file in enumerate(files):
        if found[number] not in wanted:
            raise InputError(
                f"is from shard {file.shard}, iteration {file.iteration}; expected shards 0 to {shards - 1}, "
                f"iterations {iterations[0]} to {iterations[-1]}",
                file.path,
            )
        if number and found[number] == found[number - 1]:
            other = os.fspath(files[number - 1].path)
            raise InputError(f"is from the same shard and iteration as {other}; give only one", file.path)
    for file in files:
        first = files[file.shard * len(iterations)]  # of the shard
        for name, like in (("settings", files[0]), ("dense_names", files[0]), ("sentences", first)):
            if getattr(file, name) != getattr(like, name):
                what = f"{os.fspath(like.path)} in its {name.replace('_', ' ')}"
                raise InputError(f"differs from {what}; recreate one of them", file.path)
    return files


def _read_file(path: FilePath, format: FileFormat) -> ListFile:
    attributes = header_of(path, format).attributes
    with checked(path, "damaged: the attributes are incomplete; recreate the file"):
        names = tuple(str(name) for name in json.loads(attributes["dense_names"]))
        shard, iteration = int(attributes["shard"]), int(attributes["iteration"])
        return ListFile(path, shard, iteration, attributes["settings"], attributes["sentences"], names)


def check_matches(statistics: Statistics, path: FilePath) -> None:
    """Raise an InputError if BLEU is 0 whichever translations are chosen."""
    for n in range(ORDER):
        if not statistics.matches[:, n].any():
            raise InputError(
                f"BLEU is 0 for all weights: no translation in any list has a {n + 1}-gram of its reference; "
                f"use better weights, larger lists, or references of more than {n} words",
                path,
            )


def _merge_shard(files: Sequence[ListFile], base: int) -> tuple[dict[str, NDArray[Any]], int]:
    """Return the arrays of a shard, with `origin` counted from `base`, and the total rows in its files."""
    read = [_read_lists(file) for file in files]
    for file, arrays in zip(files, read, strict=True):
        if any(not np.array_equal(arrays[name], read[0][name]) for name in REFERENCE_ARRAYS):
            raise InputError("damaged: the sentences do not match their digest; recreate it", file.path)
    lengths, reference_offset = (read[0][name].astype(np.int64) for name in REFERENCE_ARRAYS)
    sentences = read[0]["sentence_offset"].shape[0] - 1
    sentence = np.concatenate(
        [np.repeat(np.arange(sentences), np.diff(arrays["sentence_offset"])) for arrays in read]
    )
    hashes = np.concatenate([arrays["hash"] for arrays in read])
    # the last key is the primary one; equal rows stay in order of iteration and rank
    order = np.lexsort((hashes[:, 1], hashes[:, 0], sentence))
    fresh = np.ones(order.shape[0], bool)
    fresh[1:] = (hashes[order[1:]] != hashes[order[:-1]]).any(axis=1) | (np.diff(sentence[order]) != 0)
    kept = np.sort(order[fresh])
    kept = kept[np.argsort(sentence[kept], kind="stable")]
    part = {
        "sentence_offset": offsets_of(np.bincount(sentence[kept], minlength=sentences)),
        "longest_reference": np.maximum.reduceat(lengths, reference_offset[:-1]),
        "mean_reference": np.add.reduceat(lengths, reference_offset[:-1]) / np.diff(reference_offset),
        "origin": kept + base,
    }
    for name in ("matches", "length", "dense"):
        part[name] = np.concatenate([arrays.pop(name) for arrays in read])[kept]
    length, closest = part["length"].astype(np.int64), [np.zeros(0, np.int64)]
    of_sentences = zip(pairwise(reference_offset), pairwise(part["sentence_offset"]), strict=True)
    for references, translations in of_sentences:
        closest.append(closest_lengths(lengths[slice(*references)], length[slice(*translations)]))
    part["reference_length"] = np.concatenate(closest).astype(np.int32)
    return part, sentence.shape[0]


def _read_lists(file: ListFile) -> dict[str, NDArray[Any]]:
    arrays, _ = read_arrays(file.path, FORMAT, DENSE_ARRAYS)
    if (np.diff(arrays["sentence_offset"]) == 0).any():
        raise damaged_file(file.path, "a sentence has no translations")
    sentences = arrays["sentence_offset"].shape[0] - 1
    name = "sentence_reference_offset"
    arrays[name] = grouped_references(arrays["reference_length"].shape[0], arrays[name], sentences, file.path)
    if arrays["dense"].shape[1] != len(file.dense_names):
        raise damaged_file(file.path, "'dense_names' does not name the dense features")
    ngrams = np.maximum(0, arrays["length"][:, None] - np.arange(ORDER))
    if (arrays["matches"] > ngrams).any():
        raise damaged_file(file.path, "more matches than n-grams")
    return arrays


class FileLists(NamedTuple):
    """Lists in files, as returned by `find_files`."""

    files: Sequence[ListFile]

    @property
    def name(self) -> str:
        """A short name of all files."""
        return name_of([file.path for file in self.files])

    @property
    def dense_names(self) -> Sequence[str]:
        """Names of the dense features, which are the same in all files."""
        return self.files[0].dense_names

    def pool(self) -> Pool:
        """Return the merged lists; of translations with the same words and features, the first is kept."""
        parts: list[dict[str, NDArray[Any]]] = []
        base = 0
        for shard in sorted({file.shard for file in self.files}):
            part, rows = _merge_shard([file for file in self.files if file.shard == shard], base)
            parts.append(part)
            base += rows
        counts = np.concatenate([np.diff(part["sentence_offset"]) for part in parts])
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        joined["sentence_offset"] = offsets_of(counts)
        statistics = Statistics(*(joined.pop(name) for name in Statistics._fields))
        pool = Pool(statistics=statistics, **joined)
        if pool.sentence_count == 0:
            raise InputError(NO_SENTENCES, self.files[0].path)
        check_matches(pool.statistics, self.files[0].path)
        return pool

    def has_sparse_features(self) -> bool:
        """Return whether any translation has a sparse feature."""
        name = "feature_key"
        return any(read_arrays(file.path, FORMAT, (name,))[0][name].size for file in self.files)

    def sparse(self, origin: Int64s) -> SparseRows:
        """Return the sparse features of translations in any order, by their `Pool.origin`, int64 (rows)."""
        key, name = np.zeros(0, np.uint64), string_table([])
        counts = np.zeros(origin.shape[0], np.int64)
        parts = []
        for arrays, wanted, rows in self._sparse_parts(origin):
            place, offset = places_of(arrays["feature_offset"], rows)
            used, number = np.unique(arrays["feature"][place], return_inverse=True)
            names = StringTable(arrays["feature_name"], arrays["feature_name_offset"]).take(used)
            keys = arrays["feature_key"][used]
            key, name = unique_features(np.concatenate((key, keys)), concatenate((name, names)))
            counts[wanted] = np.diff(offset)
            parts.append((wanted, keys[number], arrays["feature_value"][place]))
        # in the order of the rows; features are positions in `key`
        offset = offsets_of(counts)
        feature, value = np.empty(offset[-1], np.int32), np.empty(offset[-1])
        for wanted, keys, values in parts:
            place, _ = places_of(offset, wanted)
            feature[place] = np.searchsorted(key, keys)
            value[place] = values
        return SparseRows(feature, value, offset, key, name)

    def sparse_scores(self, origin: Int64s, weights: Weights) -> Float64s:
        """Return the scores of their sparse features, float64 (rows); those without a weight count 0."""
        scores = np.zeros(origin.shape[0])
        for arrays, wanted, rows in self._sparse_parts(origin):
            place, offset = places_of(arrays["feature_offset"], rows)
            weight = find_weights(weights, arrays["feature_key"])[arrays["feature"][place]]
            scores[wanted] = sum_rows(weight * arrays["feature_value"][place], offset)
        return scores

    def _sparse_parts(self, origin: Int64s) -> Iterator[tuple[dict[str, NDArray[Any]], Int64s, Int64s]]:
        """Yield the arrays of each file, which elements of `origin` are in it, and their rows there."""
        base = 0
        for file in self.files:
            arrays, _ = read_arrays(file.path, FORMAT, SPARSE_ARRAYS)
            rows = arrays["feature_offset"].shape[0] - 1
            wanted = np.flatnonzero((origin >= base) & (origin < base + rows))
            yield arrays, wanted, origin[wanted] - base
            base += rows
