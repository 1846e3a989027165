"""Checks of the learners and tuners that installed packages add."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from itersel.code.field_types import FieldType, Scalar
from itersel.code.plugins import Plugin
from itersel.config.conditions import EXAMPLES, can_hold
from itersel.keys import AND, Declaration, declared, types_of

# Types of keys, and whether declarations have what they need besides an explanation.
NEEDED: dict[FieldType, Callable[[Declaration], bool]] = {
    FieldType(Scalar(float)): lambda _: True,
    FieldType(Scalar(int)): lambda declaration: declaration.minimum is not None,
    FieldType(Scalar(str)): lambda declaration: declaration.choices is not None,
    FieldType(Scalar(bool)): lambda _: True,
}


def section_of_plugin(base: Any, method: str, plugin: Plugin) -> Any:
    """Return the settings that a package adds: a dataclass derived from `base` that has its own `method`.

    Raises an `InputError` if they cannot be used.
    """
    kind = plugin.value
    if not (isinstance(kind, type) and issubclass(kind, base) and "__dataclass_fields__" in vars(kind)):
        raise plugin.error(f"must be a dataclass derived from {base.__module__}.{base.__name__}")
    if getattr(kind, method) is getattr(base, method):
        raise plugin.error(f"lacks the method {method}")

    for item in fields(kind):
        declaration = declared(item)
        # no key of a plug-in is a section
        is_section = declaration.forms is not None
        has_needed = None if is_section else NEEDED.get(types_of(kind)[item.name])
        is_usable = declaration.is_of_key and has_needed is not None and has_needed(declaration)
        if item.name == "name" or not is_usable:
            raise plugin.error(
                f"has a key that no config can have, '{item.name}': declare it with key() as float, int "
                "(with a minimum), str (with choices) or bool, and do not call it 'name'"
            )
        for condition in declaration.on or ():
            if not can_hold(condition):
                raise plugin.error(
                    f"has a key with a condition that never holds, '{condition}' of '{item.name}': "
                    f"conditions are {', '.join(map(repr, EXAMPLES))} and the like, joined by {AND!r}"
                )

    return kind
