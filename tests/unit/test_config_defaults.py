"""Defaults: one for each key, which may be stated; sections may be written in part."""

import dataclasses
import itertools
import json
import math
from unittest import mock

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.configs import FILES, LISTS, experiment, with_text
from tests.refusals import input_error

import itersel
from itersel.cli.main import main
from itersel.code.field_types import ByName, FieldType, ListOf, Scalar, Section
from itersel.config.conditions import can_hold
from itersel.config.defaults import available_templates
from itersel.config.forms import conditions_of, with_forms
from itersel.config.learners import LEARNERS, Online
from itersel.config.learning_steps import MixSettings, TrainSettings
from itersel.config.mixing import ALGORITHMS, MIXINGS, EpochsMean, Mean, PathFollowing, Selection
from itersel.config.reading import read_config
from itersel.config.rendering import plain_yaml
from itersel.config.retune import Retuning
from itersel.config.sections import read_section
from itersel.config.settings import read_settings
from itersel.config.tasks import TASKS, RandomTasks, Resharding
from itersel.config.tuners import ALL_TUNERS, TUNERS, NoTuner
from itersel.config.values import ALL_LEARNERS, Config, Experiment
from itersel.config.yaml_loader import StrictLoader
from itersel.errors import InputError
from itersel.keys import declared, key, key_of, types_of
from itersel.learn.learners.adagrad import AdaGrad
from itersel.tune.tuners.kbest_mira import KBestMira
from itersel.tune.tuners.line_search import LineSearch

# Sections with several forms.
CHOICES = {"learner": ALL_LEARNERS, "mixing": MIXINGS, "tasks": TASKS, "tuner": ALL_TUNERS}


@dataclasses.dataclass(frozen=True)
class Installed(Online):
    """The learner of an installed package."""

    sentence_bleu: str = key_of(Online, "sentence_bleu", default="liang", on={"tune_on: train": "chiang"})
    speed: float = key("Speed.", 2.0, above=0, on={"tune_on: dev": 3.0})


def with_plugin(test):
    """Run a test with the learner of an installed package."""
    return mock.patch.dict(LEARNERS.built_in, {"installed": f"{__name__}:Installed"})(test)


def values_of(item, kind):
    """Return a strategy for the value of a key."""
    content = kind.content
    declaration = declared(item)
    if item.name == "labels":
        values = st.just({"x": 1, "y": 2} if isinstance(content, ByName) else ["x", "y"])
    elif content == Scalar(bool):
        values = st.booleans()
    elif content == Scalar(int):
        least, most = declaration.minimum, declaration.limits.get("maximum", math.inf)
        values = st.integers(least, min(least + 5, most))
    elif content == Scalar(float):
        limits = declaration.limits
        least = limits.get("minimum", limits.get("above", 0.0))
        values = st.floats(least, least + 1, exclude_min=True)
    elif content == Scalar(str) and declaration.choices is not None:
        values = st.sampled_from(sorted(declaration.choices))
    elif content == ListOf(FieldType(Scalar(str))) and not declaration.path:
        choices = declaration.choices or ("WordPenalty", "LanguageModel")
        values = st.lists(st.sampled_from(sorted(choices)), unique=True, max_size=2)
    else:
        return None
    return values | st.none() if kind.is_optional else values


@st.composite
def keys_of(draw, kind, most=2):
    """Draw some keys of a section."""
    known = {item.name: values_of(item, types_of(kind)[item.name]) for item in dataclasses.fields(kind)}
    known = {name: values for name, values in known.items() if values is not None}
    names = draw(st.lists(st.sampled_from(sorted(known)), unique=True, max_size=most)) if known else []
    needed = {"labels", "first_threshold", "epsilon"} & known.keys()
    drawn = {name: draw(known[name]) for name in {*names, *needed}}
    assume(all(drawn[name] is not None for name in needed))
    return drawn


