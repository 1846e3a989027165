"""Turn a mapping, such as Snakemake's `config`, into a checked `Config`."""

from __future__ import annotations

import datetime
import functools
import math
import os
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from functools import partial
from typing import Any

from itersel.config.checks import check_experiments, check_models, with_folds
from itersel.config.data import Split, TestSet
from itersel.config.data_checks import check_data
from itersel.config.defaults import with_tuning_defaults
from itersel.config.experiments import as_written, without_grids
from itersel.config.mixing import ALGORITHMS, MIXINGS, Nothing
from itersel.config.options import (
    BOUNDS,
    EXPERIMENT_PATTERN,
    LABEL_PATTERN,
    join,
    name_in,
    one_of,
    reject,
    show,
    split_optional,
    types_of,
    wrong,
)
from itersel.config.tuners import DENSE_TUNERS, TUNERS, Batch
from itersel.config.values import CHOICES, DEFAULT_CHOICES, Config, Experiment
from itersel.config.yaml_loader import read_yaml
from itersel.errors import FilePath, InputError, attempt_all, located, suggest
from itersel.evaluate.tokenizers import check_tokenizer, tokenizer_of
from itersel.limits import MAX_INTEGER, NO_TEST_SETS, TEST_SET_PATTERN

EXPONENT_NUMBER = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+"
# No file name or argument of a command can hold NUL or half a surrogate pair; none should hold the others.
NO_TEXT = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
TYPE_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def load_config(*paths: FilePath) -> Config:
    """Read and check a config of YAML or JSON files; those after the first change it, as in Snakemake."""
    content = functools.reduce(_changed_by, map(read_yaml, paths))
    with located(", ".join(os.fspath(path) for path in paths)):
        return read_config(content)


def _changed_by(old: Any, new: Any) -> Any:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {**old, **{key: _changed_by(old.get(key), value) for key, value in new.items()}}
    return new


def read_config(content: object) -> Config:
    """Check a mapping and fill in the defaults.

    All unknown keys and wrong values are reported together or, if there are none, all conflicts: an
    InputError of one line names the key, a CombinedInputError has several.
    """
    content, grids = without_grids({} if content is None else content)
    try:
        return _read_config(content)
    except InputError as error:
        raise as_written(error, grids) from None


def _read_config(content: object) -> Config:
    config: Config = _read_section(Config, content, "")
    assert isinstance(content, Mapping)
    config = with_tuning_defaults(config, content)
    tokenizer = config.evaluation.tokenizer or tokenizer_of(config.data.target_language)
    checks = [partial(check, config) for check in (check_data, check_models, check_experiments)]
    attempt_all([*checks, partial(check_tokenizer, tokenizer)])
    return with_folds(config)


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
    chosen = rest.pop("name", DEFAULT_CHOICES.get(item.name, MISSING))
    if chosen is MISSING:
        raise wrong(f"{key}.name", f"is missing; one of {', '.join(choices)}")
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
    if kind == dict[str, Experiment]:
        settings = _mapping(value, key, "'name: settings'")
        return _read_all(partial(_read_experiment, key), settings)
    if kind in (dict[str, TestSet], dict[str, Split]):
        return _read_texts(typing.get_args(kind)[1], value, key)
    if kind == dict[str, int]:
        return _read_numbers(item, value, key)
    if kind == dict[str, tuple[str, ...]]:
        outputs = _mapping(value, key, "'name: file' lines", least=1)
        return _read_all(partial(_read_output, item, key), outputs)
    if typing.get_origin(kind) is tuple:
        return _read_list(item, value, key)
    if isinstance(value, list | tuple) and "no_list" in item.metadata:
        raise wrong(key, f"must be text, not a list: {item.metadata['no_list']}")
    return _read_scalar(item, kind, value, key)


