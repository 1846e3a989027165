"""Parallel text as CSV, JSON lines and Parquet: a pair in each record, its texts in named fields."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from itersel.corpus.corpora import Corpus, Fields, Reading
from itersel.corpus.pairs import Pair, pair_blocks
from itersel.corpus.text import Bitext, clean_text
from itersel.errors import InputError
from itersel.storage.compression import compression_of
from itersel.storage.files import line_blocks


def csv_blocks(path: str, corpus: Corpus, reading: Reading) -> Iterator[Bitext]:
    """Read a CSV file, with a header if the corpus names fields, otherwise by numbers of columns.

    Fields may contain commas and line breaks within quotation marks; a line break becomes a space.

    Raises
    ------
    InputError
        See `pair_blocks`; also if a record lacks a column, or the header a field.
    """
    return pair_blocks(_csv_pairs(path, corpus, reading), path, reading)


def _csv_pairs(path: str, corpus: Corpus, reading: Reading) -> Iterator[Pair]:
    lines = chain.from_iterable(line_blocks(path, reading.limit, reading.advice))
    csv.field_size_limit(max(csv.field_size_limit(), 2 * reading.limit))
    rows = csv.reader((f"{line}\n" for line in lines), strict=True)
    columns = corpus.columns
    places = [columns.source, columns.target, columns.task]
    found = 0
    try:
        if corpus.fields != Fields():
            header = next(rows, [])
            places = [_place(name, header, path) for name in (*corpus.fields.texts, corpus.fields.task)]
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


def json_blocks(path: str, corpus: Corpus, reading: Reading) -> Iterator[Bitext]:
    """Read JSON lines: an object on each line. ``a.b`` is field b of the object in field a.

    Raises
    ------
    InputError
        See `pair_blocks`; also if a line is not an object, or lacks a field.
    """
    return pair_blocks(_json_pairs(path, corpus.fields, reading), path, reading)


def _json_pairs(path: str, fields: Fields, reading: Reading) -> Iterator[Pair]:
    number = 0
    # an object holds both sides, and perhaps other fields
    for lines in line_blocks(path, 16 * reading.limit, reading.advice):
        for line in lines:
            number += 1
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"not JSON: {error}", path, number) from None
            yield _pair(record, fields, path, number)
    if not number:
        raise InputError("is empty; an object a line was expected", path)


def parquet_blocks(path: str, corpus: Corpus, reading: Reading) -> Iterator[Bitext]:
    """Read the columns of a Parquet file that the corpus names.

    Raises
    ------
    InputError
        See `pair_blocks`; also if pyarrow is missing, the file is damaged, or it lacks a field.
    """
    return pair_blocks(_parquet_pairs(path, corpus.fields), path, reading)


def _parquet_pairs(path: str, fields: Fields) -> Iterator[Pair]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise InputError("Parquet needs a package: pip install 'itersel[parquet]'", path) from None
    if compression_of(path):
        raise InputError("is compressed as a whole; Parquet is compressed within, so unpack it", path)
    wanted = [name for name in (*fields.texts, fields.task) if name is not None]
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
    task = None if fields.task is None else _field(record, fields.task, path, line)
    return Pair(source, target, line, task)


def _field(record: Any, name: str, path: str, line: int | None) -> str:
    found = record
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    if not isinstance(found, str):
        there = ", ".join(map(str, record)) if isinstance(record, Mapping) else "none"
        raise InputError(f"has no text in field '{name}'; its fields are {there}", path, line)
    try:
        found.encode()
    except UnicodeEncodeError:
        message = f"field '{name}' has half of a surrogate pair, which is no character"
        raise InputError(message, path, line) from None
    return found
