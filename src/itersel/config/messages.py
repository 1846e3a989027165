"""Name keys of a config and show their values in messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from itersel.errors import InputError, suggest


def reject(key: str, value: object, expected: str) -> NoReturn:
    """Raise an InputError for a value that is not what is expected."""
    raise InputError(f"config key '{key}' is {show(value)}, must be {expected}")


def one_of(value: object, choices: Iterable[str]) -> str:
    """Return the expected values, with a suggestion if one is similar."""
    listed = list(choices)
    return f"one of {', '.join(listed)}{suggest(value, listed)}"


def show(value: object) -> str:
    """Return a value as it is written in a config, on one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    try:
        text = " ".join((repr(value) if isinstance(value, str) else str(value)).split())
    except ValueError:  # Python does not write integers of more than 4,300 digits
        return "a number with thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."


def join(key: str, name: object) -> str:
    """Return the full key of a name in a section, `a.b`."""
    text = name if isinstance(name, str) and name.isprintable() and len(name) <= 60 else show(name)
    return f"{key}.{text}" if key else text


def name_of(key: str) -> str:
    """Return what a message calls a section."""
    return f"key '{key}'" if key else "file"
