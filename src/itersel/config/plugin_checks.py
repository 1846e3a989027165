"""Checks of the learners and tuners that installed packages add."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

from itersel.code.plugins import Plugin
from itersel.config.conditions import EXAMPLES, can_hold
from itersel.keys import AND

# Types of keys, and what their declarations need besides an explanation.
NEEDED_BOUNDS: dict[Any, tuple[str, ...]] = {float: (), int: ("minimum",), str: ("choices",), bool: ()}


def section_of_plugin(base: Any, method: str, plugin: Plugin) -> Any:
    """Return the settings that a package adds: a dataclass derived from `base` that has its own `method`.

    Raises an `InputError` if they cannot be used.
    """
    kind = plugin.value
    if not (isinstance(kind, type) and issubclass(kind, base) and "__dataclass_fields__" in vars(kind)):
        raise plugin.error(f"must be a dataclass derived from {base.__module__}.{base.__name__}")
    if getattr(kind, method) is getattr(base, method):
        raise plugin.error(f"lacks the method {method}")

    types = get_type_hints(kind)
    for item in fields(kind):
        needed = NEEDED_BOUNDS.get(types[item.name])
        if needed is None or item.name == "name" or not {"explanation", *needed} <= item.metadata.keys():
            raise plugin.error(
                f"has a key that no config can have, '{item.name}': declare it with key() as float, int "
                "(with a minimum), str (with choices) or bool, and do not call it 'name'"
            )
        for condition in item.metadata.get("on", {}):
            if not can_hold(condition):
                raise plugin.error(
                    f"has a key with a condition that never holds, '{condition}' of '{item.name}': "
                    f"conditions are {', '.join(map(repr, EXAMPLES))} and the like, joined by {AND!r}"
                )

    return kind
