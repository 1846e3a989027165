"""Sections, which are dataclasses, as plain values: mappings, lists, text and numbers.

YAML, JSON and the attributes of files contain settings in this form. `itersel.config.sections` reads it back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from itersel.keys import name_in

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Section = DataclassInstance | type[DataclassInstance]

# The forms of a section that has several, by name.
Forms = Mapping[str, type]
# Steps do not get keys with one of these properties (`itersel.keys.key`) as settings, because a
# step runs again if a setting changes.
NOT_PASSED = ("place", "changes_no_result")


def plain(value: Any, forms: Forms | None = None, without: Collection[str] = ()) -> Any:
    """Return a value as YAML and JSON represent it.

    `forms` are the forms that a section can have. Keys whose declaration has a property in `without`, such as
    ``place`` (see `itersel.keys.key`), are left out.
    """
    if is_dataclass(value):
        name = {} if forms is None else {"name": name_in(forms, value)}
        keys = {
            item.name: plain(getattr(value, item.name), item.metadata.get("forms"), without)
            for item in _keys(value, without)
        }
        return name | keys
    if isinstance(value, Mapping):
        # a single corpus or test set has no name
        named = {name: plain(one, None, without) for name, one in value.items()}
        return named.get("", named)
    return [plain(one, None, without) for one in value] if isinstance(value, tuple | list) else value


def _keys(section: Section, without: Collection[str]) -> list[Field[Any]]:
    return [item for item in fields(section) if item.metadata.keys().isdisjoint(without)]


def passed(settings: DataclassInstance) -> dict[str, Any]:
    """Return what a step gets as its settings: the value of every key, defaults included.

    Two kinds of keys are not part of it: those that change no result, and the place in a run, such as the
    number of the epoch, which options of a step state.
    """
    values: dict[str, Any] = plain(settings, without=NOT_PASSED)
    return values


def recorded(settings: DataclassInstance) -> dict[str, Any]:
    """Return what files record of settings: what is `passed`, except keys that they record in another way."""
    values: dict[str, Any] = plain(settings, without=(*NOT_PASSED, "recorded_otherwise"))
    return values
