"""Sections, which are dataclasses, as plain values: mappings, lists, text and numbers.

YAML, JSON and the attributes of files contain settings in this form. `itersel.config.sections` reads it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from itersel.code.field_types import ByName, FieldType, ListOf, OneOf, Scalar, Section
from itersel.keys import Declaration, declared, name_in, types_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# The forms of a section that has several, by name.
Forms = Mapping[str, type]


def plain(
    section: DataclassInstance, is_wanted: Callable[[Declaration], bool] = lambda _: True
) -> dict[str, Any]:
    """Return a section as YAML and JSON represent it: the keys whose declaration `is_wanted`."""
    types = types_of(type(section))
    return {
        item.name: _plain_value(getattr(section, item.name), types[item.name], is_wanted)
        for item in fields(section)
        if is_wanted(declared(item))
    }


def _plain_value(value: Any, kind: FieldType, is_wanted: Callable[[Declaration], bool]) -> Any:
    if value is None:
        return None

    match kind.content:
        case OneOf(forms):
            return {"name": name_in(forms, value), **plain(value, is_wanted)}
        case Section():
            return plain(value, is_wanted)
        case ByName(entry):
            named = {name: _plain_value(one, entry, is_wanted) for name, one in value.items()}
            # a single corpus or test set has no name
            return named.get("", named)
        case ListOf(entry):
            return [_plain_value(one, entry, is_wanted) for one in value]
        case Scalar():
            return value


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
    return plain(settings, _is_passed)


def recorded(settings: DataclassInstance) -> dict[str, Any]:
    """Return what files record of settings: what is `passed`, except keys that they record in another way."""
    return plain(settings, _is_recorded)