@st.composite
def experiments(draw):
    """Draw an experiment that states some forms and keys, and leaves out others."""
    forms = {name: draw(st.none() | st.sampled_from(sorted(CHOICES[name]))) for name in CHOICES}
    settings = draw(keys_of(Experiment))
    for name in ("learner", "mixing", "tasks"):
        if forms[name]:
            settings[name] = {"name": forms[name]}
    if forms["tuner"]:
        settings["retune"] = {"tuner": {"name": forms["tuner"]}}
    named = with_forms(experiment(**settings))["experiments"]["a"]
    for name in ("learner", "mixing", "tasks"):
        stated = draw(keys_of(CHOICES[name][named[name]["name"]]))
        if stated or draw(st.integers(0, 9)) == 0:
            settings[name] = {**settings.get(name, {}), **stated}
    retune = draw(keys_of(Retuning, most=1))
    if stated := draw(keys_of(ALL_TUNERS[named["retune"]["tuner"]["name"]], most=1)):
        retune["tuner"] = {**settings.get("retune", {}).get("tuner", {}), **stated}
    if retune:
        settings["retune"] = {**settings.get("retune", {}), **retune}
    return settings


@st.composite
def configs(draw):
    """Draw a config, which may be invalid."""
    quality = {**LISTS, "dev": {"lists": "l", "quality": "q"}}
    content = {"data": draw(st.sampled_from([{}, {"only_labels": ["x"]}, FILES, LISTS, quality]))}
    for name in draw(st.lists(st.sampled_from(["grammar", "decoder", "language_model", "evaluation"]))):
        content[name] = draw(keys_of(types_of(Config)[name].content.kind, most=1))
    content |= draw(st.fixed_dictionaries({}, optional={"seed": st.integers(1, 9)}))
    return content | {"experiments": {"a": draw(experiments()), "other": {}}}


def read_or_skip(content):
    try:
        return read_config(content)
    except InputError:
        assume(False)


@with_plugin
@given(configs())
def test_what_is_shown_is_the_config(content):
    config = read_or_skip(content)
    shown = plain_yaml(config)
    again = read_config(yaml.load(shown, StrictLoader))
    assert again == config
    assert plain_yaml(again) == shown


@with_plugin
@given(configs())
def test_a_name_may_be_left_out_where_it_is_the_default(content):
    """A section without its name is the form that stands there without the section."""
    settings = content["experiments"]["a"]
    for name in ("learner", "mixing", "tasks"):
        without = {key: value for key, value in settings.items() if key != name}
        form = with_forms(experiment(**without))["experiments"]["a"][name]["name"]
        unnamed = {key: value for key, value in settings.get(name, {}).items() if key != "name"}
        found = [
            with_forms(experiment(**without, **{name: one})) for one in (unnamed, {"name": form} | unnamed)
        ]
        assert found[0] == found[1]


DEV, TRAIN = {"tune_on": "dev"}, {}
SELECTED = Selection(select=100_000)


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        ({"tasks": {"shards": 16}}, {"tasks": Resharding(16, 8, 10)}),
        ({"tasks": {"shards": 1}}, {"tasks": Resharding(1, 8, 8)}),
        ({"tasks": {"parts": 2}}, {"tasks": Resharding(4, 2, 8)}),
        ({"tasks": {"language_model_folds": 5}}, {"tasks": Resharding(4, 8, 5)}),
        ({"tasks": {}}, {"tasks": Resharding(4, 8, 10)}),
        ({"tasks": {"name": "resharding"}}, {"tasks": Resharding(4, 8, 10)}),
        ({"tasks": {"name": "random"}}, {"tasks": RandomTasks(4, 4)}),
        ({"tasks": {"shards": 2}, **DEV}, {"tasks": RandomTasks(2, 1)}),
        ({"mixing": {"select": 5}}, {"mixing": Selection(select=5)}),
        ({"mixing": {"threshold": 0.5}}, {"mixing": Selection(threshold=0.5)}),
        ({"mixing": {"name": "none"}}, {"tasks": RandomTasks(1, 1)}),
        ({"mixing": {}, "algorithm": "itermixsgd"}, {"mixing": Mean()}),
        (DEV, {"mixing": EpochsMean(), "tasks": RandomTasks(1, 1), "learner": AdaGrad(learning_rate=0.1)}),
        ({"learner": {"delay": 2}}, {"learner": AdaGrad(delay=2, learning_rate=0.3)}),
        ({"learner": {"c": 1.0, "name": "kbest-mira"}}, {"tune_on": "dev", "learner": KBestMira(c=1.0)}),
        ({"retune": {"tuner": {"name": "kbest-mira"}}}, {"retune": Retuning(KBestMira(c=0.001), 6)}),
        ({"retune": {"tuner": {"passes": 9}}}, {"retune": Retuning(KBestMira(0.001, passes=9), 6)}),
        ({"retune": {"tuner": {"name": "line-search"}}}, {"retune": Retuning(LineSearch(), 1)}),
        ({"retune": {"tuner": {"name": "none"}}}, {"retune": Retuning(NoTuner(), None)}),
    ],
)
def test_sections_written_in_part(settings, chosen):
    found = read_config(experiment(**settings)).experiments["a"]
    assert {name: getattr(found, name) for name in chosen} == chosen


