"""The settings of steps: one value, written as JSON and read back, or a file that somebody has written."""

import argparse
import dataclasses
import importlib
import io
import json
import math
import string

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.configs import experiment
from tests.plans import job, plan_of
from tests.refusals import input_error
from tests.unit.test_config_defaults import with_plugin

from itersel.code.field_types import ByName, ListOf, OneOf, Scalar, Section
from itersel.config import division, evaluation, report_steps, search
from itersel.config.command_line import add_key
from itersel.config.learners import LEARNERS, Online, default_learner
from itersel.config.learning_steps import GivenListTrainSettings, MixSettings, TrainSettings
from itersel.config.plain import plain, recorded
from itersel.config.reading import read_config
from itersel.config.section_checks import check_section
from itersel.config.sections import read_section
from itersel.config.settings import SETTINGS_MODULES, as_json, read_settings
from itersel.config.tasks import TASKS
from itersel.config.tuners import TUNERS
from itersel.config.values import Config, Experiment
from itersel.errors import InputError
from itersel.keys import (
    MAX_SEED,
    MIN_SEED,
    REQUIRED,
    Declaration,
    declared,
    documented,
    key,
    key_of,
    name_in,
    section,
    seed_key,
    types_of,
)

NAMES = st.text(string.ascii_letters, min_size=1, max_size=5)
# Those that begin with an ellipsis or contain an apostrophe are safe in a shell only if they are quoted.
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), min_size=1, max_size=9)


def read_by_steps():
    """Return the sections that steps read."""
    found = []
    for name in SETTINGS_MODULES:
        module = importlib.import_module(f"itersel.config.{name}")
        own = [one for one in vars(module).values() if getattr(one, "__module__", "") == module.__name__]
        found += [one for one in own if dataclasses.is_dataclass(one)]
    return found


def contents(kind):
    """Return a strategy for the content of a section."""
    stated, needed = {}, {}
    for item in dataclasses.fields(kind):
        values = values_of(item, types_of(kind)[item.name])
        is_needed = item.default is item.default_factory is dataclasses.MISSING
        (needed if is_needed else stated)[item.name] = values
    return st.fixed_dictionaries(needed, optional=stated)


def values_of(item, kind):
    """Return a strategy for the value of a key."""
    declaration = declared(item)
    match kind.content:
        case OneOf(forms):
            values = st.one_of(
                contents(form).map(lambda keys, name=name: {"name": name, **keys})
                for name, form in forms.items()
            )
        case Section(section):
            values = contents(section)
        case ByName(entry):
            least = declaration.names.least
            values = st.dictionaries(NAMES, values_of(item, entry), min_size=least, max_size=2)
        case ListOf(entry):
            values = st.lists(values_of(item, entry), max_size=3)
        case Scalar(scalar):
            values = scalars(declaration, scalar)
    return values | st.none() if kind.is_optional else values


def scalars(declaration, kind):
    if declaration.choices is not None:
        return st.sampled_from(sorted(declaration.choices))
    limits = declaration.limits
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(limits.get("minimum", -5), min(limits.get("maximum", math.inf), 10**6))
    if kind is float:
        least, above = declaration.minimum, declaration.above
        return st.floats(
            least if above is None else above,
            limits.get("maximum", 1e300),
            exclude_min=above is not None,
            allow_nan=False,
            allow_infinity=False,
        )
    return NAMES if declaration.pattern is not None else TEXTS


def is_not_passed(item):
    """Return whether a key is no part of the settings that the workflow passes."""
    return declared(item).place or declared(item).changes_no_result


def as_passed(section):
    """Return a section in which keys that are not passed have their defaults, also in sections in it."""
    values = {}
    for item in dataclasses.fields(section):
        value = getattr(section, item.name)
        if is_not_passed(item):
            values[item.name] = item.default
        elif dataclasses.is_dataclass(value):
            values[item.name] = as_passed(value)
    return dataclasses.replace(section, **values)


def unstated(section, content):
    """Yield the keys of a section, and of sections in it, that its content lacks."""
    for item in dataclasses.fields(section):
        value = getattr(section, item.name)
        if item.name not in content:
            yield item
        elif dataclasses.is_dataclass(value):
            yield from unstated(value, content[item.name])


@pytest.mark.parametrize(
    ("kind", "wrong", "named"),
    [
        (division.Labelled, {"labels": {"a": 0}}, ["labels.a", "0"]),
        (division.Labelled, {"labels": {"a": 1.5}}, ["labels.a", "1.5"]),
        (division.Labelled, {"labels": {"a=b": 1}}, ["labels.a=b"]),
        (division.Labelled, {"labels": {}}, ["labels"]),
        (division.Labelled, {"labels": ["a"]}, ["labels", "['a']"]),
        (evaluation.UserScore, {"system_numbers": {"a": "file"}}, ["system_numbers.a", "file"]),
        (search.TranslationSettings, {"grammar": 3}, ["grammar", "3"]),
        (TrainSettings, {"learner": TUNERS["pro"]()}, ["learner", "Pro("]),
        (TrainSettings, {"learner": LEARNERS["mira"]}, ["learner", "Mira"]),
        (MixSettings, {"mixing": default_learner()}, ["mixing", "AdaGrad("]),
        (division.DivideSettings, {"division": default_learner()}, ["division", "AdaGrad("]),
        (search.TranslationSettings, {"mbr": {"size": 3}}, ["mbr", "3"]),
    ],
)
def test_values_by_name_and_sections_from_python_are_checked(kind, wrong, named):
    with input_error(*named):
        check_section(kind(**wrong))


