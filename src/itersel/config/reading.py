"""Turn a mapping, such as Snakemake's `config`, into a checked `Config`."""

from __future__ import annotations

import datetime
import functools
import math
import os
import re
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from functools import partial
from typing import Any

from itersel.config.checks import check_experiments, check_models
from itersel.config.data import Split, TestSet
from itersel.config.data_checks import check_data
from itersel.config.defaults import resolved, with_forms
from itersel.config.experiments import as_written, without_grids
from itersel.config.options import (
    BOUNDS,
    EXPERIMENT_PATTERN,
    LABEL_PATTERN,
    join,
    one_of,
    reject,
    show,
    split_optional,
    types_of,
    wrong,
)
from itersel.config.values import CHOICES, Config, Experiment
from itersel.config.yaml_loader import read_yaml
from itersel.errors import FilePath, InputError, attempt_all, located, suggest
from itersel.evaluate.tokenizers import check_tokenizer, tokenizer_of
from itersel.limits import MAX_INTEGER, NO_TEST_SETS, TEST_SET_PATTERN

EXPONENT_NUMBER = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+"
# No file name or argument of a command can hold NUL or half a surrogate pair; none should hold the others.
NO_TEXT = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
TYPE_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
# Texts that are one section or several by name, and the keys that cannot be names.
TEXT_KEYS: dict[Any, Sequence[str]] = {TestSet: NO_TEST_SETS, Split: [one.name for one in fields(Split)]}


def load_config(*paths: FilePath, is_resolved: bool = True) -> Config:
    """Read and check a config of YAML or JSON files; those after the first change it, as in Snakemake.

    Unless it `is_resolved`, values that follow others are null.
    """
    content = functools.reduce(_changed_by, map(read_yaml, paths))
    with located(", ".join(os.fspath(path) for path in paths)):
        return read_config(content) if is_resolved else read_unresolved(content)


def _changed_by(old: Any, new: Any) -> Any:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {**old, **{key: _changed_by(old.get(key), value) for key, value in new.items()}}
    return new


def read_config(content: object) -> Config:
    """Check a mapping and fill in all defaults, as `read_unresolved` and `resolved` do."""
    return resolved(read_unresolved(content))


def read_unresolved(content: object) -> Config:
    """Check a mapping and fill in the defaults; values that follow others, such as seeds, are still null.

    All unknown keys and wrong values are reported together or, if there are none, all conflicts: an
    InputError of one line names the key, a CombinedInputError has several.
    """
    given, grids = without_grids({} if content is None else content)
    try:
        config: Config = _read_section(Config, with_forms(given), "")
        tokenizer = config.evaluation.tokenizer or tokenizer_of(config.data.target_language)
        checks = [partial(check, config) for check in (check_data, check_models, check_experiments)]
        attempt_all([*checks, partial(check_tokenizer, tokenizer)])
    except InputError as error:
        raise as_written(error, grids) from None
    return config


def _mapping(value: object, key: str, content: str, least: int = 0) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping) or len(value) < least:
        place = f"key '{key}'" if key else "file"
        raise InputError(f"config {place} must contain {content}, not {show(value)}")
    return value


def _read_section(kind: Any, content: object, key: str) -> Any:
    content = _mapping(content, key, "'key: value' lines")
    known = {item.name: item for item in fields(kind)}

    def read(name: Any, value: object) -> Any:
        if name not in known:
            _reject_key(kind, name, key, known)
        return _read_value(known[name], types_of(kind)[name], value, join(key, name))

    values = attempt_all(partial(read, name, value) for name, value in content.items())
    return kind(**dict(zip(content, values, strict=True)))


