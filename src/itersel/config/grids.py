"""Grids: an experiment with lists of values expands to one experiment per combination."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from functools import partial
from typing import Any

from itersel.code.field_types import OneOf, Scalar, Section
from itersel.config.forms import possible_forms
from itersel.config.messages import check_unique, join, show, wrong
from itersel.config.values import Experiment
from itersel.errors import CombinedInputError, InputError, errors_of
from itersel.keys import types_of

MAX_COMBINATIONS = 1000


def without_grids(content: Any) -> tuple[Any, dict[str, str]]:
    """Turn each grid of an unread config into one experiment for each combination of its values.

    A grid is an experiment with lists instead of single values. Also returns the name of its grid for each
    experiment that comes from one.
    """
    given = content.get("experiments") if isinstance(content, Mapping) else None
    if not isinstance(given, Mapping):
        return content, {}

    experiments: dict[Any, Any] = {}
    grids: dict[str, str] = {}
    for name, settings in given.items():
        is_read = isinstance(name, str) and isinstance(settings, Mapping)
        unnamed = partial(possible_forms, settings)
        found = dict(_alternatives([Experiment], settings, unnamed)) if is_read else {}
        if not found:
            experiments[name] = settings
            continue

        for combination, one in _combinations(name, settings, found):
            if combination in given or combination in grids:
                raise wrong(join("experiments", name), f": there is another '{combination}'; rename one")
            experiments[combination], grids[combination] = one, name

    for name, settings in given.items():
        start = settings.get("start_from") if isinstance(settings, Mapping) else None
        if isinstance(start, str) and start in grids.values():
            names = ", ".join(one for one, grid in grids.items() if grid == start)
            raise wrong(join("experiments", f"{name}.start_from"), f"is a grid; choose one of {names}")

    return {**content, "experiments": experiments}, grids


def _alternatives(
    kinds: Sequence[Any], content: object, unnamed: Callable[[str], list[str]]
) -> Iterator[tuple[tuple[str, ...], Sequence[Any]]]:
    """Yield the path of keys and the values of each list that is used instead of a single value.

    `content` is a section of one of these kinds; `unnamed` returns the forms of one without a name.
    """
    if not isinstance(content, Mapping):
        return

    known = {item.name: types_of(kind)[item.name] for kind in reversed(kinds) for item in fields(kind)}

    for key, value in content.items():
        inner: Sequence[Any] = ()
        match known[key].content if key in known else None:
            case OneOf(choices) if isinstance(value, Mapping):
                names = value["name"] if "name" in value else unnamed(key)
                if "name" in value and _is_list(names):
                    yield (key, "name"), names
                listed = names if _is_list(names) else [names]
                inner = [choices[name] for name in listed if isinstance(name, str) and name in choices]
            case Section(section):
                inner = [section]
            case Scalar() if _is_list(value):
                yield (key,), value

        yield from (((key, *path), values) for path, values in _alternatives(inner, value, unnamed))


def _is_list(value: object) -> bool:
    """Return whether a value is a list of single values."""
    single = (str, int, float, type(None))
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(one, single) for one in value)


def _combinations(
    grid: str, settings: Mapping[str, Any], alternatives: Mapping[tuple[str, ...], Sequence[Any]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the settings of each experiment of a grid."""
    if (count := math.prod(map(len, alternatives.values()))) > MAX_COMBINATIONS:
        most = f"a grid may have at most {MAX_COMBINATIONS}"
        raise wrong(join("experiments", grid), f"stands for {count} experiments; {most}")
    for path, values in alternatives.items():
        check_unique(join("experiments", ".".join((grid, *path))), list(map(_label, values)))

    last = [path[-1] for path in alternatives]
    keys = ["-".join(path[-2:] if last.count(path[-1]) > 1 else path[-1:]) for path in alternatives]

    for values in itertools.product(*alternatives.values()):
        name = grid
        one = settings
        for key, path, value in zip(keys, alternatives, values, strict=True):
            name += f"-{_label(value)}" if path[-1] == "name" else f"-{key}-{_label(value)}"
            one = _with_value(one, path, value)
        yield name, one


def _label(value: str | float | None) -> str:
    """Return a value as part of a name: 0.00001, not 1e-05."""
    if isinstance(value, float) and math.isfinite(value) and abs(Decimal(str(value)).adjusted()) < 10:
        return format(Decimal(str(value)), "f")
    text = value if isinstance(value, str) else show(value)
    return re.sub("[^A-Za-z0-9._-]+", "-", text).rstrip("-")


def _with_value(settings: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    first, *rest = path
    return {**settings, first: _with_value(settings[first], rest, value) if rest else value}


def as_written(error: InputError, grids: Mapping[str, str]) -> InputError:
    """Return an error with the names that the config has: once for all experiments of a grid."""
    if not grids:
        return error
    # a name may be the beginning of another one
    names = "|".join(map(re.escape, sorted(grids, key=len, reverse=True)))
    pattern = re.compile(rf"(?<='experiments\.)({names})(?=['.])")
    messages = [pattern.sub(lambda found: grids[found[1]], one.message) for one in errors_of(error)]
    parts = [InputError(message) for message in dict.fromkeys(messages)]
    return parts[0] if len(parts) == 1 else CombinedInputError(parts)
