"""Declare the keys of the config and of settings, which are dataclass fields.

A declaration has the type, default, bounds and explanation of a key. `itersel.config` reads and checks values
by it, and makes the schema, the documentation and the options of commands from it.
"""

from __future__ import annotations

import functools
import inspect
import operator
import textwrap
import types
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from typing import Any, TypeVar, cast

from itersel.code.plugins import Extensible, Joined
from itersel.storage.numbers import DEFAULT_SEED

# The seeds that all of numpy's generators take.
MIN_SEED, MAX_SEED = 0, 2**32 - 1
# Snakemake treats {...} as a wildcard.
PATH_PATTERN = r"[^{}\x00-\x08\x0a-\x1f\x7f-\x9f]+"

T = TypeVar("T")

# Instead of a default: the key must be given.
REQUIRED: Any = MISSING
# Between conditions of a default that must all hold.
AND = " and "

# Bounds of numbers: what a value must be, and when it is out of bounds.
BOUNDS = {
    "minimum": ("at least", operator.lt),
    "above": ("above", operator.le),
    "maximum": ("at most", operator.gt),
}


def key(
    explanation: str,
    default: Any = None,
    *,
    choices: Collection[str] | None = None,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
    pattern: str = "",
    path: bool = False,
    alone: bool = False,
    on: Mapping[str, Any] | None = None,
    names: Any = None,
    any_case: bool = False,
    required: bool = False,
    place: bool = False,
    changes_no_result: bool = False,
    recorded_otherwise: bool = False,
) -> Any:
    """Return a dataclass field that carries its explanation and its bounds.

    The explanation is shown in the documentation and in config.yaml. `above` is a number that the value
    must exceed, and `pattern` a regular expression that a text must match as a whole. A `path` must match
    `PATH_PATTERN`; `~` in it is the user's home. A list of one value may be written without brackets if
    it may stand `alone`. `on` gives other defaults under conditions (see `default_of`); the first that
    holds is used. With `any_case`, the `choices` (in lower case) may also be written with capitals. `names`
    are the `itersel.config.names.Names` of values by name. A key with the default `REQUIRED` must be given;
    so must one that is `required`, although sections can be made with its default, which is refused when
    the whole config is checked. The settings that the workflow passes to a step
    (`itersel.config.plain.passed`) lack a key for the `place` in a run, such as the epoch, which is an
    option of the command, and one that `changes_no_result`. Settings in files (`recorded`) also lack a key
    whose value the file shows elsewhere (`recorded_otherwise`).
    """
    bounds = {
        "choices": choices,
        "minimum": minimum,
        "above": above,
        "maximum": maximum,
        "pattern": PATH_PATTERN if path else pattern or None,
        "path": path or None,
        "alone": alone or None,
        "on": on,
        "names": names,
        "any_case": any_case or None,
        "required": required or None,
        "place": place or None,
        "changes_no_result": changes_no_result or None,
        "recorded_otherwise": recorded_otherwise or None,
    }

    given = {name: value for name, value in bounds.items() if value is not None}
    return field(default=default, metadata={"explanation": explanation, **given})


def key_of(kind: Any, name: str, **changes: Any) -> Any:
    """Return a key of another section with other arguments of `key`; None removes a bound.

    A section in another section is returned as it is.
    """
    other = kind.__dataclass_fields__[name]
    if other.default_factory is MISSING:
        return key(**{"default": other.default, **other.metadata, **changes})
    if changes:
        raise TypeError(f"{name} is a section, for which {', '.join(changes)} cannot be changed")
    return field(default_factory=other.default_factory, metadata=other.metadata)


def seed_key(explanation: str, default: int | None = DEFAULT_SEED) -> Any:
    """Return a key for a random seed; all seeds have the same bounds."""
    return key(explanation, default, minimum=MIN_SEED, maximum=MAX_SEED)


def paths(explanation: str) -> Any:
    """Return a key for any number of files."""
    return key(explanation, (), path=True, alone=True)


def section(
    default: Any,
    explanation: str = "",
    *,
    forms: Mapping[str, type] | None = None,
    on: Mapping[str, str] | None = None,
    names: Any = None,
) -> Any:
    """Return a field for a nested section, made by `default`, whose docstring is the default explanation.

    A section with several `forms` has a key ``name``, which chooses one; `on` names other default forms under
    conditions. `names` are the `itersel.config.names.Names` of sections by name.
    """
    found = {"explanation": explanation or default.__doc__, "forms": forms, "on": on, "names": names}
    metadata = {name: value for name, value in found.items() if value is not None}
    return field(default_factory=default, metadata=metadata)


