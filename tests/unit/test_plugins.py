"""Learners, tuners and templates of installed packages; the toy package is that of docs/plugins.md."""

import json
import os
import sys
from importlib import metadata
from unittest import mock

import jsonschema
import pytest
import yaml
from tests.configs import experiment, learner
from tests.limited import limited
from tests.plugins import install, install_toy, python_path
from tests.refusals import input_error
from tests.steps import settings
from tests.text_grammars import features_by_rule
from tests.tuning import tune_command, write_run
from tests.unit.test_grammar_sparse import GLUE_RULES, compute
from tests.unit.test_learn_algorithms import make_corpus

from itersel.code import plugins
from itersel.code.digests import step_digest
from itersel.code.edits import CodeChangedError
from itersel.code.plugins import imported_code
from itersel.config.learners import BUILT_IN, LEARNERS
from itersel.config.learning_steps import TrainSettings
from itersel.config.mixing import Nothing
from itersel.config.reading import read_config
from itersel.config.rendering import commented_yaml
from itersel.config.settings import read_settings
from itersel.config.tuners import ALL_TUNERS, BUILT_IN_TUNERS, TUNERS
from itersel.config.values import ALL_LEARNERS
from itersel.grammar.grammar_kernels import GRAMMAR_RULE
from itersel.keys import name_in
from itersel.storage.hdf5 import read_arrays
from itersel.vectors.feature_names import BUILT_IN_TEMPLATES, TEMPLATES
from itersel.vectors.weights import FORMAT as WEIGHTS
from itersel.vectors.weights import read_itersel_weights

SEARCHING = (LEARNERS, TUNERS, TEMPLATES)
RULES = [*GLUE_RULES, (GRAMMAR_RULE, ("das", -1, "haus"), (-1,)), (GRAMMAR_RULE, ("doch",), ("but", "yes"))]


def forget():
    for names in SEARCHING:
        vars(names).pop("plugins", None)
    plugins._imported.clear()
    step_digest.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] in ("toy", "other")]:
        del sys.modules[name]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a folder for installed packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    forget()
    yield folder
    forget()


@pytest.fixture
def toy(root, site):
    install_toy(root, site)
    return site


