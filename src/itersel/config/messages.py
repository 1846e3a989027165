"""How messages name keys of a config and show their values."""

from __future__ import annotations

from typing import NoReturn

from itersel.errors import InputError


def reject(key: str, value: object, expected: str) -> NoReturn:
    """Raise an InputError for a value that is not what is expected."""
    raise InputError(f"config key '{key}' is {show(value)}, must be {expected}")


def show(value: object) -> str:
    """Return a value as it stands in a config, on one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    try:
        text = " ".join((repr(value) if isinstance(value, str) else str(value)).split())
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."


def join(key: str, name: object) -> str:
    """Return the key of something in a section, `a.b`."""
    text = name if isinstance(name, str) and name.isprintable() and len(name) <= 60 else show(name)
    return f"{key}.{text}" if key else text


def name_of(key: str) -> str:
    """Return how a section is called in a message."""
    return f"key '{key}'" if key else "file"
