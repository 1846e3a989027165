"""Keys of earlier versions: what their errors say instead of a guess."""

import dataclasses
import re
from pathlib import Path

import pytest
from tests.configs import experiment
from tests.refusals import input_error
from tests.unit.test_config_settings import read_by_steps

from itersel.config.names import RENAMED_KEYS
from itersel.config.reading import read_config
from itersel.config.sections import read_section
from itersel.config.values import Config
from itersel.keys import split_optional, types_of

CHANGES = Path(__file__).parents[2] / "CHANGELOG.md"


def sections_of(kind):
    """Yield a section and the sections in it, with all of their forms."""
    yield kind
    for item in dataclasses.fields(kind):
        inner, _ = split_optional(types_of(kind)[item.name])
        kinds = item.metadata.get("forms", {}).values() or (inner, *getattr(inner, "__args__", ()))
        for one in kinds:
            if dataclasses.is_dataclass(one):
                yield from sections_of(one)


SECTIONS = dict.fromkeys(section for kind in (Config, *read_by_steps()) for section in sections_of(kind))


def keys_of(kind):
    return {item.name for item in dataclasses.fields(kind)}


@pytest.mark.parametrize(("old", "new"), [(old, new) for old, names in RENAMED_KEYS.items() for new in names])
def test_sections_with_the_new_name_refuse_the_old_one(old, new):
    having = [kind for kind in SECTIONS if new in keys_of(kind) and old not in keys_of(kind)]
    assert having
    for kind in having:
        if old not in getattr(kind, "no_key_because", {}):
            with input_error(f"'x.{old}'", f"'x.{new}'"):
                read_section(kind, {old: 1}, "x")
    assert re.search(rf"[`.]{old}`", CHANGES.read_text())


@pytest.mark.parametrize(
    ("config", "old", "new"),
    [
        ({"evaluation": {"tokenize": "13a"}}, "tokenize", "retokenize"),
        ({"decoder": {"jobs": 2}}, "jobs", "pieces"),
        (experiment(learner={"strength": 0.1}), "strength", "strength_per_epoch"),
        (experiment(learner={"name": "mert", "directions": 3}), "directions", "random_directions"),
        (experiment(mixing={"name": "path-following", "threshold": 1}), "threshold", "first_threshold"),
        (experiment(tasks={"name": "natural", "minimum": 5}), "minimum", "minimum_sentences"),
        (experiment(held_out={}), "held_out", "retune"),
    ],
)
def test_keys_of_other_sections_or_forms_are_not_suggested(config, old, new):
    with input_error(f"{old}'", f"{new}'"):
        read_config({"experiments": {"a": {}}, **config})