@pytest.mark.parametrize("kind", read_by_steps(), ids=lambda kind: kind.__name__)
def test_what_is_written_is_read(kind):
    """By generation, over all keys and forms, those of installed packages included."""

    @with_plugin
    @given(contents(kind))
    def check(content):
        try:
            section = read_section(kind, content)
        except InputError:  # keys conflict
            return
        written = as_json(section)
        assert read_section(kind, plain(section)) == section
        assert read_settings(kind, written) == as_passed(section)
        # every other key is stated
        assert all(map(is_not_passed, unstated(section, json.loads(written))))
        assert "\n" not in written

    check()


def test_a_config_is_written_and_read():
    config = read_config({"experiments": {"a": {}, "b": {"tasks": {"name": "natural", "labels": {"x": 2}}}}})
    assert read_section(Config, json.loads(as_json(config))) == config


def test_settings_in_a_file(tmp_path):
    """YAML or JSON, with some keys of an experiment; the same value is the same settings."""
    content = {"learner": {"name": "mira", "c": 1e-05}, "k_best": 7}
    for name, text in (("a.yaml", yaml.safe_dump(content)), ("a.json", json.dumps(content))):
        (tmp_path / name).write_text(text)
        assert read_settings(TrainSettings, str(tmp_path / name)) == read_section(TrainSettings, content)
    # the name is that of the default
    (tmp_path / "b.yaml").write_text("mixing: {threshold: 0.5}")
    assert read_settings(MixSettings, str(tmp_path / "b.yaml")).mixing.threshold == 0.5


def test_settings_on_standard_input(monkeypatch):
    """Those of hundreds of systems are longer than Linux lets an argument be."""
    one = report_steps.ScoredSystem("x" * 100, "y" * 100)
    given = report_steps.TaskTableSettings(tasks=("a",), systems=(one,) * 2000)
    monkeypatch.setattr("sys.stdin", io.StringIO(as_json(given)))
    assert read_settings(report_steps.TaskTableSettings, "-") == given
    for stream in (io.StringIO("tasks: [a]"), None):  # or it is closed
        monkeypatch.setattr("sys.stdin", stream)
        with input_error("<stdin>", "JSON"):
            read_settings(report_steps.TaskTableSettings, "-")


@pytest.mark.parametrize(
    ("kind", "text", "key"),
    [
        (TrainSettings, '{"learner": {"name": "mira", "c": -1}}', "'learner.c'"),
        (TrainSettings, '{"learner": {"name": "mert"}}', "'learner.name'"),
        (TrainSettings, '{"learner": {"strength_per_epoch": 0}}', "'learner.strength_per_epoch'"),
        (TrainSettings, '{"k_best": 0}', "'k_best'"),
        (TrainSettings, '{"k_best": 1e400}', "'k_best'"),
        (TrainSettings, '{"k_best": NaN}', "NaN"),
        (TrainSettings, '{"kbest": 5}', "'kbest'"),
        (TrainSettings, '{"k_best": 5, "k_best": 6}', "'k_best'"),
        (TrainSettings, '{"k_best": 5', "not JSON"),
        (GivenListTrainSettings, '{"pop_limit": 200}', "'pop_limit'"),
        (MixSettings, '{"mixing": {"select": 1, "threshold": 2}}', "'mixing.threshold'"),
        (MixSettings, '{"mixing": {"name": "mean", "select": 1}}', "'mixing.select'"),
        (MixSettings, '{"mixing": {"name": "path-following", "first_threshold": 1}}', "'mixing.epsilon'"),
        (MixSettings, '{"mixing": {"name": "none"}, "shards": 2}', "'shards'"),
        (TrainSettings, '{"a":' * 20_000, "nested too deep"),
        (TrainSettings, '{"templates": ["R", "R"]}', "'templates'"),
        (TrainSettings, "{", "not JSON"),
        (report_steps.ChooseSettings, '{"scoring": {"tokenizer": "13a"}}', "'name'"),
        (report_steps.TaskTableSettings, '{"tasks": ["a"], "systems": []}', "'systems'"),
        (report_steps.TaskTableSettings, '{"tasks": ["a b"], "systems": []}', "'tasks'"),
        (division.DivideSettings, '{"division": {"name": "pooled", "labels": []}}', "'division.labels'"),
        (report_steps.JoinSettings, '{"translations": {}}', "'translations'"),
        (
            division.DivideSettings,
            '{"division": {"name": "labelled", "labels": {"a b": 1}}}',
            "'division.labels.a b'",
        ),
    ],
)
def test_wrong_settings(kind, text, key):
    """One line, as for a config; it says where the value comes from."""
    with input_error("--settings:") as error:
        read_settings(kind, text)
    assert key in str(error.value)
    assert "\n" not in str(error.value)


