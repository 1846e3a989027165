"""Sections, which are dataclasses, from mappings: the inverse of `itersel.config.plain`.

A config and the settings of a step are read here, from YAML and JSON alike: same names, same bounds, same
messages. Options that people type are in `itersel.config.command_line`. Records, which only itersel writes,
have another reader, `itersel.storage.json_files`: advice on keys would not help to repair damage.
"""

from __future__ import annotations

import math
import os
import re
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from functools import partial
from typing import Any

from itersel.code.field_types import ByName, FieldType, ListOf, OneOf, Scalar, Section
from itersel.config.allowed_values import allowed_instead, as_usual
from itersel.config.messages import check_unique, join, one_of, reject, show, wrong
from itersel.config.names import RENAMED_KEYS, Names, quotes
from itersel.config.plain import Forms
from itersel.errors import InputError, attempt_all, suggest
from itersel.keys import declared, default_form, is_required, types_of

EXPONENT_NUMBER = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+"


def _mapping(value: object, key: str, content: str, least: int = 0) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping) or len(value) < least:
        place = f"key '{key}'" if key else "file"
        raise InputError(f"config {place} must contain {content}, not {show(value)}")
    return value


def read_section(kind: Any, content: object, key: str = "", siblings: Forms | None = None) -> Any:
    """Return a section of this kind from a mapping, such as the content of a YAML or JSON file.

    Keys that the mapping lacks have their defaults. An InputError names the full key, which begins with
    `key`. `siblings` are the forms of a section that has several, such as the learner.
    """
    content = _mapping(content, key, "'key: value' lines")
    known = {item.name: item for item in fields(kind)}

    def read(name: Any, value: object) -> Any:
        if name not in known:
            _reject_key(kind, name, key, known, siblings)
        return _read_value(known[name], types_of(kind)[name], value, join(key, name))

    values = attempt_all(partial(read, name, value) for name, value in content.items())
    for name, item in known.items():
        if name not in content and item.default is MISSING and item.default_factory is MISSING:
            raise wrong(join(key, name), "is missing")
    return kind(**dict(zip(content, values, strict=True)))


def _reject_key(
    kind: type, name: object, key: str, known: Mapping[str, Field[Any]], siblings: Forms | None
) -> typing.NoReturn:
    """Raise an InputError for an unknown key: renamed, or of a section below or another form."""
    full = join(key, name)
    if reason := getattr(kind, "no_key_because", {}).get(name):
        raise wrong(full, reason)

    for renamed in RENAMED_KEYS.get(name, ()) if isinstance(name, str) else ():
        if renamed in known:
            raise wrong(
                full, f"is now '{join(key, renamed)}'; CHANGELOG.md says whether its values have changed"
            )

    for section, item in known.items():
        if having := _having(name, declared(item).forms):
            raise wrong(full, f"belongs to {section}: {', '.join(having)}")

    if siblings is not None and (having := _having(name, siblings)):
        of = next(one for one, form in siblings.items() if form is kind)
        raise wrong(full, f"does not apply to {key.rpartition('.')[2]} {of}, only to {', '.join(having)}")

    listed = ", ".join(known) or "none"
    raise InputError(f"config has an unknown key '{full}'{suggest(name, known)}; known keys: {listed}")


def _having(name: object, forms: Forms | None) -> list[str]:
    """Return the forms that have a key."""
    if forms is None:
        return []
    return [one for one, form in forms.items() if name in {item.name for item in fields(form)}]


def _read_form(item: Field[Any], forms: Forms, value: object, key: str) -> Any:
    """Read a section that has several forms."""
    rest = dict(_mapping(value, key, "'name: ...'"))
    if "name" not in rest and is_required(item):
        raise wrong(f"{key}.name", "is missing")
    name = rest.pop("name") if "name" in rest else default_form(item)
    if not isinstance(name, str) or name not in forms:
        reject(f"{key}.name", name, one_of(name, forms))
    return read_section(forms[name], rest, key, forms)


def _read_value(item: Field[Any], kind: FieldType, value: object, key: str) -> Any:
    if value is None and kind.is_optional:
        return None

    match kind.content:
        case OneOf(forms):
            return _read_form(item, forms, value, key)
        case Section(section):
            return read_section(section, value, key)
        case ByName(entry):
            return _read_named(item, entry, value, key)
        case ListOf(entry):
            return _read_list(item, entry, value, key)
        case Scalar(scalar):
            return _read_scalar(item, scalar, value, key)


def _read_named(item: Field[Any], entry: FieldType, value: object, key: str) -> dict[str, Any]:
    """Read values by name. A single corpus or test set may lack one; its name is then empty."""
    names: Names = declared(item).names
    values = _mapping(value, key, names.content, names.least)

    section = entry.content.kind if isinstance(entry.content, Section) else None

    if names.keys_of_single and section is not None:
        known = {one.name for one in fields(section)}
        are_named = all(isinstance(text, Mapping) for text in values.values())
        if values.keys() <= known or not are_named:
            only = read_section(section, values, key)
            return typing.cast(Any, item.default_factory)() if only == section() else {"": only}

    def read(name: Any, one: object) -> Any:
        place = join(key, name)
        names.check(name, place)
        # `name:` alone is an experiment without keys
        is_empty = one is None and section is not None and not names.keys_of_single
        return _read_value(item, entry, {} if is_empty else one, place)

    found = attempt_all(partial(read, *one) for one in values.items())
    return dict(zip(values, found, strict=True))


def _read_list(item: Field[Any], entry: FieldType, value: object, key: str) -> tuple[Any, ...]:
    is_alone = declared(item).alone
    if is_alone and (value is None or isinstance(value, str)):
        value = [] if value is None else [value]
    if not isinstance(value, list | tuple):
        reject(key, value, "text or a list of text" if is_alone else "a list")

    if isinstance(entry.content, Section):
        places = (f"{key}.{number}" for number in range(len(value)))
        read = (partial(_read_value, item, entry, *one) for one in zip(value, places, strict=True))
        return tuple(attempt_all(read))

    entries = tuple(_read_value(item, entry, one, key) for one in value)
    if declared(item).choices is not None:
        check_unique(key, entries)
    return entries


def _read_scalar(item: Field[Any], kind: type, value: object, key: str) -> Any:
    declaration = declared(item)
    checked = as_usual(declaration, value)
    instead = allowed_instead(declaration, kind, checked)
    if instead is not None:
        reject(key, value, f"{instead}{_advice(kind, value)}")

    if kind is float:
        return float(checked)
    return _clean_path(checked) if declaration.path else checked


def _advice(kind: type, value: object) -> str:
    """Return advice on what YAML takes for something else."""
    if kind is str:
        return quotes(value)
    if kind is float and isinstance(value, str) and re.fullmatch(EXPONENT_NUMBER, value):
        number = float(value)
        if math.isfinite(number):
            return f"; YAML reads {value} as text, write {_yaml_number(number)}"
    return ""


def _clean_path(path: str) -> str:
    """Return a path as Snakemake expects it: it warns about ``a//b``, ``a/`` and ``./a``."""
    path = re.sub("/+", "/", os.path.expanduser(path))
    return re.sub(r"^(\./)+(?=.)", "", path.rstrip("/") or "/")


def _yaml_number(number: float) -> str:
    """Return a number in the syntax of YAML 1.1, with a point before an exponent."""
    mantissa, exponent, power = f"{number:.15g}".partition("e")
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else mantissa + exponent + power
