"""Check the values of a section, whatever made it: a config, options of a command, or Python code."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from itersel.config.allowed_values import TYPE_NAMES, allowed_instead
from itersel.config.messages import listed_twice
from itersel.errors import InputError
from itersel.keys import split_optional, types_of


def check_section(values: Any) -> None:
    """Raise an InputError for a wrong value in a section."""
    section: Any = type(values)
    for item in fields(section):
        value = getattr(values, item.name)
        bounds = item.metadata
        kind, is_optional = split_optional(types_of(section)[item.name])
        # not a key
        if "explanation" not in bounds or (value is None and is_optional):
            continue

        if "forms" in bounds and not is_dataclass(value):
            raise InputError(f"{item.name} is {value!r}, must be an object such as itersel.AdaGrad()")
        if typing.get_origin(kind) is tuple:
            _check_several(item.name, value, bounds, typing.get_args(kind)[0])
        elif kind in TYPE_NAMES:
            _check(item.name, value, bounds, kind)


def _check_several(name: str, values: Any, bounds: Mapping[str, Any], kind: Any) -> None:
    if not isinstance(values, tuple):
        raise InputError(f"{name} is {values!r}, must be a tuple")
    for value in values if kind in TYPE_NAMES else ():
        _check(name, value, bounds, kind)
    if "choices" in bounds and (twice := listed_twice(values)) is not None:
        raise InputError(f"{name}: {twice!r} is listed twice; remove one")


def _check(name: str, value: Any, bounds: Mapping[str, Any], kind: type) -> None:
    instead = allowed_instead(bounds, kind, value)
    if instead is not None:
        raise InputError(f"{name} is {value!r}, must be {instead}")
