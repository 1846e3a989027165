"""Declare an option of the config: a dataclass field with an explanation and bounds."""

from __future__ import annotations

import math
import typing
from dataclasses import field, fields
from typing import Any

from itersel.errors import InputError, check_choice

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"
# Translations and references are in the same folder.
EXPERIMENT_PATTERN = rf"(?!reference\.[0-9]+$){NAME_PATTERN}"
# A label is one word in a file of labels and must be usable on the command line.
LABEL_PATTERN = r"[^\s=,{}\x00-\x1f\x7f-\x9f-][^\s=,{}\x00-\x1f\x7f-\x9f]*"
# Snakemake treats {...} as a wildcard.
PATH_PATTERN = r"[^{}\x00-\x08\x0a-\x1f\x7f-\x9f]+"


def option(
    explanation: str,
    default: Any = None,
    *,
    choices: tuple[str, ...] = (),
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
    pattern: str = "",
    path: bool = False,
    alone: bool = False,
    no_list: str = "",
) -> Any:
    """Return a dataclass field that carries its explanation and its bounds.

    Parameters
    ----------
    explanation
        One or two sentences, shown in the documentation and in config.yaml.
    default
        The value if the config does not set it.
    choices
        The texts allowed; any if empty.
    minimum, maximum
        The smallest and largest number allowed.
    above
        A number that the value must exceed.
    pattern
        A regular expression that a text must match as a whole.
    path
        The text is the path of a file or folder and must match `PATH_PATTERN`; `~` is the user's home.
    alone
        For a list: a single value may be written without brackets.
    no_list
        For a text: why it cannot be a list, for the error message.
    """
    bounds = {
        "choices": choices,
        "minimum": minimum,
        "above": above,
        "maximum": maximum,
        "pattern": PATH_PATTERN if path else pattern,
        "path": path,
        "alone": alone,
        "no_list": no_list,
    }
    # not `in`: 0 is a valid bound but equals False
    given = {name: value for name, value in bounds.items() if value is not None and value is not False}
    metadata = {name: value for name, value in given.items() if value not in ((), "")}
    return field(default=default, metadata={"explanation": explanation, **metadata})


def check_section(values: Any) -> None:
    """Raise an InputError for a wrong whole number or choice in a section, whoever made the section."""
    types = typing.get_type_hints(type(values))
    for item in fields(values):
        value, bounds = getattr(values, item.name), item.metadata
        if "choices" in bounds:
            is_list = typing.get_origin(types[item.name]) is tuple
            if is_list and not isinstance(value, tuple):
                raise InputError(f"{item.name} is {value!r}; it must be a tuple")
            for one in value if is_list else (value,):
                check_choice(item.name, one, bounds["choices"])
        elif "minimum" in bounds and types[item.name] is int:
            least, most = bounds["minimum"], bounds.get("maximum", math.inf)
            if type(value) is not int or not least <= value <= most:
                limits = f"between {least} and {most}" if most < math.inf else f"{least} or more"
                raise InputError(f"{item.name} is {value!r}; it must be a whole number, {limits}")


def section_of(kind: Any, values: object) -> Any:
    """Return a section with the values of an object, such as parsed options: the inverse of `options_of`."""
    return kind(**{item.name: getattr(values, item.name) for item in fields(kind)})


def options_of(section: Any) -> dict[str, Any]:
    """Return the values of a section by the name of their option; None where an empty list is the default."""
    values = {item.name: getattr(section, item.name) for item in fields(section)}
    empty = {item.name for item in fields(section) if item.default == ()}
    return {name: None if name in empty and value == () else value for name, value in values.items()}


def explain(explanation: str) -> dict[str, str]:
    """Return the metadata of a dataclass field that holds further options."""
    return {"explanation": explanation}
