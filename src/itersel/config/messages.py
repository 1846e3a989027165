"""Errors of keys of a config, and how they show keys and values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from itersel.errors import InputError, suggest


def wrong(key: str, problem: str) -> InputError:
    """Return the error for a key; the problem continues the sentence, or begins with a colon."""
    return InputError(f"config key '{key}'{'' if problem.startswith(':') else ' '}{problem}")


def reject(key: str, value: object, expected: str) -> NoReturn:
    """Raise an InputError for a value that is not what is expected."""
    raise wrong(key, f"is {show(value)}, must be {expected}")


def check_unique(key: str, names: Sequence[str]) -> None:
    """Raise an InputError if a name is listed twice."""
    if (twice := listed_twice(names)) is not None:
        raise wrong(key, f": '{twice}' is listed twice; remove one")


def listed_twice(names: Sequence[str]) -> str | None:
    """Return the first name that is listed twice; None if there is none."""
    return next((name for number, name in enumerate(names) if name in names[:number]), None)


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
