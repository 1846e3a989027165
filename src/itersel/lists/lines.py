"""The lines of n-best lists: as Moses, Marian, cdec and Joshua write them, or JSON.

A line is a translation::

    0 ||| the text ||| LM= -3.1 TM= -1 -2.5 word_x=1 ||| -4.7 ||| anything else
    {"id": 0, "text": "the text", "features": {"LM": -3.1}, "score": -4.7}

Sentences are numbered from 0. ``Name=`` is followed by one or more values (features ``Name``, or ``Name_0``,
``Name_1``, ...), ``name=value`` is a single one; values without any name are ``F_0``, ``F_1``, ... A feature
that a line does not have is 0. Score and further fields are optional, and so are ``features`` and ``score``
in JSON. A translation without features, as from neural decoders, gets its score as the feature ``score``.

Features with names are found in whichever field has them: Travatar writes the score before them, and Marian
alignments and scores of words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from itersel.corpus.text import FIELD_SEPARATOR, find_control, split_words
from itersel.corpus.vocabulary import WordNumbers
from itersel.errors import FilePath, InputError
from itersel.lists.features import ListFeatures, value_names
from itersel.lists.folders import find_lists
from itersel.run.progress import count_up
from itersel.storage.arrays import Int64s
from itersel.storage.files import line_blocks
from itersel.storage.formats import MAX_MAGNITUDE, magnitude_fault
from itersel.storage.numbers import parse_number

UNNAMED_FEATURE, SCORE_FEATURE = "F", "score"
# Number of the field with the features, from 0.
FEATURES = 2
# Begins a field that Marian writes, which contains no features.
WORD_SCORES = "WordScores="
MAX_SENTENCES = 100_000_000
_NAMED = re.compile(r"\S=")

# A line: its file, its number there, and its text.
Line = tuple[str, int, str]


class ListBlock(NamedTuple):
    """Adjacent sentences, and the lines of their lists in the order of the files."""

    ids: Int64s  # numbers of the sentences
    lines: list[Line]


def listed_translations(paths: Sequence[FilePath]) -> Iterator[Line]:
    """Yield the lines of lists; there must be a file."""
    if isinstance(paths, str) or not paths:
        raise InputError("the names of one or more n-best lists were expected")

    files = find_lists(paths)
    if not files:
        raise InputError("is a folder without files; n-best lists were expected", paths[0])
    for path in files:
        for number, line in translation_lines(path):
            yield path, number, line


def translation_lines(path: FilePath) -> Iterator[tuple[int, str]]:
    """Return the lines of a list that are not empty, with their numbers from 1."""
    lines = enumerate(chain.from_iterable(line_blocks(path, is_kept=True)), 1)
    return ((number, line) for number, line in lines if line and not line.isspace())


class ParsedLine(NamedTuple):
    """A parsed line."""

    line: str
    sentence: int
    text: str
    features: dict[str, float]
    score: float | None  # the decoder's, if the line has one


class LineParser:
    """Parses the lines of lists, in which a name always has the same number of values."""

    def __init__(self) -> None:
        # names of the features, numbered in order of first occurrence
        self.feature_ids = WordNumbers()
        # see `ListFeatures`
        self._sizes: dict[str, int] = {}

    @property
    def features(self) -> ListFeatures:
        """The features in the lines so far."""
        return ListFeatures(list(self.feature_ids), dict(self._sizes))

    def translations(self, lines: Iterable[Line]) -> Iterator[ParsedLine]:
        """Yield the translations in lines; errors name the file and the number of the line."""
        for path, number, line in count_up(lines, "translations read", lambda _: 1):
            try:
                found = self._parse(line)
            except ValueError as error:
                raise InputError(str(error), path, number) from None
            yield found

    def _parse(self, line: str) -> ParsedLine:
        fields = _parse_json(line) if line.startswith("{") else _parse_fields(split_fields(line))

        if found := find_control(fields.text):
            raise ValueError(found)
        if not 0 <= fields.sentence < MAX_SENTENCES:
            raise ValueError(f"the sentence number {fields.sentence} is not between 0 and {MAX_SENTENCES:,}")

        features: dict[str, float] = {}
        for name, value in fields.values:
            for one, number in self._named(name, value):
                if not abs(number) <= MAX_MAGNITUDE:  # NaN too
                    raise ValueError(f"the value of '{one}' is {number:g}, {magnitude_fault(number)}")
                if one not in self.feature_ids and (found := find_control(one)):
                    raise ValueError(found)
                if one in features:
                    raise ValueError(f"the feature '{one}' is given twice")
                features[one] = number

        for name in features:
            self.feature_ids.add(name)
        return ParsedLine(line, fields.sentence, fields.text, features, fields.score)

    def _named(self, name: str, value: float | list[float]) -> Iterable[tuple[str, float]]:
        """Return the features of a name, which have one value each."""
        if not isinstance(value, list):
            return [(name, value)]
        if self._sizes.setdefault(name, len(value)) != len(value):
            raise ValueError(f"'{name}' has {len(value)} values here, but {self._sizes[name]} before")
        return zip(value_names(name, len(value)), value, strict=True)


def check_present(present: Int64s, sentence_count: int | None, path: FilePath) -> int:
    """Return the number of sentences, given those with translations (ascending, each once).

    Raises an InputError if one is missing, or beyond `sentence_count`, if that is known.
    """
    if not present.shape[0]:
        raise InputError("contains no translations", path)

    count = int(present[-1]) + 1
    if sentence_count is not None and count > sentence_count:
        raise InputError(
            f"has translations of sentence {count - 1}, but the number of references is {sentence_count}, "
            "and sentences are numbered from 0",
            path,
        )

    total = sentence_count or count
    if present.shape[0] < total:
        missing = np.searchsorted(present - np.arange(present.shape[0]), 1)
        raise InputError(f"has no translation of sentence {missing} (of 0 to {total - 1})", path)
    return total


# Each name of features with its value, or with the values after ``name=``.
_Values = list[tuple[str, float | list[float]]]


class _Fields(NamedTuple):
    """What is written in a line, of any format."""

    sentence: int
    text: str
    values: _Values
    score: float | None


def split_fields(line: str) -> list[str]:
    """Return the fields of a line; raises a ValueError with a message for the user if there are too few."""
    fields = line.split(FIELD_SEPARATOR)
    if len(fields) < 3:
        raise ValueError("expected 'number ||| text ||| features ||| score', or a JSON object")
    return fields


def features_field(fields: Sequence[str]) -> int:
    """Return the field of a line, counted from 0, in which its features are.

    This depends on nothing but the line, so features are the same whichever lines are read together.
    """
    if _has_names(fields[FEATURES]):
        return FEATURES
    words = split_words(fields[FEATURES])
    next_field = FEATURES + 1

    if not words or _is_number(words[0]):
        # Features without names, or no features, are followed by a score. Nothing or a single number, before
        # features or scores of words, is an alignment, or Travatar's score; so is a number before nothing.
        follows = "0"
        if len(words) < 2 and len(fields) > next_field:
            follows = fields[next_field]

        if _has_names(follows) or (words and not follows.strip()):
            return next_field
        if not _has_word_scores(follows):
            return FEATURES

    # an alignment or scores of words, as Marian writes them
    further = range(next_field, len(fields))
    return next((field for field in further if _has_names(fields[field])), FEATURES)


def _has_names(field: str) -> bool:
    """Return whether a field has features with names."""
    return _NAMED.search(field) is not None and not _has_word_scores(field)


def _has_word_scores(field: str) -> bool:
    return field.lstrip().startswith(WORD_SCORES)


def _is_number(word: str) -> bool:
    try:
        parse_number(word)
    except ValueError:
        return False
    return True


def score_field(fields: Sequence[str], features: int) -> int:
    """Return the field with the score: after those of the features or, if nothing follows them, before."""
    after = features + 1
    if features == FEATURES or after < len(fields):
        return after

    return features - 1


def _parse_fields(fields: Sequence[str]) -> _Fields:
    """Parse a line; raises a ValueError with a message for the user."""
    number = fields[0].strip()
    if not (number.isascii() and number.isdigit()):
        raise ValueError(f"'{number}' is not a sentence number; sentences are numbered from 0")

    features = features_field(fields)
    for field in (features, features + 1):
        if field < len(fields) and _has_word_scores(fields[field]):
            raise ValueError(f"has scores of words in field {field + 1}, but no features after them")

    try:
        values = _parse_features(split_words(fields[features]))
    except ValueError as error:
        raise ValueError(f"{error}; features are expected in field {features + 1}") from None

    field = score_field(fields, features)
    given = fields[field].strip() if field < len(fields) else ""
    if not values and field < len(fields):
        try:
            values.append((SCORE_FEATURE, parse_number(given)))
        except ValueError as error:
            raise ValueError(f"{error}; a score is expected in field {field + 1}") from None

    return _Fields(int(number[:20]), " ".join(split_words(fields[1])), values, _score(given))


def _score(given: str) -> float | None:
    """Return the score in a field; None if it is anything else, which is allowed if there are features."""
    try:
        score = parse_number(given)
    except ValueError:
        return None
    return score if abs(score) <= MAX_MAGNITUDE else None


def _parse_features(words: Sequence[str]) -> _Values:
    found: _Values = []
    # of the last `name=`, or those without a name before it
    values: list[float] | None = None
    for word in words:
        name, equals, number = word.rpartition("=")

        if not equals:
            if values is None:
                values = []
                found.append((UNNAMED_FEATURE, values))
            values.append(parse_number(word))
        elif number:
            found.append((name, parse_number(number)))
        else:
            values = []
            found.append((name, values))

        if equals and not name:
            raise ValueError(f"'{word}' is not a feature, 'name=value' or 'name= value'")

    for name, value in found:
        if value == []:
            raise ValueError(f"the feature '{name}' has no value")

    return found


def _parse_json(line: str) -> _Fields:
    """Parse a line of JSON; raises a ValueError with a message for the user."""
    content = parse_object(line)

    sentence = content.get("id")
    if type(sentence) is not int:
        raise ValueError("'id' is missing, or not a sentence number; sentences are numbered from 0")

    text = content.get("text")
    if not isinstance(text, str):
        raise ValueError("'text' is missing, or not a string")

    features = content.get("features")
    if not isinstance(features, dict | None):
        raise ValueError("'features' is not an object of names and numbers")

    score = content.get("score")
    if not features and score is not None:
        features = {SCORE_FEATURE: score}
    values: _Values = list(named_numbers(features or {}))

    given = repr(score) if type(score) in (int, float) else ""
    return _Fields(sentence, " ".join(split_words(text)), values, _score(given))


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
