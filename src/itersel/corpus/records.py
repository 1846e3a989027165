"""Pairs of sentences in tables, records with named fields and message catalogues; blocks of such pairs."""

from __future__ import annotations

import csv
import json
import re
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from itersel.corpus.corpora import CONTEXT, CSV, JSON_LINES, MO, PARQUET, PO, TSV, Corpus, Fields, Reading
from itersel.corpus.labels import checked_labels
from itersel.corpus.languages import usual_code
from itersel.corpus.text import Bitext, check_text, clean_text
from itersel.errors import InputError
from itersel.storage.files import compression_of, line_blocks, read_bytes, without_compression

_MAX_PAIRS = 10_000
# Characters of a block, so that a few blocks of long lines do not fill the memory.
_MAX_CHARACTERS = 2**20
# A line of a catalogue that is not a comment.
_LINE = re.compile(r'(?:msg[a-z_]+(?:\[[0-9]+\])?\s*)?"(?:[^"\\]|\\.)*"')
# The label of a message without a context.
NO_CONTEXT = "none"


class Pair(NamedTuple):
    """A pair of sentences: its texts, its line if that is known, and its label."""

    source: str
    target: str
    line: int | None
    label: str | None = None


def pair_blocks(pairs: Iterable[Pair], path: str, reading: Reading) -> Iterator[Bitext]:
    """Yield pairs in blocks, of a bounded number of pairs and of characters."""
    for block in _blocks_of(pairs):
        source, target, lines, labels = map(list, zip(*block, strict=True))

        for side in (source, target):
            for text, line in zip(side, lines, strict=True):
                # encoding takes long, and a character has at most four bytes
                if 4 * len(text) > reading.limit and len(text.encode()) > reading.limit:
                    message = f"is longer than {reading.limit:,} bytes{reading.advice}"
                    raise InputError(message, path, line)
            if reading.dropped is None:
                check_text(side, path, lines, reading.tokenized)

        yield Bitext(source, target, None if labels[0] is None else checked_labels(labels, path, lines))


