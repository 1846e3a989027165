"""JSON files: read with limits, so any content is safe to parse, and records in them.

There are two ways to write a dataclass. Settings, which people write, too, have declared keys with defaults
and bounds: `itersel.config.plain` writes them, and `itersel.config.sections` reads them. Records are written
only by itersel: `as_content` writes every field, and `from_content` reports any mistake as damage. Settings
are part of a record if the file is used with the settings that it was made with, as a trained system is: a
key that is missing there must not get a default, because the default may have changed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypeVar

from itersel.code.field_types import ByName, FieldType, ListOf, Scalar, Section, field_types
from itersel.errors import FilePath
from itersel.storage.files import read_bytes, write_lines
from itersel.storage.numbers import MAX_INTEGER

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Parsed JSON takes about 25 times the size of its text in memory.
MAX_JSON_BYTES = 2**26
# Text of records is shown on a line of a terminal, and is part of file names.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

Record = TypeVar("Record")


def read_json(path: FilePath) -> Any:
    """Return the content of a JSON file; a ValueError if it is not JSON, or nested too deeply for Python."""
    return parse_json(read_bytes(path, MAX_JSON_BYTES))


def write_json(path: FilePath, content: object, indent: int, is_ascii: bool = True) -> None:
    """Write JSON to a file."""
    write_lines(path, [json.dumps(content, indent=indent, ensure_ascii=is_ascii)])


def parse_json(content: bytes) -> Any:
    """Return the content of a JSON text; a ValueError if it is none, too large, or nested too deeply."""
    if len(content) > MAX_JSON_BYTES:
        raise ValueError("too large")
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def check_counts(content: Mapping[str, object], least: int = 1) -> None:
    """Raise an error of Python unless this is an object of whole numbers within bounds."""
    if not all(type(count) is int and least <= count <= MAX_INTEGER for count in content.values()):
        raise ValueError


def check_numbers(values: Iterable[object]) -> None:
    """Raise an error of Python unless all values are numbers."""
    if not all(isinstance(value, int | float) for value in values):
        raise TypeError


def check_texts(values: Iterable[object]) -> None:
    """Raise an error of Python unless all values are texts."""
    if not all(isinstance(value, str) for value in values):
        raise TypeError


def as_content(record: DataclassInstance) -> dict[str, Any]:
    """Return a dataclass of strings, numbers, tuples, dictionaries and dataclasses as the content of JSON."""
    return asdict(record)


def record_text(record: DataclassInstance) -> str:
    """Return a record as one line of JSON; whatever the order of its dictionaries, it is the same."""
    return json.dumps(as_content(record), ensure_ascii=False, sort_keys=True)


def from_content(kind: type[Record], content: object) -> Record:
    """Return the dataclass of parsed JSON that `as_content` made.

    Unknown keys, perhaps of a newer version, are ignored. If a field is missing or has the wrong type, or a
    number is not finite, it is a ValueError.
    """
    if not isinstance(content, dict):
        raise ValueError("not an object")
    kinds = field_types(kind)  # type: ignore[arg-type]
    values = {}
    for item in fields(kind):  # type: ignore[arg-type]
        if item.name not in content:
            raise ValueError(f"no '{item.name}'")
        values[item.name] = _value(kinds[item.name], content[item.name])
    return kind(**values)


def _value(kind: FieldType, value: object) -> Any:
    if value is None and kind.is_optional:
        return None

    match kind.content:
        case Section(record):
            return from_content(record, value)
        case ListOf(entry):
            return tuple(_value(entry, one) for one in _list(value))
        case ByName(entry):
            if not isinstance(value, dict):
                raise ValueError("not an object")
            return {name: _value(entry, one) for name, one in value.items()}
        case Scalar(scalar):
            return _scalar(scalar, value)
        case unknown:
            raise TypeError(f"records cannot contain {unknown}")


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("not a list")
    return value


def _scalar(kind: Any, value: object) -> Any:
    if kind is Any:
        return value

    if hasattr(kind, "_fields"):
        # a NamedTuple, of which JSON has only the values
        kinds = field_types(kind)
        return kind(*(_value(kinds[name], one) for name, one in zip(kind._fields, _list(value), strict=True)))

    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{value!r} is not of type {kind.__name__}")
    if isinstance(value, str) and _CONTROL.search(value):
        raise ValueError(f"{value!r} contains control characters")
    return value
