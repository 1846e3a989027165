"""What the fields of a dataclass contain: the one module that takes their annotations apart.

The fields are keys of configs and settings (`itersel.keys`), or are written to records
(`itersel.storage.json_files`).
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any


@dataclass(frozen=True)
class Scalar:
    """A single value: a text, a number, or true or false; in records, also a tuple with named fields."""

    kind: Any


@dataclass(frozen=True)
class Section:
    """A dataclass."""

    kind: Any


@dataclass(frozen=True)
class OneOf:
    """A dataclass that is one of several by name, the forms of a section.

    `base` is what Python may state: a class that packages and users derive others from, or several.
    """

    forms: Mapping[str, type]
    base: Any


@dataclass(frozen=True)
class ListOf:
    """A tuple of any length, whose entries are alike."""

    entry: FieldType


@dataclass(frozen=True)
class ByName:
    """A dictionary from names to values that are alike."""

    entry: FieldType


@dataclass(frozen=True)
class FieldType:
    """What a field contains, and whether it may be None instead."""

    content: Scalar | Section | OneOf | ListOf | ByName
    is_optional: bool = False


@functools.cache
def field_types(kind: type) -> Mapping[str, FieldType]:
    """Return what the fields of a dataclass, or of a tuple with named fields, contain.

    Annotations do not say which forms a section can have: `itersel.keys.types_of` does.
    """
    return {name: _field_type(annotation) for name, annotation in annotations_of(kind).items()}


@functools.cache
def annotations_of(kind: type) -> Mapping[str, Any]:
    """Return the annotations of the fields of a dataclass as types."""
    return typing.get_type_hints(kind)


def _field_type(annotation: Any) -> FieldType:
    members = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    first, *_ = (member for member in members if member is not types.NoneType)
    return FieldType(_content(first), types.NoneType in members)


def _content(annotation: Any) -> Scalar | Section | ListOf | ByName:
    if is_dataclass(annotation):
        return Section(annotation)
    if typing.get_origin(annotation) is tuple:
        return ListOf(_field_type(typing.get_args(annotation)[0]))
    if typing.get_origin(annotation) is dict:
        return ByName(_field_type(typing.get_args(annotation)[1]))
    return Scalar(annotation)