def _blocks_of(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    block: list[Pair] = []
    size = 0
    for pair in pairs:
        block.append(pair)
        size += len(pair.source) + len(pair.target)
        if len(block) == _MAX_PAIRS or size >= _MAX_CHARACTERS:
            yield block
            block = []
            size = 0
    if block:
        yield block


def tsv_pairs(path: str, corpus: Corpus, reading: Reading) -> Iterator[Pair]:
    """Read TSV: a pair per line, fields separated by tabs; quotes have no special meaning."""
    columns = corpus.columns
    number = 0
    source = columns.source - 1
    target = columns.target - 1
    label = (columns.label or 0) - 1
    last = max(source, target, label)

    for number, line in enumerate(_lines(path, reading), 1):
        row = line.split("\t")
        if len(row) <= last:
            name, column = next(item for item in vars(columns).items() if item[1] and item[1] > len(row))
            count = "1 column" if len(row) == 1 else f"{len(row)} columns"
            message = f"has {count}, separated by tabs, but the {name} is column {column}"
            raise InputError(message, path, number)
        yield Pair(row[source], row[target], number, None if label < 0 else row[label])

    if not number:
        raise InputError("is empty; expected one sentence pair per line", path)


def _lines(path: str, reading: Reading, factor: int = 1) -> Iterator[str]:
    return chain.from_iterable(line_blocks(path, factor * reading.limit, reading.advice))


def csv_pairs(path: str, corpus: Corpus, reading: Reading) -> Iterator[Pair]:
    """Read CSV, with a header if the corpus names fields; line breaks within quotes become spaces."""
    csv.field_size_limit(max(csv.field_size_limit(), 2 * reading.limit))
    rows = csv.reader((f"{line}\n" for line in _lines(path, reading)), strict=True)

    columns = corpus.columns
    places = [columns.source, columns.target, columns.label]
    found = 0

    try:
        if corpus.fields != Fields():
            header = next(rows, [])
            places = [_place(name, header, path) for name in (*corpus.fields.texts, corpus.fields.label)]

        for row in filter(None, rows):
            found += 1
            texts = [None if place is None else _cell(row, place, path, rows.line_num) for place in places]
            yield Pair(clean_text(texts[0] or ""), clean_text(texts[1] or ""), rows.line_num, texts[2])
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", path, rows.line_num) from None

    if not found:
        raise InputError("has no records", path)


def _place(name: str | None, header: list[str], path: str) -> int | None:
    if name is None:
        return None
    if name not in header:
        raise InputError(f"has no column '{name}'; its header is {', '.join(header) or 'empty'}", path, 1)
    return header.index(name) + 1


def _cell(row: list[str], place: int, path: str, line: int) -> str:
    if len(row) < place:
        raise InputError(f"has {len(row)} columns, separated by commas; column {place} is needed", path, line)
    return row[place - 1]


def json_pairs(path: str, corpus: Corpus, reading: Reading) -> Iterator[Pair]:
    """Read JSON lines: an object on each line. ``a.b`` is field b of the object in field a."""
    number = 0
    # an object contains both sides, and perhaps other fields
    for number, line in enumerate(_lines(path, reading, 16), 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"not JSON: {error}", path, number) from None
            yield _pair(record, corpus.fields, path, number)
    if not number:
        raise InputError("is empty; expected one object per line", path)


def parquet_pairs(path: str, corpus: Corpus, reading: Reading) -> Iterator[Pair]:
    """Read the columns of a Parquet file that the corpus names."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise InputError("Parquet needs a package: pip install 'itersel[parquet]'", path) from None

    if compression_of(path):
        raise InputError("is compressed as a whole; Parquet is compressed within, so unpack it", path)

    fields = corpus.fields
    wanted = [name for name in (*fields.texts, fields.label) if name is not None]

    try:
        with parquet.ParquetFile(path) as file:
            there = file.schema_arrow.names
            names = sorted({name.partition(".")[0] for name in wanted} & set(there))
            if not names:
                raise InputError(f"has no field '{wanted[0]}'; its fields are {', '.join(there)}", path)

            for batch in file.iter_batches(columns=names):
                for record in batch.to_pylist():
                    yield _pair(record, fields, path, None)
    except (OSError, ArrowException) as error:
        raise InputError(f"cannot be read as Parquet: {error}", path) from None


def _pair(record: Any, fields: Fields, path: str, line: int | None) -> Pair:
    source, target = (clean_text(_field(record, name, path, line)) for name in fields.texts)
    label = None if fields.label is None else _field(record, fields.label, path, line)
    return Pair(source, target, line, label)


def _field(record: Any, name: str, path: str, line: int | None) -> str:
    value = record
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None

    if not isinstance(value, str):
        there = ", ".join(map(str, record)) if isinstance(record, Mapping) else "none"
        raise InputError(f"has no text in field '{name}'; its fields are {there}", path, line)

    _check_characters(value, name, path, line)
    return value


def _check_characters(value: str, name: str, path: str, line: int | None) -> None:
    """Reject text that cannot be written as UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        message = f"field '{name}' has half of a surrogate pair, which is not a character"
        raise InputError(message, path, line) from None


def catalogue_pairs(path: str, corpus: Corpus, reading: Reading) -> Iterator[Pair]:
    """Read the translated messages of a catalogue; its header names the language of the translations.

    Untranslated, fuzzy and obsolete messages and those with plural forms are left out.
    """
    catalogue = _catalogue(path)
    language = catalogue.metadata.get("Language", "").partition("@")[0].partition(".")[0]
    sides = [matches(language, code) for code in (reading.source_language, reading.target_language)]
    if not language or sum(sides) != 1:
        languages = f"{reading.source_language} or {reading.target_language}"
        what = f"is '{language}', not {languages}" if language else f"is missing; give {languages}"
        raise InputError(f"the language in the header of the catalogue {what}", path)

    found = False
    for entry in catalogue.translated_entries():
        if entry.msgid_plural or not entry.msgid or not entry.msgstr:
            continue

        texts = clean_text(entry.msgid), clean_text(entry.msgstr)
        source, target = texts[::-1] if sides[0] else texts
        has_label = corpus.fields.label == CONTEXT
        label = re.sub(r"[\s=,{}]+", "_", entry.msgctxt or NO_CONTEXT) if has_label else None
        found = True
        yield Pair(source, target, getattr(entry, "linenum", None), label)

    if not found:
        raise InputError("has no translated messages", path)


def matches(code: str, language: str) -> bool:
    """Return whether the code in a file matches a language: ``en`` matches ``en-us``, ``en-gb`` does not."""
    code, language = usual_code(code), usual_code(language)
    return f"{code}-".startswith(f"{language}-") or f"{language}-".startswith(f"{code}-")


def _catalogue(path: str) -> Any:
    """Read a catalogue, which polib does from files only."""
    import polib

    name = without_compression(path).lower()
    content = read_bytes(path)

    if name.endswith(".po"):
        try:
            text = content.decode(polib.detect_encoding(content.decode("latin-1")))
        except (ValueError, LookupError) as error:
            raise InputError(f"is not in the encoding of its header: {error}", path) from None
        # polib would take a line whose quotation marks are not closed
        for number, line in enumerate(map(str.strip, text.removeprefix("\ufeff").split("\n")), 1):
            if line and not line.startswith("#") and not _LINE.fullmatch(line):
                raise InputError("is not a line of a message catalogue, or truncated", path, number)

    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        try:
            return polib.mofile(file.name) if name.endswith(".mo") else polib.pofile(file.name)
        except (OSError, ValueError, LookupError, struct.error) as error:
            line_number = re.search(r"\(line ([0-9]+)\)", str(error))
            message = "is not a message catalogue, or damaged"
            raise InputError(message, path, int(line_number[1]) if line_number else None) from None


# By the suffix of a file's name.
READERS = {
    TSV: tsv_pairs,
    CSV: csv_pairs,
    JSON_LINES: json_pairs,
    PARQUET: parquet_pairs,
    PO: catalogue_pairs,
    MO: catalogue_pairs,
}
