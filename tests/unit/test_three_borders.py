"""A key has the same default and bounds in a config, as an option of a command, and in Python."""

import contextlib
import dataclasses
import inspect
import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.plans import job
from tests.refusals import input_error
from tests.unit.test_config_defaults import VALUES, values_of

import itersel
from itersel.cli.main import main, make_parser
from itersel.cli.settings import settings_of
from itersel.code.field_types import Scalar
from itersel.config.command_line import section_of
from itersel.config.evaluation import Evaluation, SignificanceSettings
from itersel.config.extraction import ExtractionSettings
from itersel.config.learning_steps import MixSettings, TrainSettings, TuneSettings
from itersel.config.mbr import MinimumRisk
from itersel.config.mixing import Selection
from itersel.config.reading import read_config
from itersel.config.report_steps import Comparison
from itersel.config.search import ForestSettings, KBestSettings, Search
from itersel.config.sections import read_section
from itersel.config.settings import read_settings
from itersel.config.text_steps import AlignSettings, CompileSettings, EstimateSettings
from itersel.config.tuners import LIST_TUNERS, TUNERS
from itersel.config.values import Config
from itersel.errors import InputError
from itersel.evaluate import compare, significance
from itersel.keys import declared, types_of
from itersel.plan import Plan

REFUSED = object()
TUNE = ["tune", "--nbest", "list", "--output", "weights", "--tuner"]
DECODE = ["decode", "--sentences", "sentences.h5", "--weights", "w"]
EXTRACT = ["grammar", "extract", "--index", "index", "--input", "text", "--output", "sentences.h5"]
# Commands whose options are the keys of a section.
WITH_OPTIONS = {
    **{f"tune {name}": ([*TUNE, name], LIST_TUNERS[name]) for name in LIST_TUNERS},
    "decode": (DECODE, Search),
    "grammar extract": (EXTRACT, ExtractionSettings),
    "align": (["align", "--output", "x"], AlignSettings),
    "lm estimate": (["lm", "estimate", "--input", "text", "--output", "x"], EstimateSettings),
    "lm compile": (["lm", "compile", "--input", "arpa", "--output", "x"], CompileSettings),
}
# Command lines with files that are missing, in which options have no effect: the section that declares the
# options, its keys that have an effect, and what precedes the names of keys.
MISSING = ["--source", "missing", "--target", "missing"]
WITHOUT_EFFECT = {
    "decode of lists": (DECODE, Search, ["features"], ""),
    "align given links": (
        ["align", "--forward", "missing", "--reverse", "missing", "--output", "x"],
        AlignSettings,
        ["symmetrization"],
        "",
    ),
    "align in one direction": (
        ["align", *MISSING, "--direction", "forward", "--output", "x"],
        AlignSettings,
        ["seed"],
        "",
    ),
    "align with one model": (
        ["align", *MISSING, "--aligner", "missing", "--output", "x"],
        AlignSettings,
        ["seed"],
        "",
    ),
    "rescore": (["rescore", "--nbest", "missing", "--weights", "x"], MinimumRisk, ["gain"], "mbr-"),
    "rescore --first": (["rescore", "--nbest", "missing", "--first"], MinimumRisk, ["gain"], "mbr-"),
}
# A key of commands that take settings, with a value, which is written in JSON, too.
STATED = {
    Search: ("pop_limit", 7, "7"),
    ExtractionSettings: ("max_span", 7, "7"),
    AlignSettings: ("symmetrization", "union", '"union"'),
    EstimateSettings: ("order", 4, "4"),
}
# Another value of that key.
OTHER = {Search: "8", ExtractionSettings: "8", AlignSettings: "intersection", EstimateSettings: "5"}
# Keys that must be stated, as a config and as Python have them.
NEEDED = {
    TuneSettings: ({"tuner": {"name": "pro"}}, {"tuner": TUNERS["pro"]()}),
    ForestSettings: ({"features": "all"}, {"features": "all"}),
}
IN_PYTHON = [
    ExtractionSettings,
    Search,
    KBestSettings,
    ForestSettings,
    TrainSettings,
    MixSettings,
    TuneSettings,
]


def outcome(make, *arguments):
    try:
        return make(*arguments)
    except (InputError, SystemExit):
        return REFUSED


def values_for(kind, item):
    """Return a strategy for values of a key: valid ones, those at its bounds and just outside, and others."""
    bounds = declared(item).limits.values()
    valid = values_of(item, types_of(kind)[item.name])
    at_bounds = st.sampled_from([bound + step for bound in bounds for step in (-1, 0, 1)] or [None])
    return VALUES | at_bounds | (st.none() if valid is None else valid)


