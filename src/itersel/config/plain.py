"""Sections, which are dataclasses, as plain values: mappings, lists, text and numbers.

YAML, JSON and the attributes of files contain settings in this form. `itersel.config.sections` reads it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from itersel.config.options import name_in

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# The forms of a section that has several, by name.
Forms = Mapping[str, type]


def plain(value: Any, forms: Forms | None = None) -> Any:
    """Return a value as YAML and JSON represent it; `forms` are the forms that a section can have."""
    if is_dataclass(value):
        name = {} if forms is None else {"name": name_in(forms, value)}
        keys = {
            item.name: plain(getattr(value, item.name), item.metadata.get("forms")) for item in fields(value)
        }
        return name | keys
    if isinstance(value, Mapping):
        # a single corpus or test set has no name
        named = {name: plain(one) for name, one in value.items()}
        return named.get("", named)
    return [plain(one) for one in value] if isinstance(value, tuple | list) else value


def recorded(settings: DataclassInstance) -> dict[str, Any]:
    """Return what jobs and files record of settings: the value of every key, defaults included.

    The place in a run, such as the number of the epoch, is not part of it: options of a step state it.
    """
    values: dict[str, Any] = plain(settings)
    for item in fields(settings):
        if "place" in item.metadata:
            del values[item.name]
    return values
