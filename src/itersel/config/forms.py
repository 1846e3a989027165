"""The forms of an experiment's sections and their defaults, which depend on other keys.

Before a config is read, `with_forms` fills in the forms of sections (`learner: {name: adagrad}`) and the
values of keys whose default depends on other keys. The keys declare these defaults and their conditions
(``on=...``); this module decides which conditions hold. The reader cannot tell these values from stated
ones, so stating a default changes nothing, and a section that is written in part keeps the other defaults.
After reading, `itersel.config.defaults` fills in values that are still null. Settings of a command or of
Python have no such conditions, because they do not say what they tune on: they always have a key's first
default.

The defaults for each tuning corpus were chosen on devtest, in experiments with earlier versions
(docs/experiments.md).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import Field, fields
from typing import Any

from itersel.code.field_types import OneOf, Section
from itersel.config.conditions import BATCH_TUNER, MIXED_WEIGHTS, algorithm_is, mixing_is
from itersel.config.mixing import ALGORITHMS, MIXINGS, NO_MIXING, SGD
from itersel.config.tuners import TUNERS
from itersel.config.values import ALL_LEARNERS, TUNING_SETS, Experiment
from itersel.errors import InputError
from itersel.keys import declared, default_form, default_of, name_in, types_of

# The sections on whose forms other defaults depend.
SECTIONS = ("learner", "mixing")


def conditions_of(
    algorithm: object = None, tune_on: object = None, learner: object = None, mixing: object = None
) -> frozenset[str]:
    """Return the conditions that hold in an experiment, given the forms that it states; None for the others.

    Keys declare which defaults they have under which of them (``on`` of `itersel.keys.Declaration`). Wrong
    values are left to the reader.
    """
    key = Experiment.__dataclass_fields__
    found = set()
    if _is_batch(default_form(key["learner"]) if learner is None else learner):
        found.add(BATCH_TUNER)
    if algorithm is not None:
        found.add(algorithm_is(algorithm))

    tune_on = default_of(key["tune_on"], found) if tune_on is None else tune_on
    found.add(f"tune_on: {tune_on}")
    mixing = default_form(key["mixing"], found) if mixing is None else mixing
    found.add(mixing_is(mixing))

    if found.isdisjoint([BATCH_TUNER, algorithm_is(SGD), mixing_is(NO_MIXING)]):
        found.add(MIXED_WEIGHTS)
    return frozenset(found)


@functools.cache
def _is_batch(learner: object) -> bool:
    """Return whether a learner is a batch tuner; False for wrong names."""
    return bool(learner) and ALL_LEARNERS.part(learner) is TUNERS


def with_forms(content: Any) -> Any:
    """Return an unread config, without grids, whose experiments state forms and the values they imply."""
    given = content.get("experiments") if isinstance(content, Mapping) else None
    if not isinstance(given, Mapping):
        return content
    return {**content, "experiments": {name: _filled(one) for name, one in given.items()}}


def _filled(settings: Any) -> Any:
    settings = {} if settings is None else settings
    if not isinstance(settings, Mapping):
        return settings

    algorithm, tune_on = (_text(settings.get(name)) for name in ("algorithm", "tune_on"))
    learner, mixing = (_text(_form(settings, name)) for name in SECTIONS)
    return _with_defaults(Experiment, settings, conditions_of(algorithm, tune_on, learner, mixing))


def _form(settings: Mapping[Any, Any], section: str) -> object:
    """Return the name that a section states; None if it states none."""
    given = settings.get(section)
    return given.get("name") if isinstance(given, Mapping) else None


def _text(value: object) -> str | None:
    """Return a value that can be a name; a wrong one is like an unknown name."""
    return value if value is None or isinstance(value, str) else ""


def _with_defaults(kind: Any, settings: Mapping[Any, Any], conditions: Collection[str]) -> dict[Any, Any]:
    """Return a section that states its forms and the values whose defaults depend on conditions."""
    filled = dict(settings)
    for item in fields(kind):
        given = settings.get(item.name, {})
        inner = None
        match types_of(kind)[item.name].content:
            case OneOf(forms) if isinstance(given, Mapping):
                given = {"name": default_form(item, conditions), **given}
                filled[item.name] = given
                inner = _kind(forms, _text(given["name"]))
            case Section(section):
                inner = section

        if isinstance(given, Mapping) and inner is not None:
            filled[item.name] = _with_defaults(inner, given, conditions)
        elif item.name not in filled and declared(item).on:
            filled[item.name] = default_of(item, conditions)
    return filled


def _kind(forms: Mapping[str, Any], name: str | None) -> Any:
    """Return a form of a section; None if the name is wrong, or names a plugin that cannot be used."""
    try:
        return None if name is None else forms.get(name)
    except InputError:
        return None


def possible_forms(settings: Mapping[Any, Any], section: str) -> list[str]:
    """Return the names that a section without a name can have in the experiments of a grid."""
    learners, mixings = (_form(settings, name) for name in SECTIONS)
    tuners = {name for name in map(_text, _listed(learners)) if _is_batch(name)}

    combinations = itertools.product(
        _alternatives(settings.get("algorithm"), ALGORITHMS),
        _alternatives(settings.get("tune_on"), TUNING_SETS),
        _alternatives(learners, tuners),
        _alternatives(mixings, MIXINGS),
    )

    item = _sections_with_forms(Experiment)[section]
    return [*dict.fromkeys(default_form(item, conditions_of(*one)) for one in combinations)]


def _sections_with_forms(kind: Any) -> dict[str, Field[Any]]:
    """Return the sections with several forms in a section, and in other sections in it."""
    found = {}
    for item in fields(kind):
        match types_of(kind)[item.name].content:
            case OneOf():
                found[item.name] = item
            case Section(section):
                found |= _sections_with_forms(section)
    return found


def _alternatives(value: object, known: Container[str | None]) -> Iterator[str | None]:
    """Yield the different values on which forms depend; all unknown ones are alike."""
    texts = (_text(one) for one in _listed(value))
    yield from dict.fromkeys(one if one is None or one in known else "" for one in texts)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else [value]


def conditions_in(experiment: Experiment) -> frozenset[str]:
    """Return the conditions that hold in an experiment that has been read."""
    learner, mixing = name_in(ALL_LEARNERS, experiment.learner), name_in(MIXINGS, experiment.mixing)
    return conditions_of(experiment.algorithm, experiment.tune_on, learner, mixing)
