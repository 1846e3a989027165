"""The config: a single source for reader, schema, documentation and commented file."""

import argparse
import dataclasses
import json
import math
from pathlib import Path

import pytest
import yaml
from tests.configs import BAD, GOOD, INCONSISTENT, LISTS, PAIR, PATH, experiment, files, lists, schema, tasks
from tests.configs import data as data_of
from tests.refusals import check_facts, input_error

from itersel.cli.main import main
from itersel.code.field_types import Section
from itersel.config import data, splits, values
from itersel.config.checks import warnings
from itersel.config.command_line import add_key, add_section_arguments, section_of
from itersel.config.extraction import ExtractionSettings
from itersel.config.learners import LEARNERS
from itersel.config.mixing import ALGORITHMS, MIXINGS, EpochsMean, Selection
from itersel.config.reading import read_config
from itersel.config.rendering import commented_yaml
from itersel.config.retune import Retuning
from itersel.config.search import ForestSettings, KBestSettings, Search
from itersel.config.tasks import RandomTasks, Resharding
from itersel.config.tuners import TUNERS
from itersel.config.yaml_loader import StrictLoader
from itersel.errors import InputError, errors_of
from itersel.keys import declared, types_of
from itersel.learn.learners.adagrad import AdaGrad
from itersel.learn.learners.mira import Mira
from itersel.learn.learners.perceptron import Perceptron
from itersel.tune.tuners.kbest_mira import KBestMira
from itersel.tune.tuners.mert import Mert

SECTIONS = [ExtractionSettings, Search, KBestSettings, *LEARNERS.values(), *TUNERS.values()]
PATHS = {"results/": "results", "./a//b/": "a/b", "/": "/", ".": ".", "../x": "../x"}
PATHS["~/x"] = f"{Path.home()}/x"
RETUNE = Retuning(KBestMira(c=0.001), iterations=6)
ON_TRAIN = {"tune_on": "train", "epochs": 3, "tasks": Resharding(4, 8, 10), "retune": RETUNE}
ON_DEV = {"tune_on": "dev", "epochs": 10, "tasks": RandomTasks(1, 1), "retune": Retuning()}


@pytest.mark.parametrize("content", GOOD)
def test_good(content):
    assert set(read_config(content).experiments) == set(content["experiments"])
    schema().validate(content)


@pytest.mark.parametrize(("content", "facts"), BAD + INCONSISTENT)
def test_bad(content, facts):
    with input_error(facts):
        read_config(content)
    assert schema().is_valid(json.loads(json.dumps(content))) == ((content, facts) in INCONSISTENT)


def test_numbers_that_cannot_be_written():
    with input_error("'seed'"):
        read_config(experiment() | {"seed": 10**5000})
    with input_error("'seed'"):
        read_config(experiment() | {"seed": [-(10**5000)]})


@pytest.mark.parametrize(("given", "taken"), PATHS.items(), ids=PATHS)
def test_paths_are_normalised_for_snakemake(given, taken):
    text = {"source": given, "target": "t"}
    config = read_config({**files(train=text, test=text), "output": given})
    assert config.output == taken
    assert config.data.test[""].source == config.data.train[""].source == (taken,)


@pytest.mark.parametrize("number", [1e-5, 2.5e-7, 1e20, 0.0001])
def test_advised_numbers_are_numbers(number):
    with pytest.raises(InputError) as error:
        read_config(experiment(learner={"name": "perceptron", "learning_rate": f"{number:.3e}"}))
    assert yaml.safe_load(str(error.value).rpartition("write ")[2]) == number


def option(name, value):
    flag, text = f"--{name.replace('_', '-')}", ",".join(value) if isinstance(value, tuple) else value
    return flag if value is True else f"{flag}={text}"


@pytest.mark.parametrize("kind", SECTIONS)
def test_options_make_a_section(kind):
    changed = {}
    for item in dataclasses.fields(kind):
        declaration, value = declared(item), item.default
        if isinstance(value, bool):
            changed[item.name] = not value
        elif "tuple" in item.type:
            changed[item.name] = tuple(declaration.choices or ("a", "b"))[:2]
        elif declaration.choices is not None:
            changed[item.name] = declaration.choices[-1]
        else:
            changed[item.name] = min(value + type(value)(1), declaration.limits.get("maximum", math.inf))
    for section in (kind(), kind(**changed)):
        parser = argparse.ArgumentParser()
        add_section_arguments(parser, kind)
        values = {item.name: getattr(section, item.name) for item in dataclasses.fields(kind)}
        words = [option(name, value) for name, value in values.items() if value]
        assert section_of(kind, parser.parse_args(words)) == section