def of_command(arguments, kind, key, value):
    """Return the section of a command with a key as option."""
    text = ",".join(value) if isinstance(value, list) else str(value)
    words = [*arguments, f"--{key.replace('_', '-')}={text}"]
    return section_of(kind, make_parser(words).parse_args(words))


def can_be_stated(kind, value):
    """Return whether an option can have a value for a key of this kind as a config has it."""
    if isinstance(value, list):
        return not isinstance(kind.content, Scalar) and all(isinstance(one, str) for one in value)
    wanted = (int, float) if kind.content in (Scalar(int), Scalar(float)) else str
    return isinstance(value, wanted) and not isinstance(value, bool) and isinstance(kind.content, Scalar)


@pytest.mark.parametrize("command", sorted({*WITH_OPTIONS} - {"lm estimate"}))
def test_nothing_stated(command):
    arguments, kind = WITH_OPTIONS[command]
    options = make_parser(arguments).parse_args(arguments)
    assert section_of(kind, options) == kind() == read_section(kind, {})


@pytest.mark.parametrize("command", ["decode", "grammar extract", "align", "lm estimate"])
def test_settings_are_one_value_or_options(command):
    arguments, kind = WITH_OPTIONS[command]
    key, value, text = STATED[kind]
    options = [f"--{key.replace('_', '-')}", str(value)]
    settings = ["--settings", f'{{"{key}": {text}}}']
    for words in (options, settings):
        words = [*arguments, *words]
        assert getattr(settings_of(kind, make_parser(words).parse_args(words)), key) == value
    same = [*arguments, *options, *settings]
    assert getattr(settings_of(kind, make_parser(same).parse_args(same)), key) == value
    other = [*arguments, options[0], OTHER[kind], *settings]
    with input_error("--settings", options[0]):
        settings_of(kind, make_parser(other).parse_args(other))


@pytest.mark.parametrize("case", WITHOUT_EFFECT)
@given(st.data())
def test_only_other_values_than_the_default_are_without_effect(case, data):
    """An option that states the default of its key changes nothing; the error is that a file is missing."""
    arguments, kind, used, prefix = WITHOUT_EFFECT[case]
    items = [item for item in dataclasses.fields(kind) if item.name not in used]
    item = data.draw(st.sampled_from(items))
    value = data.draw(values_of(item, types_of(kind)[item.name]) | st.just(item.default))
    if value is None:
        return

    flag = f"--{prefix}{item.name.replace('_', '-')}"
    stated = f"{flag}={','.join(value) if isinstance(value, list) else value}"
    with contextlib.redirect_stderr(io.StringIO()) as said:
        assert main([*arguments, stated]) == 1
    assert (flag in said.getvalue()) == (value != item.default)


TUNE_LISTS = [*TUNE, "pro", "--reference", "missing"]
HELP = ["corpus", "libreoffice-help", "--source-language", "de", "--target-language", "en"]


@pytest.mark.parametrize(
    ("arguments", "option", "default", "other"),
    [
        ([*TUNE_LISTS, "--quality", "ter"], "tokenizer", "--tokenizer=13a", "--tokenizer=none"),
        ([*TUNE_LISTS, "--seeds", "1-2", "--devtest-nbest", "x"], "--seed ", "--seed=1", "--seed=2"),
        (["rescore", "--nbest", "missing", "--first"], "--mbr", "--no-mbr", "--mbr"),
        ([*DECODE, "--settings", "{}"], "--pop-limit", "--pop-limit=200", "--pop-limit=7"),
        ([*HELP, "--folder", "missing", "--output", "x"], "--release", "--release=bookworm", "--release=sid"),
    ],
)
def test_a_default_that_is_stated_has_an_effect_nowhere(arguments, option, default, other, capsys):
    for stated in (default, other):
        assert main([*arguments, stated]) == 1
        assert (option in capsys.readouterr().err) == (stated == other)


def test_required_options_of_which_nothing_is_stated():
    arguments, kind = WITH_OPTIONS["lm estimate"]
    with input_error("--order", "--settings"):
        settings_of(kind, make_parser(arguments).parse_args(arguments))