def _reject_key(kind: Any, name: object, key: str, known: Iterable[str]) -> typing.NoReturn:
    """Raise an InputError for an unknown key, which may belong to a section below, or to another learner."""
    full = join(key, name)
    for section, choices in CHOICES.items():
        having = [one for one, other in choices.items() if name in {item.name for item in fields(other)}]
        if having and section in known:
            raise wrong(f"{full}", f"belongs to {section}: {', '.join(having)}")
        if having and kind in choices.values():
            of = next(choice for choice, one in choices.items() if one is kind)
            raise wrong(f"{full}", f"does not apply to {section} {of}, only to {', '.join(having)}")
    listed = ", ".join(known) or "none"
    raise InputError(f"config has an unknown key '{full}'{suggest(name, known)}; known keys: {listed}")


def _read_choice(item: Field[Any], value: object, key: str) -> Any:
    """Read a section that has several forms."""
    choices, rest = CHOICES[item.name], dict(_mapping(value, key, "'name: ...'"))
    chosen = rest.pop("name")  # filled in by `with_forms` if it was left out
    if not isinstance(chosen, str) or chosen not in choices:
        reject(f"{key}.name", chosen, one_of(chosen, choices))
    return _read_section(choices[chosen], rest, key)


def _read_value(item: Field[Any], kind: Any, value: object, key: str) -> Any:
    if item.name in CHOICES:
        return _read_choice(item, value, key)
    kind, optional = split_optional(kind)
    if value is None and optional:
        return None
    if is_dataclass(kind):
        return _read_section(kind, value, key)
    if typing.get_origin(kind) is dict:
        return _read_named(item, typing.get_args(kind)[1], value, key)
    if typing.get_origin(kind) is tuple:
        return _read_list(item, value, key)
    if isinstance(value, list | tuple) and "no_list" in item.metadata:
        raise wrong(key, f"must be text, not a list: {item.metadata['no_list']}")
    return _read_scalar(item, kind, value, key)


def _read_named(item: Field[Any], kind: Any, value: object, key: str) -> dict[str, Any]:
    """Read values by name; a corpus or test set alone may lack one, and has the empty name."""
    content, least, check_name = NAMED[kind]
    values = _mapping(value, key, content, least)
    if kind in TEXT_KEYS:
        known = {one.name for one in fields(kind)}
        if values.keys() <= known or not all(isinstance(text, Mapping) for text in values.values()):
            only = _read_section(kind, values, key)
            return {} if only == TestSet() else {"": only}

    def read(name: Any, one: object) -> Any:
        place = join(key, name)
        check_name(name, place)
        return _read_value(item, kind, {} if one is None and kind is Experiment else one, place)

    return dict(zip(values, attempt_all(partial(read, *one) for one in values.items()), strict=True))


def _read_list(item: Field[Any], value: object, key: str) -> tuple[str, ...]:
    is_alone = "alone" in item.metadata
    if is_alone and (value is None or isinstance(value, str)):
        value = [] if value is None else [value]
    if not isinstance(value, list | tuple):
        wanted = "text or a list of text" if is_alone else "a list"
        raise wrong(key, f"must be {wanted}, not {show(value)}")
    return tuple(_read_scalar(item, str, entry, key) for entry in value)


def _check_name(of: str, name: object, key: str) -> None:
    """Reject a name that cannot be that of a file of translations."""
    if not isinstance(name, str) or not re.fullmatch(EXPERIMENT_PATTERN, name):
        allowed = "letters, digits, '.', '_' and '-', and must not be like reference.0"
        raise wrong(key, f": the name of {of} may contain {allowed}{_quotes(name)}")


def _check_text_name(of: str, excluded: Collection[str], name: object, key: str) -> None:
    """Reject a name of a corpus or test set that cannot be part of that of a file, or is a key."""
    if not isinstance(name, str):
        raise wrong(key, f": the name of a {of} must be text, not {show(name)}{_quotes(name)}")
    if name and (name in excluded or not re.fullmatch(TEST_SET_PATTERN, name)):
        allowed = f"letters, digits, '_' and '-', and must not be one of {', '.join(excluded)}"
        raise wrong(key, f": the name of a {of} may contain {allowed}")