@pytest.mark.parametrize("kind", [ExtractionSettings, Search, KBestSettings, ForestSettings])
def test_sections_refuse_what_is_out_of_bounds(kind):
    """Whoever makes them; so do their options."""
    parser = argparse.ArgumentParser()
    add_section_arguments(parser, kind)
    needed = {"features": "all"} if kind is ForestSettings else {}
    for item in dataclasses.fields(kind):
        for side, step in (("minimum", -1), ("maximum", 1)):
            if (bound := declared(item).limits.get(side)) is None:
                continue
            kind(**needed, **{item.name: bound})
            with input_error(item.name, bound + step):
                kind(**needed, **{item.name: bound + step})
            parse = parser._option_string_actions["--" + item.name.replace("_", "-")].type
            assert parse(str(bound)) == bound
            with pytest.raises(argparse.ArgumentTypeError):
                parse(str(bound + step))


def test_options_for_text_and_for_what_is_true_by_default():
    parser = argparse.ArgumentParser()
    for name in ("release", "drop_overlap"):
        add_key(parser, data.Data, name)
    assert vars(parser.parse_args([])) == {"release": data.Data.release, "drop_overlap": True}
    stated = parser.parse_args(["--release=trixie", "--no-drop-overlap"])
    assert vars(stated) == {"release": "trixie", "drop_overlap": False}
    with pytest.raises(argparse.ArgumentTypeError):
        parser._option_string_actions["--release"].type("12")


def test_test_sets():
    """One without a name, several with names, and held-out modules of the LibreOffice Help."""
    alone = read_config(files())
    assert alone.data.test == {"": data.TestSet(("s",), ("t",))}
    assert (splits.test_sets(alone), splits.test_set_devtests(alone)) == ({"test": "test"}, {})
    assert splits.texts_of(alone, "test")[""] is alone.data.test[""]
    own = {"source": "s2", "target": ["t2", "./t3"], "devtest": {"source": "s4", "target": "t4"}}
    named = read_config(files(test={"a": PAIR, "b": own}))
    assert splits.test_sets(named) == {"a": "test.a", "b": "test.b"}
    assert splits.test_set_devtests(named) == {"b": "devtest.b"}
    assert splits.texts_of(named, "test.b")[""].target == ("t2", "t3")
    assert splits.texts_of(named, "devtest.b")[""] == data.ReferencedText(("s4",), ("t4",))
    assert splits.texts_of(named, "devtest")[""] is named.data.devtest
    assert splits.texts_of(named, "train") == named.data.train
    out = read_config(data_of(held_out_labels=["sbasic"], test={"b": own}))
    assert splits.test_sets(out) == {"test": "test", "sbasic": "test.sbasic", "b": "test.b"}
    every = ("train", "test", "test.sbasic", "test.b", "devtest.b")
    assert [split for split in every if splits.is_given(out, split)] == ["test.b", "devtest.b"]
    assert splits.is_given(alone, "test")
    # a template of an earlier config has all keys
    old = {"source": None, "target": None, "labels": None, "alignment": None}
    assert read_config(data_of(train=old, monolingual=None)) == read_config(experiment())
    assert read_config(data_of(test=dict.fromkeys(PAIR))) == read_config(experiment())


def test_language_models_leave_text_out_by_default():
    """With `tune_on: train`, ten models, but at most one per file; a single model must be requested."""
    single = "experiments.a has language_model_folds: 1: it is trained"
    for settings, folds, warning in (
        (tasks(shards=31), 10, None),
        (tasks(shards=4), 4, None),
        (tasks(shards=4, language_model_folds=9), 4, None),
        (tasks("resharding", shards=1, parts=2, language_model_folds=9), 2, None),
        (tasks(shards=1, language_model_folds=2), 1, "experiments.a has one shard: "),
        (tasks(shards=31, language_model_folds=1), 1, single),
        (experiment(algorithm="sgd", tune_on="train"), 1, "experiments.a has one shard: "),
        (experiment(tasks={"name": "random", "shards": 31}, tune_on="dev"), 1, None),
        ({**tasks(shards=3), "language_model": {"arpa": "x"}}, 1, None),
    ):
        config = read_config(settings)
        assert config.experiments["a"].tasks.language_model_folds == folds
        assert [found[: len(warning or "")] for found in warnings(config)] == ([warning] if warning else [])


@pytest.mark.parametrize(("algorithm", "mixing"), ALGORITHMS.items())
def test_algorithms_are_names_for_mixings(algorithm, mixing):
    found = read_config(experiment(algorithm=algorithm)).experiments["a"]
    assert type(found.mixing) is MIXINGS[mixing]