def documented(kind: type[T]) -> type[T]:
    """Add the keys of a section to its docstring, for `help`."""
    lines = [inspect.cleandoc(str(kind.__doc__)), "", "Parameters", "----------"]
    for item in fields(kind):  # type: ignore[arg-type]
        choices = item.metadata.get("choices")
        allowed = item.type if isinstance(item.type, str) else inspect.formatannotation(item.type)
        # packages add to others
        if isinstance(choices, tuple):
            allowed = f"{{{', '.join(map(repr, choices))}}}"
        lines += [f"{item.name} : {allowed}{_shown_default(item)}"]
        lines += [f"    {line}" for line in textwrap.wrap(item.metadata["explanation"], 96)]
    kind.__doc__ = "\n".join(lines)
    return kind


def _shown_default(item: Field[Any]) -> str:
    """Return what follows the type of a key in a docstring; nothing for a key that must be given.

    A function that makes the default, such as a learner, imports its module, which takes time; the
    explanation names such a default.
    """
    if is_required(item):
        return ""
    if item.default_factory is MISSING:
        return f", default: {item.default!r}{defaults_in_configs(item, repr)}"
    if not isinstance(item.default_factory, type):
        return ""
    made = item.default_factory()
    return f", default: {type(made).__name__}()" if is_dataclass(made) else f", default: {made!r}"


def other_defaults(item: Field[Any]) -> list[tuple[str, Any]]:
    """Return the conditions, in words, under which a key has other defaults in a config, and these."""
    return [(f"with {condition}", other) for condition, other in item.metadata.get("on", {}).items()]


def defaults_in_configs(item: Field[Any], show: Callable[[Any], str] = str) -> str:
    """Return what follows a default in the help of commands and Python, where no condition holds."""
    listed = ", ".join(f"{show(other)} {condition}" for condition, other in other_defaults(item))
    return f"; in a config, {listed}" if listed else ""


def is_required(item: Field[Any]) -> bool:
    """Return whether a key must be given."""
    has_no_default = item.default is MISSING and item.default_factory is MISSING
    return has_no_default or "required" in item.metadata


def default_of(item: Field[Any], conditions: Collection[str] = ()) -> Any:
    """Return the default of a key under the conditions that hold; MISSING for a section.

    Conditions are named in `itersel.config.conditions`, in the words of the documentation, such as
    ``tune_on: dev``. Several are joined by `AND`.
    """
    others = item.metadata.get("on", {})
    return next((others[one] for one in others if {*one.split(AND)} <= {*conditions}), item.default)


def default_form(item: Field[Any], conditions: Collection[str] = ()) -> str:
    """Return the form of a section that states no name, of the several that it can have."""
    form: Any = default_of(item, conditions)
    return name_in(item.metadata["forms"], cast(Any, item.default_factory)()) if form is MISSING else form


@functools.cache
def types_of(kind: type) -> dict[str, Any]:
    """Return the types of the fields of a dataclass."""
    return typing.get_type_hints(kind)


def split_optional(kind: Any) -> tuple[Any, bool]:
    """Return a type without `None`, and whether `None` was part of it."""
    members = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    rest = [member for member in members if member is not types.NoneType]
    return rest[0], len(rest) < len(members)


def name_in(kinds: Mapping[str, type], section: object) -> str:
    """Return the name of a section with several forms, such as a learner, in the table of its forms."""
    kind = type(section)
    known = kinds.known_name(kind) if isinstance(kinds, Extensible | Joined) else None
    return known or next(name for name in kinds if kinds[name] is kind)


def changed(section: Any) -> list[str]:
    """Return the keys of a section that do not have their defaults.

    In configs, commands and Python, stating a value that is used anyway changes nothing. So where keys have
    no effect, only these are refused. A key that its section lacks, such as one of another learner, is
    refused with any value.
    """
    return [one.name for one in fields(section) if getattr(section, one.name) != _own_default(one)]


def _own_default(item: Field[Any]) -> Any:
    """Return the default of a key, or of a section in a section; MISSING if there is none."""
    return item.default if item.default_factory is MISSING else item.default_factory()