def test_the_config_is_shown_as_jobs_use_it(tmp_path, capsys):
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(yaml.safe_dump(experiment(learner={"name": "mira"}) | {"decoder": {"k_best": 7}}))
    second.write_text("seed: 5\n")
    assert main(["config", "show", str(first), str(second)]) == 0
    shown = capsys.readouterr().out
    found = yaml.safe_load(shown)["experiments"]["a"]
    assert (found["seed"], found["k_best"], found["learner"]["c"]) == (5, 7, 1.0)
    assert found["mixing"]["select"] == 100_000
    first.write_text(shown)
    assert main(["config", "show", str(first)]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("content", [experiment(), with_text(a={})], ids=["text", "lists"])
def test_stating_all_templates_changes_nothing(content):
    config = read_config(content)
    shown = config.experiments["a"].templates
    assert shown == available_templates(config) != ()
    for stated in (shown, shown[::-1]):
        assert read_config(content | {"experiments": {"a": {"templates": list(stated)}}}) == config


@pytest.mark.parametrize("kind", [experiment, lambda **keys: with_text(a=keys)], ids=["text", "lists"])
def test_templates_of_dense_features(kind):
    """There are none, and this may be stated."""
    for stated in ({}, {"templates": []}):
        assert read_config(kind(features="dense", **stated)).experiments["a"].templates == ()


def outcome(content):
    """Return a config, or the error that it has."""
    try:
        return read_config(content)
    except InputError as error:
        return error


@pytest.mark.parametrize(
    "junk", [None, 5, [], ["x"], "x", {"name": None}, {"name": ["y", {}]}, {5: 5}, {"tuner": 5}]
)
def test_anything_else_is_left_to_the_reader(junk):
    """It finds what is wrong, or nothing; also in a grid."""
    for name in ("algorithm", "tune_on", "learner", "mixing", "tasks", "retune", "epochs"):
        for more in ({}, {"k_best": [2, 3]}):
            found = outcome(experiment(**{name: junk}, **more))
            assert isinstance(found, Config) or name in str(found)
    # forms are filled in only where there is an experiment
    assert with_forms(junk) == junk
    assert with_forms({"data": junk, **experiment()})["data"] == junk
    if not isinstance(junk, dict):
        assert with_forms({"experiments": junk}) == {"experiments": junk}
        if junk is not None:
            assert with_forms({"experiments": {"a": junk}}) == {"experiments": {"a": junk}}


def test_forms_of_the_experiments_of_a_grid():
    """A section without a name is read in each with the form that it has there."""
    found = read_config(experiment(tune_on=["dev", "train"], tasks={"shards": [2, 4]})).experiments
    assert {name: one.tasks.shards for name, one in found.items()} == {
        f"a-tune_on-{corpus}-shards-{count}": count for corpus in ("dev", "train") for count in (2, 4)
    }
    assert type(found["a-tune_on-dev-shards-4"].tasks) is RandomTasks
    assert type(found["a-tune_on-train-shards-4"].tasks) is Resharding
    paths = {"name": ["selection", "path-following"], "norm": ["l1", "l2"]}
    with input_error("mixing.first_threshold"):
        read_config(experiment(mixing=paths))
    assert PathFollowing in {MIXINGS[name] for name in paths["name"]}


VALUES = st.one_of(
    st.integers(-3, 2000),
    st.floats(-1.5, 1.5) | st.sampled_from([math.inf, -math.inf, math.nan]),
    st.booleans(),
    st.none(),
    st.sampled_from(["", "x", "lin", "chiang", "l1", "pro", "constant", "oracle"]),
    st.lists(st.sampled_from(["WordPenalty", "step", 5]), max_size=2),
)
FORMS = {**LEARNERS, **ALL_TUNERS, "installed": Installed}


@pytest.mark.parametrize("name", FORMS)
@given(st.data())
def test_python_refuses_what_a_config_refuses(name, data):
    """For each key of all learners and tuners, values in and out of its bounds, and of other types."""
    kind = FORMS[name]
    item = data.draw(st.sampled_from(dataclasses.fields(kind) or [None]))
    if item is None:
        return
    bounds = declared(item).limits.values()
    near = st.sampled_from([bound + step for bound in bounds for step in (-1, 0, 1)] or [None])
    value = data.draw(VALUES | near | values_of(item, types_of(kind)[item.name]))
    try:
        expected = read_section(kind, {item.name: value}, name)
    except InputError:
        with input_error(item.name):
            kind(**{item.name: tuple(value) if isinstance(value, list) else value})
    else:
        assert kind(**{item.name: tuple(value) if isinstance(value, list) else value}) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: itersel.Mira(c=-1),
        lambda: itersel.AdaGrad(sentence_bleu="x"),
        lambda: itersel.Pro(strength=-0.1),
    ],
)
def test_settings_from_python_have_the_bounds_of_a_config(wrong):
    with pytest.raises(InputError):
        wrong()