def test_defaults_are_within_their_bounds():
    def all_defaults(kind):
        return {
            item.name: list(item.default) if isinstance(item.default, tuple) else item.default
            for item in dataclasses.fields(kind)
            if item.default is not dataclasses.MISSING
        }

    for kinds in (LEARNERS, MIXINGS):
        for name, kind in kinds.items():
            key = "learner" if kinds is LEARNERS else "mixing"
            required = {"first_threshold": 1.0, "epsilon": 2.0} if name == "path-following" else {}
            chosen = {"learner": {"name": "mira"}, key: {"name": name, **all_defaults(kind), **required}}
            found = read_config(experiment(**chosen)).experiments["a"]
            limits = {"select": 100_000} if kind is Selection else {}
            assert getattr(found, key) == kind(**required, **limits)
    content = all_defaults(values.Config) | experiment(**all_defaults(values.Experiment))
    for item in dataclasses.fields(values.Config):
        found = types_of(values.Config)[item.name].content
        if isinstance(found, Section):
            content[item.name] = all_defaults(found.kind)
    assert read_config(content) == read_config(experiment())


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        (
            {"algorithm": "itersel"},
            {**ON_TRAIN, "learner": AdaGrad(learning_rate=0.3), "mixing": Selection(select=100_000)},
        ),
        ({"algorithm": "sgd"}, {**ON_DEV, "learner": AdaGrad(learning_rate=0.1)}),
        ({"algorithm": "sgd", "tune_on": "train"}, {**ON_TRAIN, "tasks": RandomTasks(1, 1)}),
        ({"tune_on": "dev"}, {**ON_DEV, "mixing": EpochsMean()}),
        ({"learner": {"name": "kbest-mira"}}, {**ON_DEV, "learner": KBestMira(c=0.01)}),
        (
            {"learner": {"name": "kbest-mira"}, "tune_on": "train"},
            {"learner": KBestMira(c=0.001), "retune": Retuning(), "tasks": RandomTasks(1, 1)},
        ),
        ({"learner": {"name": "mira"}}, {**ON_TRAIN, "learner": Mira(c=1.0)}),
        ({"learner": {"name": "mira", "c": 0.1}}, {"learner": Mira(c=0.1)}),
        ({"learner": {"name": "mira"}, "tune_on": "dev"}, {"learner": Mira(c=0.1)}),
        ({"learner": {"name": "perceptron"}}, {"learner": Perceptron(sentence_bleu="papineni")}),
        ({"mixing": PATH, "learner": {"name": "mira"}}, {"tasks": RandomTasks(4, 4)}),
        (
            {"epochs": 10, "tasks": {"name": "random", "shards": 2}},
            {**ON_TRAIN, "epochs": 10, "tasks": RandomTasks(2, 2)},
        ),
        ({"retune": {"tuner": {"name": "none"}}}, {"retune": Retuning()}),
        ({"retune": {"iterations": 3}}, {"retune": Retuning(KBestMira(c=0.001), 3)}),
        ({"retune": {"tuner": {"name": "mert"}}}, {"retune": Retuning(Mert(), 6)}),
    ],
)
def test_defaults_of_the_tuning_corpus(settings, chosen):
    """A commented file keeps them, also in an experiment of which it shows only some keys."""
    config = read_config({"experiments": {"first": {}, "a": settings}})
    assert {name: getattr(config.experiments["a"], name) for name in chosen} == chosen
    assert read_config(yaml.safe_load(commented_yaml(config, "x"))) == config


def test_lists_of_dev_are_tuned_on_for_quality():
    for dev in ({}, {"dev": {"lists": "l", "quality": "q"}}):
        assert read_config(lists({"algorithm": "itersel"}, **dev)).experiments["a"].retune == RETUNE