def _check_label(label: object, key: str) -> None:
    if not isinstance(label, str):
        raise wrong(key, f": a label must be text, not {show(label)}{_quotes(label)}")
    if not re.fullmatch(LABEL_PATTERN, label):
        what = "a label is one word without '=', ',' and braces that does not begin with '-'"
        raise wrong(key, f": {what}, not {show(label)}")


# By type of the values of a section that has them by name: what it must contain, how many, and which names.
NAMED: dict[Any, tuple[str, int, Callable[[object, str], None]]] = {
    int: ("'name: number' lines", 1, _check_label),
    tuple[str, ...]: ("'name: file' lines", 1, partial(_check_name, "another system")),
    Experiment: ("'name: settings'", 0, partial(_check_name, "an experiment")),
    Split: ("files, or corpora by name", 0, partial(_check_text_name, "corpus", TEXT_KEYS[Split])),
    TestSet: ("files, or test sets by name", 0, partial(_check_text_name, "test set", TEXT_KEYS[TestSet])),
}


def _read_scalar(item: Field[Any], kind: type, value: object, key: str) -> Any:
    if item.metadata.get("pattern") == LABEL_PATTERN:
        _check_label(value, key)
    checked = _check_type(kind, value, key)
    _check_bounds(item.metadata, checked, key)
    return _clean_path(checked) if "path" in item.metadata else checked


def _clean_path(path: str) -> str:
    """Return a path as Snakemake expects it: it warns about ``a//b``, ``a/`` and ``./a``."""
    path = re.sub("/+", "/", os.path.expanduser(path))
    return re.sub(r"^(\./)+(?=.)", "", path.rstrip("/") or "/")


def _check_type(kind: type, value: Any, key: str) -> Any:
    if kind in (int, float) and type(value) is int and abs(value) > MAX_INTEGER:
        reject(key, value, f"at most {MAX_INTEGER}" if value > 0 else f"at least {-MAX_INTEGER}")
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is kind and (not isinstance(value, float) or math.isfinite(value)):
        if isinstance(value, str) and NO_TEXT.search(value):
            raise wrong(key, f"is {show(value)}, must be text without control characters")
        return value
    advice = _quotes(value) if kind is str else ""
    if kind is float and isinstance(value, str) and re.fullmatch(EXPONENT_NUMBER, value):
        number = float(value)
        if math.isfinite(number):
            advice = f"; YAML reads {value} as text, write {_yaml_number(number)}"
    raise wrong(key, f"must be {TYPE_NAMES[kind]}, not {show(value)}{advice}")


def _quotes(value: object) -> str:
    """Return advice on text that YAML takes for something else."""
    if isinstance(value, bool):
        words = "yes, on and true" if value else "no, off and false"
        return f"; YAML reads {words} in this way: put the word in quotes, as in '{'yes' if value else 'no'}'"
    if isinstance(value, int | float | datetime.date):
        return f"; put it in quotes: '{value}'"
    return ""


def _yaml_number(number: float) -> str:
    """Return a number in the syntax of YAML 1.1, with a point before an exponent."""
    mantissa, exponent, power = f"{number:.15g}".partition("e")
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else mantissa + exponent + power


def _check_bounds(bounds: Mapping[str, Any], value: Any, key: str) -> None:
    if "choices" in bounds and value not in bounds["choices"]:
        reject(key, value, one_of(value, bounds["choices"]))
    if "path" in bounds and not re.fullmatch(bounds["pattern"], value):
        what = "a path" if not value else "a path without control characters, { and }, Snakemake's wildcards"
        reject(key, value, what)
    if "pattern" in bounds and not re.fullmatch(bounds["pattern"], value):
        plain = value.lower().replace("_", "-")
        form = f"text of the form {bounds['pattern']}"
        reject(key, value, f"written '{plain}'" if re.fullmatch(bounds["pattern"], plain) else form)
    for bound, (word, is_out) in BOUNDS.items():
        if bound in bounds and is_out(value, bounds[bound]):
            reject(key, value, f"{word} {bounds[bound]}")
