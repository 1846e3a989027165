"""Lists of another decoder in the place of a decoder: their k best translations under given weights.

A shard of lists (HDF5) has, for each sentence, all translations with their words and features, and the
references. Learners and tuners use `ListShard` and `ListDecoder` like `itersel.grammar.shard.Shard` and
`itersel.decode.decoder.Decoder`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import xxhash

import itersel
from itersel.bleu.references import References, ShardReferences, grouped_references, join_references
from itersel.config.search import Search
from itersel.corpus.text import split_words
from itersel.corpus.text_names import reference_columns
from itersel.corpus.vocabulary import Side, WordNumbers, number_words
from itersel.decode.decoder import Decoder, DerivationFinder, KBest, WeightVectors
from itersel.errors import FilePath, InputError
from itersel.grammar.shard import FeatureRows, Shard, read_shard
from itersel.lm.binary import load_model
from itersel.nbest.lists import DENSE_NAMES, NBest, read_nbest, read_numbers, without_duplicates
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt64s
from itersel.storage.declared import DeclaredFolder
from itersel.storage.files import read_lines
from itersel.storage.formats import Array, FileFormat, damaged, damaged_file, numbers, offsets, strings
from itersel.storage.hdf5 import read_arrays, write_arrays
from itersel.storage.strings import (
    StringTable,
    arrays_of,
    fields_of,
    offsets_of,
    places_of,
    string_table,
    sum_rows,
    take_rows,
)
from itersel.vectors.features import feature_keys, unique_features
from itersel.vectors.weights import Weights, find_named, find_weights

# Sizes: N sentences, M references, H translations, V words, C dense features, F sparse features.
FORMAT = FileFormat(
    "shard of lists",
    1,
    "itersel step lists",
    {
        "id": Array("<i8", ("N",), least=0),
        "sentence_offset": offsets("N", "H", shuffled=True),
        **strings("vocabulary", "V", "words", shuffled=True),
        "word": Array("<i4", ("words",), least=0, below="V", shuffled=True),
        "word_offset": offsets("H", "words", shuffled=True),
        **strings("text", "H", "texts", is_extra=True),
        "reference": Array("<i4", ("reference words",), least=0, below="V"),
        "reference_offset": offsets("M", "reference words", shuffled=True),
        "sentence_reference_offset": offsets("N", "M", is_extra=True),
        "quality": Array("<f8", ("H",), least=0, most=1, is_extra=True),
        "dense": numbers("<f8", "H", "C"),
        "feature": Array("<i4", ("sparse values",), least=0, below="F", shuffled=True),
        "feature_value": numbers("<f8", "sparse values"),
        "feature_offset": offsets("H", "sparse values", shuffled=True),
        "feature_key": Array("<u8", ("F",), rising=True),
        **strings("feature_name", "F", "features"),
    },
    packed=True,
)


@dataclass(frozen=True)
class ListShard:
    """Sentences with their lists; the arrays are those of `FORMAT`, see docs/formats.md.

    `feature` has no rows if only dense features were read; `quality` has none if learners use sentence BLEU.
    """

    id: Int64s
    sentence_offset: Int64s
    vocabulary: StringTable
    word: Int32s
    word_offset: Int64s
    text: StringTable
    reference: Int32s
    reference_offset: Int64s
    sentence_reference_offset: Int64s
    quality: Float64s
    dense: Float64s
    feature: Int32s
    feature_value: Float64s
    feature_offset: Int64s
    feature_key: UInt64s
    feature_name: StringTable
    dense_names: tuple[str, ...]

    @property
    def sentence_count(self) -> int:
        """Number of sentences."""
        return int(self.id.shape[0])

    @property
    def has_references(self) -> bool:
        """Whether the shard can be trained on."""
        return bool(self.reference.shape[0] or self.quality.shape[0])

    def references(self, sentence: int) -> References:
        """Return the references of a sentence; an empty one if there are none."""
        texts = ShardReferences(self.reference, self.reference_offset, self.sentence_reference_offset)
        return texts.of_sentence(sentence)

    def features_of(self, begin: int, end: int) -> FeatureRows:
        """Return the translations of some sentences, and the sparse features of all."""
        rows = np.arange(*self.sentence_offset[[begin, end]], dtype=np.int32)
        return rows, self.feature, self.feature_offset

    def digest(self) -> str:
        """Return a checksum of sentence numbers and references."""
        words = self.vocabulary.to_list()
        hasher = xxhash.xxh3_128(self.id.tobytes())
        hasher.update("\n".join(words[i] for i in self.reference).encode())
        hasher.update(self.reference_offset.tobytes() + self.sentence_reference_offset.tobytes())
        return hasher.hexdigest()

    def text_of(self, row: int) -> str:
        """Return a translation as it stands in the lists."""
        if self.text.count:
            return self.text.get(row)
        return " ".join(map(self.vocabulary.get, self.word[slice(*self.word_offset[row : row + 2])].tolist()))


class ListDecoder:
    """Finds the k best translations of a sentence in its list; ties keep the order of the list."""

    def __init__(self, shard: ListShard) -> None:
        self._shard, self.dense_names = shard, shard.dense_names

    def weight_vectors(self, weights: Weights) -> WeightVectors:
        """Return `weights` as dense (C) and sparse (F) float64 vectors of this shard."""
        dense = find_named(weights, self.dense_names)
        return WeightVectors(dense, find_weights(weights, self._shard.feature_key))

    def ranked(self, sentence: int, weights: WeightVectors) -> tuple[Int64s, Float64s]:
        """Return the translations of a sentence, best first, and their scores, int64 and float64 (k)."""
        shard = self._shard
        rows = np.arange(*shard.sentence_offset[sentence : sentence + 2])
        score = np.zeros(rows.shape[0])
        # not a matrix product, whose order of additions depends on the processor
        for column, weight in zip(shard.dense[rows].T, weights.dense, strict=True):
            score += column * weight
        place, offset = places_of(shard.feature_offset, rows)
        weighted = weights.sparse[shard.feature[place]] * shard.feature_value[place]
        score += sum_rows(weighted, offset)
        order = np.argsort(-score, kind="stable")
        return rows[order], score[order]

    def decode(
        self, sentence: int, weights: WeightVectors, k: int = 100, finder: DerivationFinder | None = None
    ) -> KBest:
        """Return the k best translations of a sentence; see `itersel.decode.decoder.Decoder.decode`."""
        if finder is not None:
            raise InputError("lists have no forest to search for hope and fear; use candidates: k-best")
        shard = self._shard
        rows, score = self.ranked(sentence, weights)
        rows = rows[:k]
        feature, feature_offset = take_rows(shard.feature, shard.feature_offset, rows)
        return KBest(
            *take_rows(shard.word, shard.word_offset, rows),
            score[:k],
            shard.dense[rows],
            feature,
            take_rows(shard.feature_value, shard.feature_offset, rows)[0],
            feature_offset,
            shard.quality[rows] if shard.quality.shape[0] else shard.quality,
        )


# What learners and tuners read, and how they translate it.
Sentences: TypeAlias = Shard | ListShard
SentenceDecoder: TypeAlias = Decoder | ListDecoder


def best_texts(shard: ListShard, weights: Weights) -> Iterator[str]:
    """Yield the best translation of each sentence, as it stands in the lists."""
    decoder = ListDecoder(shard)
    vectors = decoder.weight_vectors(weights)
    for sentence in range(shard.sentence_count):
        yield shard.text_of(int(decoder.ranked(sentence, vectors)[0][0]))


def import_lists(
    folder: FilePath, number: int, words: Callable[[Sequence[str]], Sequence[str]] = list
) -> ListShard:
    """Make a shard of the lists that `itersel.nbest.sharding.shard_lists` has written to a folder.

    `words` tokenises lines for BLEU; by default, words are separated by spaces. The numbers of the sentences
    are those in the whole text.
    """
    cut = DeclaredFolder(folder)
    ids = np.array(_read_ids(cut.checked(f"{number}.ids")), np.int64)
    read = read_nbest([cut.checked(f"{number}.lists.gz")], ids=ids)
    texts: list[list[str]] = []
    while cut.has(reference := f"{number}.{reference_columns(len(texts) + 1)[-1]}.gz"):
        texts.append(read_lines(cut.checked(reference)))
        if len(texts[-1]) != read.sentence_count:
            why = f"has {len(texts[-1])} lines for {read.sentence_count} sentences"
            raise InputError(why, cut.path / reference)
    lists = without_duplicates(read)
    quality, scores = f"{number}.quality.gz", np.zeros(0)
    if cut.has(quality):
        scores = np.array(read_numbers(cut.checked(quality), len(read.text)))[lists.row]
    dense_names = read_lines(cut.checked(DENSE_NAMES))
    vocabulary = WordNumbers()

    def numbered(lines: Sequence[str]) -> Side:
        return number_words([split_words(line) for line in words(lines)], vocabulary)

    word, word_offset = numbered(lists.text)
    joined = join_references([numbered(lines) for lines in texts or [[""] * lists.sentence_count]])
    return ListShard(
        ids,
        lists.offset,
        string_table(vocabulary),
        word,
        word_offset,
        string_table(() if words is list else lists.text),
        joined.word,
        joined.offset,
        joined.sentence_offset,
        scores,
        *_split_features(lists, dense_names),
        tuple(dense_names),
    )


def _split_features(
    lists: NBest, dense_names: Sequence[str]
) -> tuple[Float64s, Int32s, Float64s, Int64s, UInt64s, StringTable]:
    """Return the fields of a `ListShard` from `dense` to `feature_name`; all other features are sparse."""
    is_dense = np.isin(feature_keys(lists.name), feature_keys(string_table(dense_names)))
    sparse = np.flatnonzero(~is_dense)
    names = lists.name.take(sparse)
    keys = feature_keys(names)
    key, name = unique_features(keys, names)
    row_of = np.zeros(lists.name.count, np.int32)
    row_of[sparse] = np.searchsorted(key, keys)
    column = {one: place for place, one in enumerate(dense_names)}
    for place in np.flatnonzero(is_dense).tolist():
        row_of[place] = column[lists.name.get(place)]
    dense, of_dense = np.zeros((len(lists.text), len(dense_names))), is_dense[lists.feature]
    dense[lists.translation[of_dense], row_of[lists.feature[of_dense]]] = lists.value[of_dense]
    translation, feature = lists.translation[~of_dense], row_of[lists.feature[~of_dense]]
    order = np.lexsort((feature, translation))
    offset = offsets_of(np.bincount(translation, minlength=len(lists.text)))
    return dense, feature[order], lists.value[~of_dense][order], offset, key, name


def _read_ids(path: FilePath) -> list[int]:
    found = []
    for number, line in enumerate(read_lines(path), 1):
        if not re.fullmatch("[0-9]{1,9}", line):
            raise InputError(f"'{line[:40]}' is not the number of a sentence", path, number)
        found.append(int(line))
    return found


def write_list_shard(path: FilePath, shard: ListShard) -> None:
    """Write a shard of lists, whole or not at all."""
    arrays = arrays_of(shard)
    if not shard.text.count:
        # no rows: there are no texts
        arrays["text_offset"] = shard.text.offset[:0]
    attributes = {"dense_names": json.dumps(shard.dense_names), "version": itersel.__version__}
    write_arrays(path, FORMAT, arrays, attributes)


def read_list_shard(path: FilePath, features: str = "all", has_text: bool = False) -> ListShard:
    """Read a shard of lists, without sparse features if `features` is ``dense``.

    `has_text`: whether to read the texts, which learners do not need.
    """
    left_out = ["text"] * (not has_text) + ["feature"] * (features == "dense")
    names = [name for name in FORMAT.arrays if name.partition("_")[0] not in left_out]
    arrays, attributes = read_arrays(path, FORMAT, names)
    translations = arrays["word_offset"].shape[0] - 1
    for name, declared in FORMAT.arrays.items():
        arrays.setdefault(name, np.zeros(0, declared.dtype))
    if features == "dense":
        arrays["feature_offset"] = np.zeros(translations + 1, np.int64)
    sentences = arrays["id"].shape[0]
    if (np.diff(arrays["sentence_offset"]) == 0).any():
        raise damaged(path, "sentence_offset", "leaves a sentence without translations")
    references, offset = arrays["reference_offset"].shape[0] - 1, arrays["sentence_reference_offset"]
    grouped_references(references, offset, sentences, path)
    is_ascending = np.diff(arrays["feature"]) > 0
    begins = arrays["feature_offset"][1:-1]
    is_ascending[begins[(begins > 0) & (begins < arrays["feature"].shape[0])] - 1] = True
    if not is_ascending.all():
        raise damaged(path, "feature", "does not rise within a translation")
    values = fields_of(ListShard, arrays)
    return ListShard(**values, dense_names=_dense_names(attributes, arrays["dense"].shape[1], path))


# Consecutive files often have the same model.
_load_model = lru_cache(maxsize=1)(load_model)


def open_sentences(
    path: str, model: str | None, search: Search, threads: int = 1
) -> tuple[Sentences, list[SentenceDecoder]]:
    """Read a shard, and make a decoder for each thread; without a language model, it is a shard of lists."""
    if model is None:
        lists = read_list_shard(path, search.features)
        return lists, [ListDecoder(lists)]
    shard, loaded = read_shard(path, search.templates, search.features), _load_model(model)
    return shard, [Decoder(shard, loaded, search) for _ in range(threads)]


def count_listed(path: FilePath) -> int:
    """Return the number of sentences of a shard of lists without reading the lists."""
    return int(read_arrays(path, FORMAT, ("id",))[0]["id"].shape[0])


def _dense_names(attributes: Mapping[str, Any], columns: int, path: FilePath) -> tuple[str, ...]:
    try:
        names = tuple(map(str, json.loads(attributes["dense_names"])))
    except (KeyError, TypeError, ValueError, RecursionError):
        names = ()
    if len(set(names)) != columns or len(names) != columns:
        raise damaged_file(path, f"'dense_names' must hold {columns} different names")
    return names
