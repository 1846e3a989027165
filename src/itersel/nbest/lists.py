"""n-best lists as Moses, Marian, cdec and Joshua write them, or as JSON lines.

A line is a translation::

    0 ||| the text ||| LM= -3.1 TM= -1 -2.5 word_x=1 ||| -4.7 ||| anything else
    {"id": 0, "text": "the text", "features": {"LM": -3.1}, "score": -4.7}

Sentences are numbered from 0. ``Name=`` is followed by one or more values (features ``Name``, or ``Name_0``,
``Name_1``, ...), ``name=value`` is a single one; values without any name are ``F_0``, ``F_1``, ... A feature
that a line does not have is 0. Score and further fields are optional, and so are ``features`` and ``score``
in JSON. A translation without features, as from neural decoders, gets its score as the feature ``score``.
"""

from __future__ import annotations

import json
import math
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from itersel.corpus.text import FIELD_SEPARATOR, find_control, split_words
from itersel.corpus.vocabulary import WordNumbers
from itersel.errors import InputError
from itersel.storage.arrays import Float64s, Int32s, Int64s
from itersel.storage.files import line_blocks, read_lines
from itersel.storage.formats import MAX_MAGNITUDE, FilePath
from itersel.storage.numbers import parse_number
from itersel.storage.strings import StringTable, offsets_of, string_table, take_rows

UNNAMED, SCORE = "F", "score"
# File with the names of the dense features, the same for all shards.
DENSE_NAMES = "dense.txt"
MAX_SENTENCES = 100_000_000
# Sums of the same values in a different order differ only after these decimal places.
HASH_DIGITS = 6


class NBest(NamedTuple):
    """Translations of all sentences, by sentence; within a sentence, in the order of the files.

    Shapes: N sentences, H translations, F features.
    """

    offset: Int64s  # (N + 1): where the translations of each sentence begin
    text: list[str]  # their words, as in the files (H)
    # int32, float64, int64 (H + 1): features of each translation, ascending, each once
    feature: Int32s
    value: Float64s
    feature_offset: Int64s
    name: StringTable  # names of the features (F), in order of first occurrence
    sizes: Mapping[str, int]  # number of values of each name that ended in ``=``
    line: list[str]  # the lines of the files (H)
    row: Int64s  # (H): position of each translation in the files, one after the other

    @property
    def sentence_count(self) -> int:
        """Number of sentences."""
        return int(self.offset.shape[0]) - 1

    @property
    def sentence(self) -> Int64s:
        """The sentence of each translation, int64 (H)."""
        return np.repeat(np.arange(self.sentence_count), np.diff(self.offset))

    @property
    def translation(self) -> Int64s:
        """The translation of each value, int64."""
        return np.repeat(np.arange(len(self.text)), np.diff(self.feature_offset))


def read_nbest(
    paths: Sequence[FilePath],
    sentences: int | None = None,
    scores: Mapping[str, FilePath] | None = None,
    ids: Int64s | None = None,
) -> NBest:
    """Read n-best lists, such as those of several iterations, and merge them by sentence.

    By default, the lists say how many `sentences` there are, with the numbers (`ids`) 0, 1, 2, ... `scores`
    are further features: files with a number for each translation, in the order of the lists.
    """
    if isinstance(paths, str) or not paths:
        raise InputError("the names of one or more n-best lists were expected")
    parser = Parser()
    for path in paths:
        for number, line in translation_lines(path):
            parser.add(line, path, number)
    return parser.result(os.fspath(paths[0]), sentences, scores or {}, ids)


def without_duplicates(lists: NBest) -> NBest:
    """Keep only the first of a sentence's translations that have the same words and features."""
    value = np.round(lists.value, HASH_DIGITS) + 0.0  # turns -0.0 into 0.0
    seen, kept = set[tuple[int, str, bytes, bytes]](), []
    for row, (sentence, text) in enumerate(zip(lists.sentence.tolist(), lists.text, strict=True)):
        features = slice(*lists.feature_offset[row : row + 2].tolist())
        one = (sentence, text, lists.feature[features].tobytes(), value[features].tobytes())
        if one not in seen:
            seen.add(one)
            kept.append(row)
    rows = np.array(kept, np.int64)
    feature, offset = take_rows(lists.feature, lists.feature_offset, rows)
    return lists._replace(
        offset=offsets_of(np.bincount(lists.sentence[rows], minlength=lists.sentence_count)),
        text=[lists.text[row] for row in kept],
        feature=feature,
        value=take_rows(lists.value, lists.feature_offset, rows)[0],
        feature_offset=offset,
        line=[lists.line[row] for row in kept],
        row=lists.row[rows],
    )


def translation_lines(path: FilePath) -> Iterator[tuple[int, str]]:
    """Return the lines of a list that are not empty, with their numbers from 1."""
    lines = enumerate(chain.from_iterable(line_blocks(path, is_kept=True)), 1)
    return ((number, line) for number, line in lines if line and not line.isspace())


