"""Check the values of a section, whatever made it: a config, options of a command, or Python code."""

from __future__ import annotations

import math
import re
import typing
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

from itersel.errors import InputError, check_choice
from itersel.keys import BOUNDS, split_optional, types_of


def check_section(values: Any) -> None:
    """Raise an InputError for a wrong value in a section."""
    section: Any = type(values)
    for item in fields(section):
        value = getattr(values, item.name)
        bounds = item.metadata
        kind, is_optional = split_optional(types_of(section)[item.name])
        if value is None and is_optional:
            continue
        if "forms" in bounds and not is_dataclass(value):
            raise InputError(f"{item.name} is {value!r}; it must be an object such as itersel.AdaGrad()")

        if "choices" in bounds:
            is_several = typing.get_origin(kind) is tuple
            if is_several and not isinstance(value, tuple):
                raise InputError(f"{item.name} is {value!r}; it must be a tuple")
            for one in value if is_several else (value,):
                check_choice(item.name, one, bounds["choices"])
        elif "minimum" in bounds and kind is int:
            least, most = bounds["minimum"], bounds.get("maximum", math.inf)
            if type(value) is not int or not least <= value <= most:
                limits = f"between {least} and {most}" if most < math.inf else f"{least} or more"
                raise InputError(f"{item.name} is {value!r}; it must be a whole number, {limits}")
        elif kind is float and "explanation" in bounds:
            _check_number(item.name, value, bounds)
        elif kind is bool and "explanation" in bounds and not isinstance(value, bool):
            raise InputError(f"{item.name} is {value!r}; it must be True or False")
        elif kind == tuple[str, ...] and not _is_text(value):
            raise InputError(f"{item.name} is {value!r}; it must be a tuple of text")

        if "pattern" in bounds and kind in (str, tuple[str, ...]):
            _check_text(item.name, (value,) if kind is str else value, bounds["pattern"])


def _check_text(name: str, texts: Iterable[Any], pattern: str) -> None:
    for text in texts:
        if not isinstance(text, str) or not re.fullmatch(pattern, text):
            raise InputError(f"{name}: {text!r} is not text of the form {pattern}")


def _check_number(name: str, value: Any, bounds: Mapping[str, Any]) -> None:
    limits = {bound: BOUNDS[bound] for bound in BOUNDS if bound in bounds}
    is_number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or any(is_out(value, bounds[bound]) for bound, (_, is_out) in limits.items()):
        listed = ", ".join(["a number", *(f"{word} {bounds[bound]}" for bound, (word, _) in limits.items())])
        raise InputError(f"{name} is {value!r}; it must be {listed}")


def _is_text(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)