def command(site, folder, *arguments, status=0):
    done = limited(*arguments, cwd=folder, env={**os.environ, "PYTHONPATH": python_path(site)})
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_commands(toy, tmp_path):
    """The config, its schema and training know the learner and the template."""
    content = learner("oracle", delay=2) | {"grammar": {"templates": ["R", "Growth"]}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    assert "valid" in command(toy, tmp_path, "config", "check", "--no-text", "mine.yaml")
    schema = json.loads(command(toy, tmp_path, "config", "schema"))
    jsonschema.validate(content, schema)
    shown = command(toy, tmp_path, "config", "show", "mine.yaml")
    assert read_config(yaml.safe_load(shown)) == read_config(content)
    make_corpus(tmp_path)
    (tmp_path / "start").write_text("LanguageModel 1\n")
    files = [
        "--sentences",
        "0.h5",
        "--language-model",
        "lm.bin",
        "--start",
        "start",
        "--output",
        "weights.h5",
    ]
    command(toy, tmp_path, "train", *files, *settings(learner={"name": "oracle", "learning_rate": 0.5}))
    moved = read_itersel_weights(tmp_path / "weights.h5").to_dict()
    # a step from one translation to another, by half their features
    assert {round(2 * value, 9) % 1 for name, value in moved.items() if name.startswith("R:")} == {0}
    line = command(toy, tmp_path, "train", *files, *settings(learner={"name": "oracl"}), status=1)
    assert "'oracl'" in line
    assert "'oracle'" in line


def test_a_tuner(toy, tmp_path):
    """Configs know it on dev and for held-out text, and the command runs it."""
    content = experiment(learner={"name": "toy-search"}, features="dense")
    content["experiments"]["b"] = {"retune": {"tuner": {"name": "toy-search", "points": 5}}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    assert "valid" in command(toy, tmp_path, "config", "check", "--no-text", "mine.yaml")
    config = read_config(content)
    assert name_in(ALL_LEARNERS, config.experiments["a"].learner) == "toy-search"
    assert name_in(ALL_TUNERS, config.experiments["b"].retune.tuner) == "toy-search"
    assert config.experiments["a"].mixing == Nothing()
    scores = []
    for points in (1, 50):
        lists = write_run(tmp_path, sparse=False)
        command(toy, tmp_path, *tune_command(tmp_path, lists, tuner="toy-search", points=points))
        scores.append(read_arrays(tmp_path / "out.h5", WEIGHTS)[1]["quality"])
    assert scores[0] < scores[1]
    with input_error("'experiments.a.features'", "toy-search"):
        read_config(experiment(learner={"name": "toy-search"}, features="all"))


def test_features(toy):
    """They join those of built-in templates, in any order of templates."""
    found = features_by_rule(compute(RULES, ["RBT", "Growth", "R"]))
    assert found == features_by_rule(compute(RULES, ["Growth", "R", "RBT"]))
    built_in = features_by_rule(compute(RULES, ["R", "RBT"]))
    for rule, (features, others) in enumerate(zip(found, built_in, strict=True)):
        growth = len(RULES[rule][2]) - len(RULES[rule][1])
        assert features == {**others, f"Growth:{growth}": 1.0}
    alone = compute(RULES, ["Growth"])
    assert features_by_rule(alone)[2:] == [{"Growth:-2": 1.0}, {"Growth:1": 1.0}]


SETTINGS = """
from dataclasses import dataclass
from itersel.config.learners import Online
from itersel.config.tuners import Batch
from itersel.keys import key
from itersel.learn.learners import OnlineLearner

@dataclass(frozen=True)
class Learner(Online):
    '''A learner.'''
    {key}
    {method}

@dataclass(frozen=True)
class Tuner(Batch):
    '''A tuner.'''
    {key}
    {method}

def template(rules):
    return {returned}
"""
METHOD = "def make_learner(self): pass"


def other(key="", method=METHOD, returned="[], [], []"):
    return SETTINGS.format(key=key, method=method, returned=returned)


def install_other(site, kind, name, code):
    """Install a package that adds a learner or a template, perhaps without its code."""
    value = {"learner": "other:Learner", "tuner": "other:Tuner", "template": "other:template"}[kind]
    install(site, "other", {f"itersel.{kind}s": {name: value}}, {} if code is None else {"other.py": code})


def test_a_feature_that_occurs_twice(site):
    install_other(site, "template", "New", other(returned="['New:b', 'New:a'], [2, 3, 2, 2], [0, 1, 0, 1]"))
    assert features_by_rule(compute(RULES, ["New"])) == [{}, {}, {"New:b": 2.0, "New:a": 1.0}, {"New:a": 1.0}]


@pytest.mark.parametrize(
    ("kind", "name", "code", "facts"),
    [
        ("learner", "new", None, ("other:Learner:", "ModuleNotFoundError")),
        ("learner", "new", "import no", ("other:Learner:", "ModuleNotFoundError", "'no'")),
        ("learner", "new", "x = 1", ("other:Learner:", "AttributeError")),
        ("learner", "new", "(", ("other:Learner:", "SyntaxError")),
        ("learner", "new", "Learner = dict", "Online"),
        ("learner", "new", other(method=""), "make_learner"),
        ("learner", "new", other("c: float = 1.0"), "'c'"),
        ("learner", "new", other("size: int = key('Size.', 1)"), "'size'"),
        ("learner", "new", other("kind: str = key('Kind.', 'x')"), "'kind'"),
        ("learner", "new", other("name: float = key('Name.', 1.0)"), "'name'"),
        (
            "learner",
            "new",
            other("c: float = key('C.', 1.0, on={'dev': 0.1})"),
            ("'c'", "'dev'", "'tune_on: dev'"),
        ),
        (
            "learner",
            "new",
            other() + "class Old(OnlineLearner):\n    step_setting = 'c'",
            ("other:Learner:", "'step_setting'", "'rate_name'"),
        ),
        ("learner", "mert", other(), ()),
        ("learner", "mira", other(), ()),
        ("learner", "a b", other(), ()),
        ("tuner", "new", "Tuner = dict", "Batch"),
        ("tuner", "new", other(), " tune"),
        ("tuner", "new", other("c: float = 1.0", "def tune(self, problem): pass"), "'c'"),
        ("tuner", "new", other("searches = True"), ("other:Tuner:", "'searches'", "'searches_lines'")),
        ("tuner", "mira", other(), ()),
        ("tuner", "line-search", other(), ()),
        ("template", "New", None, ("other:template:", "ModuleNotFoundError")),
        ("template", "Lex", other(), ()),
        ("template", "Shape_S", other(), ()),
        ("template", "dense", other(), ()),
        ("template", "New", other(returned="1 / 0"), "ZeroDivisionError"),
        ("template", "New", other(returned="[]"), "ValueError"),
        ("template", "New", other(returned="['Old:a'], [0], [0]"), "'Old:a'"),
        ("template", "New", other(returned="['New:a b'], [0], [0]"), "'New:a b'"),
        ("template", "New", other(returned="['New:a', 'New:a'], [0], [0]"), ()),
        ("template", "New", other(returned="['New:a'], [0], [1]"), ()),
        ("template", "New", other(returned="['New:a'], [4], [0]"), ()),
        ("template", "New", other(returned="['New:a'], [-1], [0]"), ()),
        ("template", "New", other(returned="['New:a'], [0, 1], [0]"), ()),
    ],
)
def test_faults_of_a_package(site, kind, name, code, facts):
    """One line that names the package; it does not matter while nothing of the package is used."""
    install_other(site, kind, name, code)
    name_in(ALL_LEARNERS, read_config(learner("mira")).experiments["a"].learner)
    used = name if name in ("new", "New") else "unknown"
    templates = [used] if kind == "template" else []

    content = learner("mira" if kind == "template" else used) | {"grammar": {"templates": templates}}
    with input_error(f"{kind} '{name}'", "'other'", facts):
        compute(RULES, read_config(content).grammar.templates)


def test_a_broken_package_does_not_matter_to_another(toy):
    install_other(toy, "learner", "a", None)
    config = read_config(learner("oracle"))
    assert "name: oracle" in commented_yaml(config, "x")
    assert name_in(LEARNERS, config.experiments["a"].learner) == "oracle"


@pytest.mark.parametrize("kind", ["learner", "tuner"])
def test_two_packages_with_the_same_name(toy, kind):
    install_other(toy, kind, "oracle", other())
    facts = (kind, "'oracle'", "'other'")
    with input_error(facts):
        read_config(learner("oracle"))


def test_a_key_with_the_name_of_a_key_of_training(site):
    install_other(site, "learner", "new", other("seed: int = key('Seed.', 1, minimum=1)"))
    given = read_settings(TrainSettings, '{"seed": 2, "learner": {"name": "new", "seed": 3}}')
    assert (given.seed, given.learner.seed) == (2, 3)


def test_built_in_names_need_no_search(monkeypatch, site):
    """Searching all packages takes longer than anything else when a job starts."""

    monkeypatch.setattr(metadata, "entry_points", mock.Mock(side_effect=AssertionError))
    for name in (*BUILT_IN, *BUILT_IN_TUNERS):
        read_config(
            experiment(learner={"name": name}, features="dense")
            | {"grammar": {"templates": list(BUILT_IN_TEMPLATES)}}
        )
    compute(RULES, list(BUILT_IN_TEMPLATES))
    with pytest.raises(AssertionError):
        read_config(learner("unknown"))


def test_edits_are_noticed(toy, monkeypatch):
    """Only steps that use the package run again, and jobs of the run before fail."""
    config = learner("oracle") | {"grammar": {"templates": ["Growth"]}}
    config["experiments"]["b"] = {"retune": {"tuner": {"name": "toy-search"}}}
    steps = ("train", "tune", "grammar extract", "decode", "align")
    without = [step_digest(step) for step in steps]
    forget()
    read_config(config)
    [code] = imported_code()
    assert code.place == toy / "toy"
    before = [step_digest(step) for step in steps]
    assert [a == b for a, b in zip(without, before, strict=True)] == [False, False, False, False, True]
    monkeypatch.setenv(code.variable, code.fingerprint)
    forget()
    read_config(config)
    with (toy / "toy/__init__.py").open("a") as stream:
        stream.write("# edited\n")
    forget()
    with pytest.raises(CodeChangedError, match=f"{toy / 'toy'}: "):
        read_config(config)
    monkeypatch.delenv(code.variable)
    forget()
    read_config(config)
    after = [step_digest(step) for step in steps]
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, False, False, True]


KERNEL = """
from itersel.compile.jit import kernel

@kernel
def twice(numbers):
    return 2 * numbers[0]

def template(rules):
    import numpy as np
    number = twice(np.array([21]))
    print(number, sum(twice.stats.cache_hits.values()), sum(twice.stats.cache_misses.values()))
    return [], [], []
"""
CALL = "from itersel.vectors.feature_names import TEMPLATES; TEMPLATES.plugin('New').value(None)"


@pytest.mark.slow
@pytest.mark.parametrize("is_plain", ["0", "1"])
def test_kernels_are_kept(site, tmp_path, is_plain):
    install_other(site, "template", "New", KERNEL)
    settings = {"PYTHONPATH": python_path(site), "ITERSEL_CACHE": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    # byte code counts as current if the time, in seconds, and size of its source are the same
    settings |= {"ITERSEL_PLAIN_NUMBA": is_plain, "PYTHONDONTWRITEBYTECODE": "1"}

    def call():
        return limited(program=["-c", CALL], env={**os.environ, **settings}).stdout

    assert (call(), call()) == ("42 0 1\n", "42 1 0\n")
    (site / "other.py").write_text(KERNEL.replace("2 *", "3 *"))
    assert call() == "63 0 1\n"
