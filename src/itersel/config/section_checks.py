"""Check the values of a section, whatever made it: a config, options of a command, or Python code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from itersel.code.field_types import ByName, FieldType, ListOf, OneOf, Scalar, Section
from itersel.config.allowed_values import allowed_instead
from itersel.config.messages import join, listed_twice
from itersel.errors import InputError
from itersel.keys import Declaration, declared, types_of


def check_section(values: Any) -> None:
    """Raise an InputError for a wrong value in a section."""
    section: Any = type(values)
    for item in fields(section):
        declaration = declared(item)
        if declaration.is_of_key:
            _check_value(item.name, getattr(values, item.name), declaration, types_of(section)[item.name])


def _check_value(name: str, value: Any, declaration: Declaration, kind: FieldType) -> None:
    if value is None and kind.is_optional:
        return

    match kind.content:
        case OneOf(forms, base):
            # no tuner is a form of its own, without this base
            if not isinstance(value, base) and type(value) not in forms.values():
                raise _wrong(name, value, f"an object such as {next(iter(forms.values())).__name__}()")
        case Section(section):
            if not isinstance(value, section):
                raise _wrong(name, value, f"an object such as {section.__name__}()")
        case ByName(entry):
            _check_named(name, value, declaration, entry)
        case ListOf(entry):
            _check_several(name, value, declaration, entry)
        case Scalar(scalar):
            instead = allowed_instead(declaration, scalar, value)
            if instead is not None:
                raise _wrong(name, value, instead)


def _check_named(name: str, values: Any, declaration: Declaration, entry: FieldType) -> None:
    names = declaration.names
    if not isinstance(values, Mapping) or len(values) < names.least:
        raise _wrong(name, values, f"a dictionary with {names.content}")

    for key, value in values.items():
        place = join(name, key)
        # a single corpus or test set has no name
        if key != "" or not names.keys_of_single:
            names.check(key, place)
        _check_value(place, value, declaration, entry)


def _check_several(name: str, values: Any, declaration: Declaration, entry: FieldType) -> None:
    if not isinstance(values, tuple):
        raise _wrong(name, values, "a tuple")
    for value in values:
        _check_value(name, value, declaration, entry)
    if declaration.choices is not None and (twice := listed_twice(values)) is not None:
        raise InputError(f"{name}: {twice!r} is listed twice; remove one")


def _wrong(name: str, value: Any, wanted: str) -> InputError:
    return InputError(f"{name} is {value!r}, must be {wanted}")
