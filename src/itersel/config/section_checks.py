"""Check the values of a section, whatever made it: a config, options of a command, or Python code."""

from __future__ import annotations

import typing
from dataclasses import fields, is_dataclass
from typing import Any

from itersel.config.allowed_values import TYPE_NAMES, allowed_instead
from itersel.config.messages import listed_twice
from itersel.errors import InputError
from itersel.keys import Declaration, declared, split_optional, types_of


def check_section(values: Any) -> None:
    """Raise an InputError for a wrong value in a section."""
    section: Any = type(values)
    for item in fields(section):
        value = getattr(values, item.name)
        declaration = declared(item)
        kind, is_optional = split_optional(types_of(section)[item.name])
        if not declaration.is_of_key or (value is None and is_optional):
            continue

        if declaration.forms is not None and not is_dataclass(value):
            raise InputError(f"{item.name} is {value!r}, must be an object such as itersel.AdaGrad()")
        if typing.get_origin(kind) is tuple:
            _check_several(item.name, value, declaration, typing.get_args(kind)[0])
        elif kind in TYPE_NAMES:
            _check(item.name, value, declaration, kind)


def _check_several(name: str, values: Any, declaration: Declaration, kind: Any) -> None:
    if not isinstance(values, tuple):
        raise InputError(f"{name} is {values!r}, must be a tuple")
    for value in values if kind in TYPE_NAMES else ():
        _check(name, value, declaration, kind)
    if declaration.choices is not None and (twice := listed_twice(values)) is not None:
        raise InputError(f"{name}: {twice!r} is listed twice; remove one")


def _check(name: str, value: Any, declaration: Declaration, kind: type) -> None:
    instead = allowed_instead(declaration, kind, value)
    if instead is not None:
        raise InputError(f"{name} is {value!r}, must be {instead}")
