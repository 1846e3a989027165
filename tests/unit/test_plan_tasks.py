"""The plan of tasks: how shards are made, and tables made by task."""

import json
import re
from dataclasses import dataclass, replace

import pytest
from tests.plans import DATA, FOLDER, LABELLED, NATURAL, PAIR, SELECTED, job, plan_of

from itersel.config.division import Labelled, Pooled, Shuffled
from itersel.config.experiments import PlannedRepeat
from itersel.config.file_checks import Size
from itersel.config.report_steps import ChooseSettings
from itersel.config.settings import read_settings
from itersel.config.tasks import TASKS, RandomTasks
from itersel.corpus.dividing import deal_files
from itersel.plan.estimates import estimate_cost


def test_resharding_deals_each_file_once():
    """Differently in each epoch; files keep their language models."""
    tasks = {"name": "resharding", "shards": 2, "parts": 3, "language_model_folds": 4}
    plan = plan_of({"a": {**SELECTED, "tasks": tasks}})
    for epoch in (1, 2, 3):
        for shard, files in enumerate(deal_files(6, 2, 1, epoch)):
            place = job(epoch=epoch, shard=shard)
            assert plan.epochs.training_files(place) == [
                f"out/x/sentences/train/6/{file}.h5" for file in files
            ]
            models = [f"out/x/lm/6/4-folds/{file % 4}.bin" for file in files]
            assert plan.epochs.training_language_models(place) == models
    assert plan.divisions.division(job(split="train", division="6")) == Shuffled(6, seed=1)


@pytest.mark.parametrize(
    ("tasks", "files", "shards", "folds", "division"),
    [
        ({"name": "random"}, 4, 4, 4, Shuffled(4)),
        ({"shards": 3}, 24, 3, 10, Shuffled(24)),
        (
            {"name": "pooled", "labels": ["b", "a"]},
            10,
            1,
            10,
            Pooled(labels=("a", "b"), files=10, size_of_one_task=True),
        ),
        ({"name": "pooled-cat", "labels": ["a"], "parts": 3}, 3, 1, 3, Pooled(labels=("a",), files=3)),
        (NATURAL, 3, 3, 3, Labelled(labels={"a": 2, "b": 1})),
        (
            {**NATURAL, "others": "join", "minimum_sentences": 5},
            *(4, 4, 4),
            Labelled(labels={"a": 2, "b": 1}, others="join", minimum_sentences=5),
        ),
    ],
)
def test_tasks(tasks, files, shards, folds, division):
    """Files, shards and language models: one model per file, at most 10; tasks have their own folders."""
    plan = plan_of({"a": {**SELECTED, "tasks": tasks}})
    found = plan.config.experiments["a"].tasks
    assert (found.file_count, found.shards, found.language_model_folds) == (files, shards, folds)
    name = plan.divisions.name(plan.config.experiments["a"])
    kind = tasks.get("name", "random").removesuffix("-cat")
    has_digest = kind in ("natural", "pooled")
    assert re.fullmatch(f"{files}-{kind}-[0-9a-f]{{8}}" if has_digest else str(files), name)
    assert name in plan.divisions.names
    place = job(split="train", division=name)
    assert plan.divisions.division(place) == division
    assert plan.divisions.labels(place) == (["out/x/corpus/train.labels.gz"] if has_digest else [])
    in_shard = files // shards
    assert len(plan.epochs.training_files(job(epoch=1, shard=0))) == in_shard
    settings = read_settings(ChooseSettings, plan.choice.choose_settings(job()))
    assert settings.experiment == replace(plan.config.experiments["a"], tasks=found)
    assert settings.experiment.tasks.shards == shards
    # if sentences are dropped, the shards do not have all rules of train
    is_whole = kind in ("random", "resharding") or "others" in tasks
    assert plan.rule_counts.divisions_of_splits.get("train") == (name if is_whole else None)


def test_a_kind_is_one_class(monkeypatch):
    """What a class says of its shards is in all parts of the plan: their files, the tables, the estimate."""

    @dataclass(frozen=True)
    class EveryOther(RandomTasks):
        keep_all = False
        share = 0.5

        @property
        def file_count(self):
            return 2 * self.shards

        def files_of_shard(self, shard, seed, epoch):
            return [2 * shard]

    monkeypatch.setitem(TASKS, "every-other", EveryOther)
    plan = plan_of({"a": {**SELECTED, "tasks": {"name": "every-other", "shards": 3}}})
    assert plan.divisions.name(plan.config.experiments["a"]) == "6"
    assert plan.epochs.training_files(job(epoch=1, shard=2)) == ["out/x/sentences/train/6/4.h5"]
    assert "train" not in plan.rule_counts.divisions_of_splits

    whole = plan_of({"a": {**SELECTED, "tasks": {"name": "random", "shards": 6}}})
    sizes = dict.fromkeys(("train", *whole.texts.held_out), Size({10: 1000}))
    disk = [estimate_cost(one.config, sizes).disk for one in (plan, whole)]
    # without a tuner, dev has no grammars
    others = len(whole.texts.held_out) - 1
    assert disk[0] / disk[1] == pytest.approx((others + 0.5) / (others + 1))