def test_the_learner_that_nobody_names():
    """It is the same in a config on train, of the command and of Python."""
    of_command = read_settings(TrainSettings, None).learner
    assert of_command == TrainSettings().learner == read_config(experiment()).experiments["a"].learner


@with_plugin
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_outside_of_a_config(name):
    """Settings of a step have no `tune_on`, so they have the first default."""
    settings = json.dumps({"learner": {"name": name}})
    assert read_settings(TrainSettings, settings).learner == LEARNERS[name]()


@with_plugin
def test_learners_and_tuners_of_which_nothing_is_stated():
    """Those of a config are those of Python, on the corpus that they are for."""
    for name, kind in ALL_LEARNERS.items():
        corpus = "dev" if name in TUNERS else "train"
        found = read_config(experiment(tune_on=corpus, features="dense", learner={"name": name}))
        conditions = {item.name: declared(item).on or {} for item in dataclasses.fields(kind)}
        on_corpus = f"tune_on: {corpus}"
        changed = {key: others[on_corpus] for key, others in conditions.items() if on_corpus in others}
        assert found.experiments["a"].learner == dataclasses.replace(kind(), **changed)
        assert not changed or kind is Installed


def test_defaults_that_depend_on_other_keys():
    """Each other default of a key is that of some experiment, and of a section, one of its forms."""
    learners, mixings = (None, "mert"), (None, *MIXINGS)
    every = itertools.product((None, *ALGORITHMS), (None, "dev", "train"), learners, mixings)
    possible = {conditions_of(*one) for one in every}
    assert all(map(can_hold, set().union(*possible)))
    waiting, named = [Experiment], set()

    while waiting:
        kind = waiting.pop()
        for item in dataclasses.fields(kind):
            forms, others = declared(item).forms or {}, declared(item).on or {}
            assert not forms or {*others.values()} <= forms.keys()
            # of those that hold, the first is used: none may be hidden by those before it
            used = {next((one for one in others if {*one.split(" and ")} <= held), None) for held in possible}
            assert {*others} <= used
            named |= {*others}
            content = types_of(kind)[item.name].content
            waiting += [content.kind] if isinstance(content, Section) else forms.values()

    assert {"tune_on: dev", "tune_on: train and mixed weights", "a batch tuner", "algorithm: sgd"} <= named


@pytest.mark.parametrize("name", MIXINGS)
def test_limits_of_mixings(name):
    """Those of the step are those of a config."""
    needed = {"first_threshold": 0.5, "epsilon": 2.0} if name == "path-following" else {}
    mixing = {"name": name, **needed}
    of_step = read_settings(MixSettings, json.dumps({"mixing": mixing})).mixing
    assert of_step == read_config(experiment(mixing=mixing)).experiments["a"].mixing