class Parser:
    """Collects translations in the order of the files."""

    def __init__(self) -> None:
        self._numbers = WordNumbers()
        # number of values of each name that ended in ``=``
        self.sizes: dict[str, int] = {}
        self.clear()

    def clear(self) -> None:
        """Forget the translations, but not the features."""
        self._sentence, self._text, self._line = array("q"), list[str](), list[str]()
        self._feature, self._value, self._count = array("i"), array("d"), array("q")

    @property
    def names(self) -> list[str]:
        """Names of the features, in order of first occurrence."""
        return list(self._numbers)

    def add(self, line: str, path: FilePath, number: int) -> int:
        """Read a line of a file, and return the number of its sentence."""
        try:
            return self._read_line(line)
        except ValueError as error:
            raise InputError(str(error), path, number) from None

    def _read_line(self, line: str) -> int:
        sentence, text, values = _parse_json(line) if line.startswith("{") else _parse_fields(line)
        if found := find_control(text):
            raise ValueError(found)
        if not 0 <= sentence < MAX_SENTENCES:
            raise ValueError(f"the sentence number {sentence} is not between 0 and {MAX_SENTENCES:,}")
        features: dict[str, float] = {}
        for name, value in values:
            pairs: Iterable[tuple[str, float]]
            if isinstance(value, list):
                if self.sizes.setdefault(name, len(value)) != len(value):
                    raise ValueError(f"'{name}' has {len(value)} values here, but {self.sizes[name]} before")
                pairs = zip(value_names(name, len(value)), value, strict=True)
            else:
                pairs = [(name, value)]
            for one, number in pairs:
                if not abs(number) <= MAX_MAGNITUDE:  # NaN too
                    why = f"it must be finite, up to {MAX_MAGNITUDE:g}"
                    raise ValueError(f"the value of '{one}' is {number}; {why}")
                if one not in self._numbers and (found := find_control(one)):
                    raise ValueError(found)
                if one in features:
                    raise ValueError(f"the feature '{one}' is given twice")
                features[one] = number
        self._feature.extend(self._numbers[name] for name in features)
        self._value.extend(features.values())
        self._count.append(len(features))
        self._sentence.append(sentence)
        self._text.append(text)
        self._line.append(line)
        return sentence

    def columns(self, scores: Mapping[str, FilePath]) -> list[list[float]]:
        """Read further features of all translations, and number their names."""
        found = []
        for name, path in scores.items():
            if name in self._numbers or name in self.sizes:
                raise InputError(f"the lists already have a feature '{name}'; give it another name", path)
            if split_words(name) != [name] or find_control(name):
                raise InputError(f"{name!r} cannot be the name of a feature", path)
            found.append(read_numbers(path, len(self._text)))
            self._numbers[name] = len(self._numbers)
        return found

    def result(
        self, path: str, sentences: int | None, scores: Mapping[str, FilePath], ids: Int64s | None = None
    ) -> NBest:
        """Return the translations by sentence; see `read_nbest`."""
        sentence = np.frombuffer(self._sentence, np.int64)
        if ids is None:
            check_present(np.unique(sentence), sentences, path)
        else:
            sentence = _places(sentence, ids, path)
        columns, lines = self.columns(scores), np.arange(len(self._text))
        added = np.arange(len(self._numbers) - len(columns), len(self._numbers), dtype=np.int32)
        feature = np.append(self._feature, np.repeat(added, lines.shape[0]))
        value = np.append(self._value, np.ravel(columns))
        line = np.append(np.repeat(lines, self._count), np.tile(lines, len(columns)))
        row = np.argsort(sentence, kind="stable")
        place = np.empty_like(row)
        place[row] = lines
        order = np.lexsort((feature, place[line]))
        return NBest(
            offsets_of(np.bincount(sentence)),
            [self._text[i] for i in row],
            feature[order],
            value[order],
            offsets_of(np.bincount(place[line], minlength=lines.shape[0])),
            string_table(self._numbers),
            self.sizes,
            [self._line[i] for i in row],
            row,
        )


def check_present(present: Int64s, sentences: int | None, path: FilePath) -> int:
    """Return the number of sentences, given those with translations (ascending, each once).

    Raises an InputError if one is missing, or beyond the number of `sentences`, if that is known.
    """
    if not present.shape[0]:
        raise InputError("contains no translations", path)
    count = int(present[-1]) + 1
    if sentences is not None and count > sentences:
        raise InputError(
            f"has translations of sentence {count - 1}, but the number of references is {sentences}, "
            "and sentences are numbered from 0",
            path,
        )
    total = sentences or count
    if present.shape[0] < total:
        missing = np.searchsorted(present - np.arange(present.shape[0]), 1)
        raise InputError(f"has no translation of sentence {missing} (of 0 to {total - 1})", path)
    return total


