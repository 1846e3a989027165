"""Declare the keys of the config and of settings, which are dataclass fields.

A declaration has the type, default, bounds and explanation of a key. `itersel.config` reads and checks values
by it, and makes the schema, the documentation and the options of commands from it.
"""

from __future__ import annotations

import functools
import inspect
import operator
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from itersel.code.field_types import FieldType, OneOf, annotations_of, field_types
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


@dataclass(frozen=True)
class Declaration:
    """What is declared of a key or a section, besides its type and default."""

    # Shown in the documentation and in config.yaml; fields that are no keys have none.
    explanation: str = ""

    # What a value, or each of several, must be: one of these, ...
    choices: Collection[str] | None = None
    # ... in lower case, but capitals are read, too;
    any_case: bool = False
    # a number within these limits, `above` excluded;
    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None
    # text that this regular expression matches as a whole;
    pattern: str | None = None
    # a path, in which `~` is the user's home.
    path: bool = False
    # A list of one value may be written without brackets.
    alone: bool = False

    # Other defaults under conditions (see `default_of`), of which the first that holds is used; of a section,
    # the names of its forms.
    on: Mapping[str, Any] | None = None
    # The forms of a section that has several, by name; its key ``name`` chooses one.
    forms: Mapping[str, type] | None = None
    # The `itersel.config.names.Names` of values or sections by name.
    names: Any = None

    # The key must be given, although sections can be made with its default; that is refused when the whole
    # config is checked.
    required: bool = False
    # The key is the place in a run, such as the epoch, which is an option of a step.
    place: bool = False
    # Files are the same whatever the value.
    changes_no_result: bool = False
    # Files show the value, but not in their settings.
    recorded_otherwise: bool = False

    @property
    def is_of_key(self) -> bool:
        """Whether a field is a key or section; others are no part of a config or of settings."""
        return bool(self.explanation)

    @property
    def limits(self) -> dict[str, float]:
        """The limits of a number, by their names in `BOUNDS`."""
        limits = {bound: getattr(self, bound) for bound in BOUNDS}
        return {bound: limit for bound, limit in limits.items() if limit is not None}


# The name under which a dataclass field carries its `Declaration`.
_DECLARATION = "declaration"
_OF_NO_KEY = Declaration()


def declared(item: Field[Any]) -> Declaration:
    """Return what is declared of a field."""
    found: Declaration = item.metadata.get(_DECLARATION, _OF_NO_KEY)
    return found


def key(explanation: str, default: Any = None, **more: Any) -> Any:
    """Return a dataclass field that is a key.

    `more` are other fields of its `Declaration`, such as `minimum`. A key with the default `REQUIRED` must be
    given. A `path` must match `PATH_PATTERN`.
    """
    if more.get("path"):
        more["pattern"] = PATH_PATTERN
    return _field(Declaration(explanation, **more), default=default)


def _field(declaration: Declaration, **default: Any) -> Any:
    return field(**default, metadata={_DECLARATION: declaration})


def key_of(kind: Any, name: str, **changes: Any) -> Any:
    """Return a key of another section with another default, or another `Declaration`; None removes a bound.

    A section in another section is returned as it is.
    """
    other = kind.__dataclass_fields__[name]
    if other.default_factory is MISSING:
        default = changes.pop("default", other.default)
        return _field(replace(declared(other), **changes), default=default)
    if changes:
        raise TypeError(f"{name} is a section, for which {', '.join(changes)} cannot be changed")
    return field(default_factory=other.default_factory, metadata=other.metadata)


def seed_key(explanation: str, default: int | None = DEFAULT_SEED) -> Any:
    """Return a key for a random seed; all seeds have the same bounds."""
    return key(explanation, default, minimum=MIN_SEED, maximum=MAX_SEED)


def paths(explanation: str) -> Any:
    """Return a key for any number of files."""
    return key(explanation, (), path=True, alone=True)


def section(default: Any, explanation: str = "", **more: Any) -> Any:
    """Return a field for a nested section, made by `default`, whose docstring is the default explanation.

    `more` are other fields of its `Declaration`, such as its `forms`.
    """
    return _field(Declaration(explanation or default.__doc__, **more), default_factory=default)


def documented(kind: type[T]) -> type[T]:
    """Add the keys of a section to its docstring, for `help`."""
    lines = [inspect.cleandoc(str(kind.__doc__)), "", "Parameters", "----------"]
    for item in fields(kind):  # type: ignore[arg-type]
        choices = declared(item).choices
        allowed = item.type if isinstance(item.type, str) else inspect.formatannotation(item.type)
        # packages add to others
        if isinstance(choices, tuple):
            allowed = f"{{{', '.join(map(repr, choices))}}}"
        lines += [f"{item.name} : {allowed}{_shown_default(item)}"]
        lines += [f"    {line}" for line in textwrap.wrap(declared(item).explanation, 96)]
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
    return [(f"with {condition}", other) for condition, other in (declared(item).on or {}).items()]


def defaults_in_configs(item: Field[Any], show: Callable[[Any], str] = str) -> str:
    """Return what follows a default in the help of commands and Python, where no condition holds."""
    listed = ", ".join(f"{show(other)} {condition}" for condition, other in other_defaults(item))
    return f"; in a config, {listed}" if listed else ""


def is_required(item: Field[Any]) -> bool:
    """Return whether a key must be given."""
    has_no_default = item.default is MISSING and item.default_factory is MISSING
    return has_no_default or declared(item).required


def default_of(item: Field[Any], conditions: Collection[str] = ()) -> Any:
    """Return the default of a key under the conditions that hold; MISSING for a section.

    Conditions are named in `itersel.config.conditions`, in the words of the documentation, such as
    ``tune_on: dev``. Several are joined by `AND`.
    """
    others = declared(item).on or {}
    return next((others[one] for one in others if {*one.split(AND)} <= {*conditions}), item.default)


def default_form(item: Field[Any], conditions: Collection[str] = ()) -> str:
    """Return the form of a section that states no name, of the several that it can have."""
    form: Any = default_of(item, conditions)
    return name_in(forms_of(item), cast(Any, item.default_factory)()) if form is MISSING else form


def forms_of(item: Field[Any]) -> Mapping[str, type]:
    """Return the forms of a section that has several."""
    forms = declared(item).forms
    assert forms is not None
    return forms


@functools.cache
def types_of(kind: type) -> Mapping[str, FieldType]:
    """Return what the keys of a section contain."""
    types = {**field_types(kind)}
    for item in fields(kind):
        forms = declared(item).forms
        if forms is not None:
            types[item.name] = FieldType(OneOf(forms, annotations_of(kind)[item.name]))
    return types


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
