"""The settings of a step as one value: JSON from the workflow, or a file written by a user."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from itersel.config.messages import show
from itersel.config.plain import passed
from itersel.config.sections import read_section
from itersel.errors import InputError, located
from itersel.keys import declared
from itersel.storage.files import STANDARD_STREAM

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
# The modules of this package that declare the settings of steps; each begins with a list of its steps.
SETTINGS_MODULES = (
    "learning_steps",
    "extraction",
    "search",
    "division",
    "text_steps",
    "list_steps",
    "report_steps",
)
# What messages call settings that are not in a file.
ARGUMENT = "--settings"


def as_json(settings: DataclassInstance) -> str:
    """Return the settings of a step as one line of JSON (see `passed`): the inverse of `read_settings`."""
    return json.dumps(passed(settings), ensure_ascii=False, allow_nan=False)


def read_settings(kind: type[T], given: str | None, options: Mapping[str, Any] | None = None) -> T:
    """Return the settings of a step: from JSON, from a file of YAML or JSON, or the defaults.

    Parameters
    ----------
    kind
        A dataclass whose fields are declared as the keys of a config are (`itersel.keys`).
    given
        Text of a JSON object, the name of a file, ``-`` for JSON on standard input, or None.
    options
        The values of the command's options. Those for the ``place`` in the run, such as ``--epoch``, are the
        values of the keys of this name unless they are None.

    Raises
    ------
    InputError
        For an unknown key or a wrong value, as in a config.
    """
    settings: Any = _read_given(kind, given)
    places = [item.name for item in fields(settings) if declared(item).place]
    stated = {key: (options or {}).get(key) for key in places}
    stated = {key: value for key, value in stated.items() if value is not None}
    return cast(T, replace(settings, **stated) if stated else settings)


def _read_given(kind: type[T], given: str | None) -> T:
    if given is None:
        return _read(kind, {})
    if given == STANDARD_STREAM:
        # settings for hundreds of systems exceed the argument length limit
        with located(given):
            # Python has none if it is closed
            return _read(kind, _parse("" if sys.stdin is None else sys.stdin.read()))
    if not given.strip():
        raise InputError("are empty; name a file, or give JSON", ARGUMENT)
    if given.lstrip().startswith("{"):
        with located(ARGUMENT):
            return _read(kind, _parse(given))
    # jobs of the workflow get JSON
    from itersel.config.yaml_loader import read_yaml

    with located(given):
        return _read(kind, read_yaml(given))


def _read(kind: type[T], content: Any) -> T:
    settings: T = read_section(kind, content)
    return settings


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant)
    except ValueError as error:
        raise InputError(f"not JSON: {error}") from None
    except RecursionError:
        raise InputError("nested too deep; settings have four levels") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """Make a dictionary; json would silently use the last of several equal keys."""
    content = dict(pairs)
    if len(content) < len(pairs):
        name = next(name for number, (name, _) in enumerate(pairs) if name in dict(pairs[:number]))
        raise InputError(f"key {show(name)} is given twice; remove one")
    return content


def _refuse_constant(name: str) -> NoReturn:
    raise InputError(f"{name} is not a number that a setting can have")