@pytest.mark.parametrize("command", WITH_OPTIONS)
@given(st.data())
def test_options_have_the_bounds_of_a_config(command, data):
    arguments, kind = WITH_OPTIONS[command]
    items = [item for item in dataclasses.fields(kind) if types_of(kind)[item.name].content != Scalar(bool)]
    item = data.draw(st.sampled_from(items))
    value = data.draw(values_for(kind, item))
    # an empty list of directions is refused when the whole config is checked
    if not can_be_stated(types_of(kind)[item.name], value) or (
        value == [] and declared(item).choices is None
    ):
        return
    expected = outcome(read_section, kind, {item.name: value})
    assert outcome(of_command, arguments, kind, item.name, value) == expected


@pytest.mark.parametrize("kind", IN_PYTHON, ids=lambda kind: kind.__name__)
@given(st.data())
def test_python_has_the_bounds_of_a_config(kind, data):
    """For settings other than those of learners and tuners, which test_config_defaults tests."""
    items = [item for item in dataclasses.fields(kind) if declared(item).forms is None]
    item = data.draw(st.sampled_from(items))
    value = data.draw(values_for(kind, item))
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return
    needed, in_python = NEEDED.get(kind, ({}, {}))
    expected = outcome(read_section, kind, {**needed, item.name: value})
    given_value = tuple(value) if isinstance(value, list) else value
    assert outcome(lambda: kind(**{**in_python, item.name: given_value})) == expected


def test_a_choice_can_be_listed_once():
    with input_error("templates", "'R'"):
        read_section(Search, {"templates": ["R", "RBS", "R"]})
    with input_error("templates", "'R'"):
        Search(templates=("R", "RBS", "R"))
    assert outcome(of_command, DECODE, Search, "templates", ["R", "RBS", "R"]) is REFUSED


def test_extraction_and_search_of_which_nothing_is_stated():
    config = read_config({"experiments": {"a": {}}})
    assert config.grammar == ExtractionSettings()
    found = read_settings(Search, Plan(config).origin.decode_settings(job("a")))
    assert found == Search(templates=config.grammar.templates)


@pytest.mark.parametrize("name", TUNERS)
def test_the_tuner_of_which_nothing_is_stated(name):
    settings = {"learner": {"name": name}, "tune_on": "dev", "features": "dense"}
    of_config = read_config({"experiments": {"a": settings}}).experiments["a"].learner
    of_step = read_settings(TuneSettings, f'{{"tuner": {{"name": "{name}"}}}}').tuner
    assert of_config == of_step == TUNERS[name]()


def test_a_selection_of_which_nothing_is_stated():
    """A section with another limit keeps only that one."""
    experiment = read_config({"experiments": {"x": {"algorithm": "itersel"}}}).experiments["x"]
    assert experiment.mixing == read_settings(MixSettings, "{}").mixing == MixSettings().mixing == Selection()
    assert Selection().limits == {"select": 100_000}
    assert Selection(threshold=0.5).limits == {"threshold": 0.5}
    assert dataclasses.replace(Selection(), select=7).limits == {"select": 7}


def default_in_python(function, name):
    return inspect.signature(function).parameters[name].default


def test_mixing_of_which_nothing_is_stated():
    experiment = read_config({"experiments": {"x": {"tune_on": "train"}}}).experiments["x"]
    assert experiment.mixing == MixSettings().mixing
    assert default_in_python(itersel.mix_weights, "settings") is None


def test_a_tuner_must_be_named():
    command = TUNE[:-1]
    assert outcome(lambda: make_parser(command).parse_args(command)) is REFUSED
    assert default_in_python(itersel.tune_nbest, "tuner") is inspect.Parameter.empty
    for settings in ("{}", '{"tuner": {}}', '{"tuner": {"passes": 3}}'):
        with input_error("tuner"):
            read_settings(TuneSettings, settings)


def test_significance_of_which_nothing_is_stated():
    """In commands, in settings of steps, and in all functions that take them."""
    for arguments in (["compare", "x", "--reference", "y"], ["report", "runs", "x", "--baselines", "y"]):
        options = make_parser(arguments).parse_args(arguments)
        assert section_of(SignificanceSettings, options) == SignificanceSettings()
    stated = {"trials": Evaluation.trials, "seed": Config.seed}
    assert Comparison() == Comparison(**stated, retokenize=Evaluation.retokenize)
    for module in (significance, compare):
        own = [one for one in vars(module).values() if getattr(one, "__module__", "") == module.__name__]
        for one in filter(callable, own):
            found = inspect.signature(one).parameters
            # the bootstrap has a seed of its own
            for key in stated.keys() & found.keys() if "trials" in found else ():
                assert found[key].default in (stated[key], inspect.Parameter.empty), one