def _places(sentence: Int64s, ids: Int64s, path: FilePath) -> Int64s:
    """Return the positions of sentences in `ids`, which must be the sentences of the lists, each once."""
    order = np.argsort(ids, kind="stable")
    if not np.array_equal(np.unique(sentence), ids[order]):
        raise InputError("has translations of other sentences than the shard", path)
    return order[np.searchsorted(ids[order], sentence)]


# What a line says: the sentence, the text, and each feature with its value, or the values after ``name=``.
_Values = list[tuple[str, float | list[float]]]
_Parsed = tuple[int, str, _Values]


def _parse_fields(line: str) -> _Parsed:
    """Parse a line with fields; raises a ValueError with a message for the user."""
    fields = line.split(FIELD_SEPARATOR)
    if len(fields) < 3:
        raise ValueError("expected 'number ||| text ||| features ||| score', or a JSON object")
    number = fields[0].strip()
    if not (number.isascii() and number.isdigit()):
        raise ValueError(f"'{number}' is not a sentence number; sentences are numbered from 0")
    values = _parse_features(split_words(fields[2]))
    if not values and fields[3:]:
        values.append((SCORE, parse_number(fields[3].strip())))
    return int(number[:20]), " ".join(split_words(fields[1])), values


def _parse_features(words: Sequence[str]) -> _Values:
    found: _Values = []
    values: list[float] | None = None
    for word in words:
        name, equals, number = word.rpartition("=")
        if not equals:
            if values is None:
                found.append((UNNAMED, values := []))
            values.append(parse_number(word))
        elif number:
            found.append((name, parse_number(number)))
        else:
            found.append((name, values := []))
        if not name and equals:
            raise ValueError(f"'{word}' is not a feature, 'name=value' or 'name= value'")
    for name, value in found:
        if value == []:
            raise ValueError(f"the feature '{name}' has no value")
    return found


def value_names(name: str, count: int) -> list[str]:
    """Return the names of the features whose values follow ``name=``."""
    return [name] if count == 1 else [f"{name}_{number}" for number in range(count)]


def _parse_json(line: str) -> _Parsed:
    """Parse a line of JSON; see `_parse_fields`."""
    content = parse_object(line)
    sentence, text, features = (content.get(name) for name in ("id", "text", "features"))
    if type(sentence) is not int:
        raise ValueError("'id' is missing, or not a sentence number; sentences are numbered from 0")
    if not isinstance(text, str):
        raise ValueError("'text' is missing, or not a string")
    if not isinstance(features, dict | None):
        raise ValueError("'features' is not an object of names and numbers")
    if not features and content.get("score") is not None:
        features = {SCORE: content["score"]}
    return sentence, " ".join(split_words(text)), list(named_numbers(features or {}))


def parse_object(text: str) -> dict[str, Any]:
    """Parse a JSON object; a ValueError with a message for the user if it is not one, or repeats a key."""
    try:
        content = json.loads(text, object_pairs_hook=_unique, parse_int=_parse_int)
        if "\\u" in text:  # half of a surrogate pair could not be written
            json.dumps(content, ensure_ascii=False).encode()
    except (json.JSONDecodeError, UnicodeEncodeError, RecursionError):
        raise ValueError("is not JSON") from None
    if not isinstance(content, dict):
        raise ValueError("is not a JSON object")
    return content


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"'{name}' is given twice")
        found[name] = value
    return found


def _parse_int(digits: str) -> int | float:
    """Parse a whole number; one too large for floating point becomes infinite."""
    return int(digits) if len(digits) < 300 else float(digits)


def named_numbers(values: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the features of a JSON object; a ValueError if there is anything but names and numbers."""
    for name, value in values.items():
        if type(value) not in (int, float):
            raise ValueError(f"the value of '{name}' is not a number")
        if split_words(name) != [name]:
            raise ValueError(f"the feature name {name!r} is empty or contains white space")
        yield name, float(value)


def read_numbers(path: FilePath, count: int) -> list[float]:
    """Read one number for each translation, each on its own line."""
    lines = read_lines(path)
    if len(lines) != count:
        raise InputError(f"has {len(lines)} lines for {count} translations; give a number for each", path)
    values = []
    for number, line in enumerate(lines, 1):
        try:
            value = parse_number(line.strip())
        except ValueError:
            value = math.nan
        if not abs(value) <= MAX_MAGNITUDE:
            raise InputError(f"'{line.strip()[:40]}' is not a finite number", path, number)
        values.append(value)
    return values


def read_quality(path: FilePath, count: int) -> Float64s:
    """Read `count` numbers, scaled so that the lowest is 0 and the highest is 1: float64 (count)."""
    quality = np.array(read_numbers(path, count))
    least, most = quality.min(), quality.max()
    if least == most:
        raise InputError("all numbers are equal; there is nothing to tune for", path)
    return np.asarray((quality - least) / (most - least), np.float64)
