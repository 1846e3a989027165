"""Keys of earlier versions: what their errors say instead of a guess."""

import dataclasses
import re
from pathlib import Path

import pytest
from tests.configs import experiment
from tests.refusals import input_error
from tests.unit.test_config_settings import read_by_steps

from itersel.cli.main import make_parser
from itersel.cli.parser import RENAMED_OPTIONS, RENAMED_STEPS
from itersel.code.field_types import ByName, FieldType, ListOf, OneOf, Section
from itersel.config.names import RENAMED_KEYS
from itersel.config.reading import read_config
from itersel.config.sections import read_section
from itersel.config.values import Config
from itersel.keys import types_of

ROOT = Path(__file__).parents[2]
CHANGES = ROOT / "CHANGELOG.md"

# Old names of keys that still mean something else on the pages: a metric, a value of `features`, an argument.
NOT_ONLY_KEYS = {"bleu", "dense", "minimum"}


def sections_of(kind):
    """Yield a section and the sections in it, with all of their forms."""
    yield kind
    for item in dataclasses.fields(kind):
        match types_of(kind)[item.name].content:
            case OneOf(forms):
                inner = forms.values()
            case Section(one) | ByName(FieldType(Section(one))) | ListOf(FieldType(Section(one))):
                inner = [one]
            case _:
                inner = []
        for one in inner:
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


def options_of(parser):
    """Yield the options of all commands."""
    for action in parser._actions:
        yield from action.option_strings
        if action.nargs == "A...":
            for command in action.choices.values():
                yield from options_of(command)


# Names of datasets, attributes and JSON keys are those of files.
PAGES = [ROOT / "README.md", *(page for page in (ROOT / "docs").glob("*.md") if page.name != "formats.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_have_no_old_names(page):
    keys = {name for section in sections_of(Config) for name in keys_of(section)}
    old_keys = RENAMED_KEYS.keys() - keys - NOT_ONLY_KEYS
    options = set(options_of(make_parser(is_full=True)))
    old_options = RENAMED_OPTIONS.keys() - options
    old_commands = {f"step {name}" for name in RENAMED_STEPS}

    # in running text; the tests of the documentation parse the commands in blocks of code
    for code in re.findall(r"`([^`\n]+)`", re.sub(r"(?ms)^```.*?^```", "", page.read_text())):
        first, *inner = re.split("[:=]", code)[0].split(".")
        # `Example.rate` is an attribute, `data.cut` a key
        if not inner or first in keys:
            assert not old_keys & {first, *inner}, code
        assert not old_options & set(re.findall(r"--[\w-]+", code)), code
        assert not old_commands & set(re.findall(r"step [\w-]+", code)), code