def test_command_check(tmp_path, capsys, refused):
    path = tmp_path / "config.yaml"
    path.write_text("experiments: {a: {epochs: 3, mixing: {name: none}}}\n")
    assert main(["config", "check", str(path)]) == 0
    assert capsys.readouterr().err.startswith(f"{path}: warning: experiments.a ")
    for content, facts in (
        ("experiments: {a: {epochs: -3}}\n", ("'experiments.a.epochs'", -3)),
        ("name: x\n  y: [\n", (":2:", "YAML")),
        ("name: x\nname: y\n", (":2:", "YAML", "'name'", 1)),
        ("experiments:\n  a: {}\n  b: {}\n  a: {}\n", (":4:", "YAML", "'a'", 2)),
        ("seed: 1\nname: 2020-13-45\n", (":2:", "YAML", "1..12")),
        ("seed: !!int x\n", (":1:", "YAML")),
        ("seed: 1\nname: !!timestamp x\n", (":2:", "YAML", "tag:yaml.org,2002:timestamp")),
        ("[a]: 1\n", (":1:", "YAML")),
        ("seed: 0x" + "f" * 5000, (":1:", "YAML", 100)),
        ("data: {max_length: 0x" + "f" * 5000 + "}", (":1:", "YAML", 100)),
        ("data: {max_ratio: " + "9" * 400 + "}", (":1:", "YAML", 100)),
        ("data: {max_ratio: " + "9" * 90 + "}", ("'data.max_ratio'", "999")),
        ("data: {max_ratio: -" + "9" * 90 + "}", ("'data.max_ratio'", "-999")),
        ("data: {max_ratio: !!float " + "9" * 101 + "}", (":1:", "YAML", 100)),
        ("data: {max_ratio: " + "1:" * 99 + "1.}", (":1:", "YAML", 100)),
        ("seed: 1\nname: 1:30", (":2:", "YAML", "1:30", 60)),
        ("data: {max_ratio: 1:30.5}", (":1:", "YAML", "1:30.5", 60)),
        ("", "'key: value'"),
        ("[seed: 1]", ("'key: value'", "[{'seed': 1}]")),
        ('seed: !!int ""', (":1:", "YAML", "tag:yaml.org,2002:int")),
        ('seed: !!float ""', (":1:", "YAML", "tag:yaml.org,2002:float")),
        ("seed: !!bool maybe", (":1:", "YAML", "tag:yaml.org,2002:bool")),
        ('seed: !!timestamp "abc"', (":1:", "YAML", "tag:yaml.org,2002:timestamp")),
        ("name: \udcff\n", "YAML"),
    ):
        path.write_text(content, errors="surrogateescape")
        refused(["config", "check", path], (path, facts))
    refused(["config", "check", tmp_path / "missing"], f"{tmp_path / 'missing'}:")


def test_numbers_of_yaml():
    text = "[0, -1, +12, 0x1F, 0b11, 1_000, 1.5, -1.0e-5, .5, 1., +.inf, 1e5, 08, -.5, 1.e+3]"
    assert yaml.load(text, StrictLoader) == yaml.safe_load(text)


def test_all_errors_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line each: first invalid keys and values, then, if there are none, inconsistent values."""
    path = tmp_path / "config.yaml"
    wrong = {"a": {"epochs": 0, "features": "dens"}, "b": {"mixing": {"name": "men"}}}
    path.write_text(yaml.safe_dump({"experimets": {}, "data": {"kind": "files"}, "experiments": wrong}))
    assert main(["config", "check", str(path)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith(f"itersel config: {path}: ") for line in lines)
    expected = (
        ("'experimets'", "'experiments'"),
        ("'experiments.a.epochs'", 0, 1),
        ("'experiments.a.features'", "'dens'", "'dense'"),
        ("'experiments.b.mixing.name'", "'men'", "mean-of-epochs"),
    )
    # whatever the order of the lines
    lines.sort(key=lambda line: line.split("'")[1].split("."))
    for line, facts in zip(lines, sorted(expected, key=lambda facts: facts[0]), strict=True):
        check_facts(line, facts)
    at_odds = {name: {"tune_on": "dev", "retune": {"tuner": {"name": "pro"}}} for name in "ab"}
    path.write_text(
        yaml.safe_dump({"data": {"only_labels": ["x"], "tokenized": True}, "experiments": at_odds})
    )
    assert main(["config", "check", str(path)]) == 1
    keys = [line.split("'")[1] for line in capsys.readouterr().err.splitlines()]
    assert keys == ["data.tokenized", "experiments.a.retune.tuner", "experiments.b.retune.tuner"]


@pytest.mark.parametrize(
    "of_kind", [{"grammar": {"templates": ["R"]}}, {"data": LISTS}], ids=["text", "lists"]
)
def test_errors_of_one_kind_of_run_hide_no_others(of_kind):
    """Those of the decoder, or of lists, come with those of all experiments."""
    settings = {"templates": ["Lex"], "epochs": 2, "patience": 1}
    with pytest.raises(InputError) as error:
        read_config(experiment(**settings) | of_kind)
    keys = [str(one).split("'")[1] for one in errors_of(error.value)]
    assert sorted(keys) == ["experiments.a.patience", "experiments.a.templates"]


def test_advice_on_what_yaml_reads_otherwise(tmp_path, refused):
    for text, facts in (
        ("data: {source_language: no}", "'no'"),
        ("data: {target_language: on}", "YAML"),
        ("data: {target_language: pt BR}", "'pt BR'"),
        ("data: {release: 2024-05-01}", "'2024-05-01'"),
        ("seed: 0100", ("0100", 8, "YAML")),
        ("experiments: {on: {}}", "'yes'"),
    ):
        (tmp_path / "c.yaml").write_text(text)
        refused(["config", "check", tmp_path / "c.yaml"], facts)