def test_independent_tasks():
    """Each is an experiment; they are compared together, by task."""
    tasks = {"labels": {"a": 2, "b": 1}, "language_model_folds": 1}
    own = {**SELECTED, "tasks": {**tasks, "name": "independent"}}
    experiments = {
        "all": {**SELECTED, "tasks": {**tasks, "name": "natural"}},
        "own": {**own, "repeats": 2},
        "next": {**own, "start_from": "own"},
    }
    plan = plan_of(experiments, DATA | {"test": LABELLED, "devtest": LABELLED})
    assert plan.tables.compared == ["all"]
    assert plan.tables.independent["own"] == {"a": "own.task-a", "b": "own.task-b"}
    repeated = {"a": "own.task-a.repeat-2", "b": "own.task-b.repeat-2"}
    assert plan.tables.independent["own.repeat-2"] == repeated
    assert PlannedRepeat("own", "b", 2).folder == repeated["b"]
    assert plan.config.experiments["next.task-b"].start_from == "own.task-b"
    # the same file as in the shards of the natural tasks
    of_b = plan.epochs.training_files(job("own.task-b", epoch=1, shard=0))
    assert of_b == plan.epochs.training_files(job("all", epoch=1, shard=2))
    place = job(split="train", division=plan.divisions.name(plan.config.experiments["all"]))
    assert plan.divisions.labels(place) == ["out/x/corpus/train.labels.gz"]
    assert plan.divisions.devtest_labels(place) == ["out/x/corpus/devtest.labels.gz"]
    of_b = job("own.task-b.repeat-2")
    assert plan.choice.devtest_labels(of_b) == ["out/x/corpus/devtest.labels.gz"]
    chosen = json.loads(plan.choice.choose_settings(of_b))
    assert (chosen["name"], chosen["repeat"], chosen["scoring"]["label"]) == ("own.task-b", 2, "b")
    assert chosen["experiment"]["tasks"] == {
        **{"name": "independent", "labels": {"b": 1}, "minimum_sentences": 1},
        "language_model_folds": 1,
    }
    systems = json.loads(plan.tables.task_settings(job(split="test")))["systems"]
    assert [(one["name"], one["translation"].removeprefix(f"{FOLDER}/")) for one in systems] == [
        ("all", "all/best/test.txt"),
        *((name.partition(".")[0], f"{name}/tasks/test.txt") for name in ("own", "own.repeat-2", "next")),
    ]
    place = job(independent="own.repeat-2", split="test")
    names = [f"{FOLDER}/{name}/best/test.txt" for name in repeated.values()]
    assert plan.tables.task_translations(place) == names


@pytest.mark.parametrize(("names", "labels"), [("np", ("a", "b", "z")), ("npi", ("z", "b")), ("r", ())])
def test_table_by_task(names, labels):
    """The labels of independent tasks, which have no weights for others, or else of all tasks."""
    tasks = {
        "n": NATURAL,
        "p": {"name": "pooled", "labels": ["z", "a"]},
        "i": {"name": "independent", "labels": {"z": 1, "b": 1}},
        "r": {},
    }
    experiments = {name: {"tasks": tasks[name]} for name in names}
    tables = plan_of(experiments, DATA | {"test": LABELLED, "devtest": LABELLED}).tables
    assert tables.task_labels == labels
    assert tables.task_splits == (["test"] if labels else [])
    if "i" not in names:
        assert plan_of(experiments, DATA | {"test": PAIR}).tables.task_splits == []


def test_held_out_sets_cut_from_train_have_its_labels():
    tasks = {"labels": {"a": 2, "b": 1}}
    own, natural = ({**SELECTED, "tasks": {**tasks, "name": name}} for name in ("independent", "natural"))
    cut = {"dev": 2, "devtest": 2, "test": 2}
    plan = plan_of({"own": own, "all": natural}, {"kind": "files", "train": LABELLED, "cut": cut})
    assert plan.tables.task_splits == ["test"]
    assert plan.choice.devtest_labels(job("own.task-a")) == ["out/x/corpus/devtest.labels.gz"]
