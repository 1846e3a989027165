"""Sections, which are dataclasses, as plain values: mappings, lists, text and numbers.

YAML, JSON and the attributes of files contain settings in this form. `itersel.config.sections` reads it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from itersel.keys import Declaration, declared, name_in

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# The forms of a section that has several, by name.
Forms = Mapping[str, type]


def plain(
    value: Any, forms: Forms | None = None, is_wanted: Callable[[Declaration], bool] = lambda _: True
) -> Any:
    """Return a value as YAML and JSON represent it: of sections, the keys whose declaration `is_wanted`.

    `forms` are the forms that a section can have.
    """
    if is_dataclass(value):
        name = {} if forms is None else {"name": name_in(forms, value)}
        keys = {
            item.name: plain(getattr(value, item.name), declared(item).forms, is_wanted)
            for item in fields(value)
            if is_wanted(declared(item))
        }
        return name | keys
    if isinstance(value, Mapping):
        # a single corpus or test set has no name
        named = {name: plain(one, None, is_wanted) for name, one in value.items()}
        return named.get("", named)
    return [plain(one, None, is_wanted) for one in value] if isinstance(value, tuple | list) else value


def _is_passed(declaration: Declaration) -> bool:
    # a step runs again if a setting changes
    return not declaration.place and not declaration.changes_no_result


def _is_recorded(declaration: Declaration) -> bool:
    return _is_passed(declaration) and not declaration.recorded_otherwise


def passed(settings: DataclassInstance) -> dict[str, Any]:
    """Return what a step gets as its settings: the value of every key, defaults included.

    Two kinds of keys are not part of it: those that change no result, and the place in a run, such as the
    number of the epoch, which options of a step state.
    """
    values: dict[str, Any] = plain(settings, is_wanted=_is_passed)
    return values


def recorded(settings: DataclassInstance) -> dict[str, Any]:
    """Return what files record of settings: what is `passed`, except keys that they record in another way."""
    values: dict[str, Any] = plain(settings, is_wanted=_is_recorded)
    return values