def test_files_record_what_the_workflow_passes():
    """With the name of each form, and without the place in the run and what changes no result."""
    found = recorded(TrainSettings(k_best=7, epoch=3, shard_number=2, measure_loss=True))
    passed = json.loads(as_json(TrainSettings(k_best=7, measure_loss=True)))
    assert passed == found | {"measure_loss": True}
    assert (found["learner"]["name"], found["k_best"]) == ("adagrad", 7)
    assert not {"epoch", "shard_number", "measure_loss"} & found.keys()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Declared:
    """An example of a declaration."""

    name: str = key("Name of the run.", REQUIRED)
    threads: int = key("Number of threads.", 1, minimum=1, maximum=8, changes_no_result=True)
    learner: Online = section(default_learner, "The learner.", forms=LEARNERS)


def test_declarations_are_changed():
    """In all ways in which a key can be declared: False is like nothing, and None removes."""
    free = declared(key_of(Declared, "threads", maximum=None, changes_no_result=False))
    assert free == declared(key("Number of threads.", 1, minimum=1))
    assert free == Declaration("Number of threads.", minimum=1)
    assert key_of(Declared, "threads", default=2).default == 2
    with pytest.raises(TypeError, match="least"):
        key_of(Declared, "threads", least=1)


@pytest.mark.parametrize("kind", [Config, Experiment, *read_by_steps()])
def test_seeds_have_the_same_bounds(kind):
    expected = declared(seed_key("A seed."))
    for item in dataclasses.fields(kind):
        if item.name == "seed":
            assert dataclasses.replace(declared(item), explanation=expected.explanation) == expected


@pytest.mark.parametrize("seed", [MIN_SEED, MAX_SEED])
def test_steps_take_the_seeds_of_a_config(seed):
    plan = plan_of({"a": {"learner": {"name": "adagrad"}}}, seed=seed)
    place = job(split="train", division=plan.divisions.name(plan.config.experiments["a"]))
    assert read_settings(TrainSettings, plan.origin.train_settings(place)).seed == seed
    assert plan.divisions.division(place).seed == seed


def test_declarations_of_sections_stay():
    assert declared(key_of(Declared, "learner")) == declared(Declared.__dataclass_fields__["learner"])
    with pytest.raises(TypeError, match="learner"):
        key_of(Declared, "learner", explanation="Another.")


def test_docstrings_show_defaults():
    assert "learners.Online\n" in documented(Declared).__doc__
    assert "mixing : Mixing, default: Selection()" in MixSettings.__doc__
    assert "threads : int, default: 1" in Declared.__doc__
    assert "name : str\n" in Declared.__doc__


def test_defaults_that_depend_on_the_config_are_shown():
    """Commands and Python have the first default."""
    mira = TUNERS["kbest-mira"]
    assert "c : float, default: 0.01; in a config, 0.001 with tune_on: train\n" in mira.__doc__
    assert "default: 'papineni'; in a config, 'lin' with tune_on: dev\n" in LEARNERS["perceptron"].__doc__
    parser = argparse.ArgumentParser()
    add_key(parser, mira, "c")
    assert "(default: 0.01; in a config, 0.001 with tune_on: train)" in " ".join(parser.format_help().split())


def test_the_explanation_of_retune_states_its_default():
    tuner = read_config(experiment()).experiments["a"].retune.tuner
    explanation = declared(Experiment.__dataclass_fields__["retune"]).explanation
    assert f"by default with {name_in(TUNERS, tuner)}." in explanation


@pytest.mark.parametrize("kind", [search.KBestSettings, search.ForestSettings])
def test_place_of_decoding_is_neither_passed_nor_recorded(kind):
    """Rules do not run again because of it, and files have attributes of their own for it."""
    given, plain = '{"features": "dense"}', kind(features="dense")
    found = read_settings(kind, given, {"iteration": 3, "file_number": 2})
    assert found == kind(features="dense", iteration=3, file_number=2)
    assert read_settings(kind, given, {"iteration": None, "file_number": None}) == plain
    assert (as_json(found), recorded(found)) == (as_json(plain), recorded(plain))


@pytest.mark.parametrize("kind", TASKS.values())
def test_what_changes_no_result_is_neither_passed_nor_recorded(kind):
    """Also in sections within: no job runs again because of it."""
    one = dataclasses.replace(Experiment(), tasks=kind(shards_per_array_task=2))
    other = dataclasses.replace(Experiment(), tasks=kind())
    assert one != other
    assert recorded(one) == recorded(other)
    assert as_json(one) == as_json(other)
    assert "shards_per_array_task" not in recorded(one)["tasks"]