def _read_all(read: Callable[[Any, Any], Any], values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return what is read of each name and value, or raise the errors of all of them."""
    return dict(zip(values, attempt_all(partial(read, *one) for one in values.items()), strict=True))


def _read_list(item: Field[Any], value: object, key: str) -> tuple[str, ...]:
    is_alone = "alone" in item.metadata
    if is_alone and (value is None or isinstance(value, str)):
        value = [] if value is None else [value]
    if not isinstance(value, list | tuple):
        wanted = "text or a list of text" if is_alone else "a list"
        raise wrong(key, f"must be {wanted}, not {show(value)}")
    return tuple(_read_scalar(item, str, entry, key) for entry in value)


def _read_output(item: Field[Any], section: str, name: object, value: object) -> tuple[str, ...]:
    key = join(section, name)
    _check_name(name, key, "another system")
    return _read_list(item, value, key)


def _check_name(name: object, key: str, of: str) -> None:
    """Reject a name that cannot be that of a file of translations."""
    if not isinstance(name, str) or not re.fullmatch(EXPERIMENT_PATTERN, name):
        raise wrong(
            key,
            f": the name of {of} may contain letters, digits, '.', '_' and '-', and must not be like "
            f"reference.0{_quotes(name)}",
        )


def _read_numbers(item: Field[Any], value: object, key: str) -> dict[str, int]:
    numbers = _mapping(value, key, "'name: number' lines", least=1)
    for name in numbers:
        _check_label(name, join(key, name))
    return {name: _read_scalar(item, int, number, join(key, name)) for name, number in numbers.items()}


def _check_label(label: object, key: str) -> None:
    if not isinstance(label, str):
        raise wrong(key, f": a label must be text, not {show(label)}{_quotes(label)}")
    if not re.fullmatch(LABEL_PATTERN, label):
        what = "a label is one word without '=', ',' and braces that does not begin with '-'"
        raise wrong(key, f": {what}, not {show(label)}")


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


def _read_texts(kind: Any, value: object, key: str) -> dict[str, Any]:
    """Read a corpus or test set without a name (the empty one), or several by name."""
    what, plural, excluded = "corpus", "corpora", tuple(item.name for item in fields(Split))
    if kind is TestSet:
        what, plural, excluded = "test set", "test sets", NO_TEST_SETS
    texts = _mapping(value, key, f"files, or {plural} by name")
    keys = {item.name for item in fields(kind)}
    if set(texts) <= keys or not all(isinstance(text, Mapping) for text in texts.values()):
        only = _read_section(kind, texts, key)
        return {} if only == TestSet() else {"": only}
    for name in texts:
        if not isinstance(name, str):
            message = f": the name of a {what} must be text, not {show(name)}{_quotes(name)}"
            raise wrong(join(key, name), message)
    found = _read_all(lambda name, text: _read_section(kind, text, join(key, name)), texts)
    for name in found:
        if name and (name in excluded or not re.fullmatch(TEST_SET_PATTERN, name)):
            raise wrong(
                join(key, name),
                f": the name of a {what} may contain letters, digits, '_' and '-', and must not be one of "
                f"{', '.join(excluded)}",
            )
    return found


def _read_experiment(section: str, name: object, settings: object) -> Experiment:
    """Read an experiment; its algorithm determines its mixing."""
    key = join(section, name)
    _check_name(name, key, "an experiment")
    settings = {} if settings is None else settings
    experiment: Experiment = _read_section(Experiment, settings, key)
    assert isinstance(settings, Mapping)
    if isinstance(experiment.learner, Batch):
        return _read_batch(experiment, settings, key)
    if experiment.algorithm is not None:
        return _read_algorithm(experiment, settings, key)
    return experiment


def _read_algorithm(experiment: Experiment, settings: Mapping[str, Any], key: str) -> Experiment:
    """Return an experiment with the mixing that its algorithm implies."""
    assert experiment.algorithm is not None
    mixing, given = ALGORITHMS[experiment.algorithm], name_in(MIXINGS, experiment.mixing)
    if "mixing" not in settings:
        return replace(experiment, mixing=MIXINGS[mixing]())
    if given != mixing:
        raise wrong(
            f"{key}.mixing.name",
            f"is {given}, but algorithm: {experiment.algorithm} implies mixing {mixing}; remove one of them",
        )
    return experiment


def _read_batch(experiment: Experiment, settings: Mapping[str, Any], key: str) -> Experiment:
    """Return an experiment with a batch tuner, which produces one weight vector, so nothing is mixed."""
    assert isinstance(experiment.learner, Batch)
    name = name_in(TUNERS, experiment.learner)
    if experiment.algorithm is not None:
        raise wrong(f"{key}.algorithm", f"names a mixing, and learner {name} has nothing to mix; remove it")
    if "mixing" in settings and not isinstance(experiment.mixing, Nothing):
        raise wrong(
            f"{key}.mixing.name",
            f"is {name_in(MIXINGS, experiment.mixing)}, but learner {name} tunes "
            "one weight vector on all shards; remove the key",
        )
    if isinstance(experiment.learner, DENSE_TUNERS) and experiment.features != "dense":
        raise wrong(
            f"{key}.features",
            f"is {experiment.features}, must be dense with learner {name}: it searches along every feature",
        )
    return replace(experiment, mixing=Nothing())


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
