"""The forms of an experiment's sections, and the values that they imply, in a config that is not yet read.

`with_forms` fills in the forms of sections (`learner: {name: adagrad}`), and values whose default depends on
the tuning corpus. The reader then finds them as if they had been stated, so stating one changes nothing, and
a section that is written in part keeps the other defaults. After reading, `itersel.config.defaults` fills in
what is still null.

The defaults for each tuning corpus were chosen on devtest, in experiments with earlier versions
(docs/experiments.md).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from itersel.config.mixing import ALGORITHMS, MIXINGS
from itersel.config.options import default_form, default_of, name_in, types_of
from itersel.config.tuners import TUNERS
from itersel.config.values import ALL_LEARNERS, TUNING_SETS, Experiment
from itersel.errors import InputError

# The sections on whose forms other defaults depend.
SECTIONS = ("learner", "mixing")


class FormNames(NamedTuple):
    """The forms of the sections of an experiment, by name; `tuner` is the form of held_out.tuner."""

    tune_on: str
    learner: str
    mixing: str
    tasks: str
    tuner: str
    conditions: frozenset[str]  # the conditions that hold; see `option`


def forms_of(
    algorithm: object = None, tune_on: object = None, learner: object = None, mixing: object = None
) -> FormNames:
    """Return the forms of an experiment, given those that it states; None for the others.

    Wrong values are left to the reader.
    """
    learner = _default_learner() if learner is None else learner
    is_tuned, is_sgd = _is_batch(learner), algorithm == "sgd"

    if tune_on is None:
        tune_on = "dev" if is_tuned or is_sgd else "train"
    on_train = tune_on == "train"

    if mixing is None and is_tuned:
        mixing = "none"  # there is one weight vector
    elif mixing is None:
        mixing = ALGORITHMS.get(str(algorithm), "selection" if on_train else "mean-of-epochs")

    is_mixed = on_train and not (is_tuned or is_sgd or mixing == "none")
    tasks = "resharding" if is_mixed and mixing != "path-following" else "random"
    tuner = "kbest-mira" if on_train and not is_tuned else "none"

    conditions = frozenset([str(tune_on), *(["mixed"] if is_mixed else [])])
    return FormNames(str(tune_on), str(learner), str(mixing), tasks, tuner, conditions)


@functools.cache
def _is_batch(learner: object) -> bool:
    """Return whether a learner is a batch tuner; False for wrong names."""
    return bool(learner) and ALL_LEARNERS.part(learner) is TUNERS


def _default_learner() -> str:
    """Return the learner of a section that names none, as other readers of the section do."""
    return default_form(Experiment.__dataclass_fields__["learner"])


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
    forms = forms_of(algorithm, tune_on, learner, mixing)

    sections = (*SECTIONS, "tasks")
    named = {**settings, **{name: _named(settings, name, getattr(forms, name)) for name in sections}}
    named.setdefault("tune_on", forms.tune_on)

    held_out = settings.get("held_out", {})
    if isinstance(held_out, Mapping):
        named["held_out"] = {**held_out, "tuner": _named(held_out, "tuner", forms.tuner)}

    return _with_values(Experiment, named, forms.conditions)


def _form(settings: Mapping[Any, Any], section: str) -> object:
    """Return the name that a section states; None if it states none."""
    given = settings.get(section)
    return given.get("name") if isinstance(given, Mapping) else None


def _text(value: object) -> str | None:
    """Return a value that can be a name; a wrong one is like an unknown name."""
    return value if value is None or isinstance(value, str) else ""


def _named(settings: Mapping[Any, Any], section: str, name: str) -> Any:
    """Return a section with this name, unless it states its own."""
    given = settings.get(section, {})
    return {"name": name, **given} if isinstance(given, Mapping) else given


def _with_values(kind: Any, settings: Mapping[Any, Any], conditions: Collection[str]) -> dict[Any, Any]:
    """Return a section that states the values whose defaults differ under these conditions."""
    filled = dict(settings)
    for item in fields(kind):
        given = settings.get(item.name)
        inner = types_of(kind)[item.name]
        if "forms" in item.metadata:
            inner = _kind(item.metadata["forms"], _text(_form(settings, item.name)))
        if isinstance(given, Mapping) and is_dataclass(inner):
            filled[item.name] = _with_values(inner, given, conditions)
        elif item.name not in settings and "on" in item.metadata:
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
    wanted = (settings.get("algorithm"), ALGORITHMS), (settings.get("tune_on"), TUNING_SETS)
    learners, mixings = (_form(settings, name) for name in SECTIONS)
    tuners = {name for name in map(_text, _listed(learners)) if _is_batch(name)}
    forms = (learners, tuners), (mixings, MIXINGS)
    combinations = itertools.product(*itertools.starmap(_alternatives, (*wanted, *forms)))
    return [*dict.fromkeys(getattr(forms_of(*one), section) for one in combinations)]


def _alternatives(value: object, known: Container[str | None]) -> Iterator[str | None]:
    """Yield the different values on which forms depend; all unknown ones are alike."""
    texts = (_text(one) for one in _listed(value))
    yield from dict.fromkeys(one if one is None or one in known else "" for one in texts)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else [value]


def default_forms(experiment: Experiment) -> FormNames:
    """Return the form that each section of an experiment would have if it stated none."""
    algorithm, tune_on = experiment.algorithm, experiment.tune_on
    learner = name_in(ALL_LEARNERS, experiment.learner)
    mixing = name_in(MIXINGS, experiment.mixing)
    return forms_of(algorithm, tune_on, learner, mixing)._replace(
        tune_on=forms_of(algorithm, None, learner).tune_on,
        learner=_default_learner(),
        mixing=forms_of(algorithm, tune_on, learner).mixing,
    )
