"""Tasks and repeats in a config: the experiments, shards and files they expand to."""

from __future__ import annotations

from tests.configs import experiment

from itersel.config import read_config
from itersel.config.independent import compared_labels, with_independent_tasks
from itersel.config.repeats import split_repeat, with_repeats
from itersel.config.tasks import files_of, tasks_name
from itersel.plan import commands
from itersel.plan.commands import own_seed


def test_repeats_are_experiments():
    content = {"a": {"repeats": 3, "epochs": 2, "tune_on": "dev"}, "b": {"seed": 8, "repeats": 2}, "c": {}}
    config = with_repeats(read_config({"seed": 5, "experiments": content}))
    seeds = {name: own_seed(config, one) for name, one in config.experiments.items()}
    assert seeds == {"a": 5, "a.repeat-2": 6, "a.repeat-3": 7, "b": 8, "b.repeat-2": 9, "c": 5}
    assert config.experiments["a.repeat-3"].epochs == 2
    assert [split_repeat(name) for name in seeds][1:3] == [("a", 2), ("a", 3)]
    assert with_repeats(config) == config


def test_repeats_start_from_repeats():
    content = {"a": {"repeats": 2}, "b": {"repeats": 3, "start_from": "a"}}
    found = with_repeats(read_config({"experiments": content})).experiments
    starts = [found[name].start_from for name in ("b", "b.repeat-2", "b.repeat-3")]
    assert starts == ["a", "a.repeat-2", "a"]


def test_natural_tasks():
    natural = {"name": "natural", "labels": {"x": 2, "y": 1}}
    found = [
        read_config(experiment(tasks={**natural, "others": others})).experiments["a"].tasks
        for others in ("drop", "join")
    ]
    assert [tasks.shards for tasks in found] == [3, 4]
    assert [tasks.language_model_folds for tasks in found] == [3, 4]
    assert commands.sharding_options(found[0]) == "--others drop --minimum 1 --labels x=2 y=1"


def test_files_and_folds_of_tasks():
    """Files, shards and language models: one model per file, at most 10."""
    labels = {"x": 2, "y": 1}
    for tasks, expected in (
        ({"shards": 4}, (4, 4, 4)),
        ({"name": "resharding", "shards": 3}, (12, 3, 10)),
        ({"name": "resharding", "shards": 3, "parts": 2}, (6, 3, 6)),
        ({"name": "pooled", "labels": ["x", "y"]}, (10, 1, 10)),
        ({"name": "pooled-cat", "labels": ["x", "y"], "parts": 3}, (3, 1, 3)),
    ):
        found = read_config(experiment(tasks=tasks)).experiments["a"].tasks
        assert (files_of(found), found.shards, found.language_model_folds) == expected
    independent = {"a": {"tasks": {"name": "independent", "labels": labels}}, "b": {}}
    assert read_config({"experiments": independent}).experiments["a"].tasks.language_model_folds == 3


def test_options_of_pools():
    pooled = read_config(experiment(tasks={"name": "pooled", "labels": ["x", "y"]})).experiments["a"].tasks
    assert commands.sharding_options(pooled) == "--shards 10 --size one --pool x y"
    pooled = read_config(experiment(tasks={"name": "pooled-cat", "labels": ["x"]})).experiments["a"].tasks
    assert commands.sharding_options(pooled) == "--shards 10 --size all --pool x"


def test_independent_tasks_are_experiments():
    tasks = {"name": "independent", "labels": {"x": 2, "y": 1}, "minimum": 5}
    content = {"a": {"tasks": tasks, "repeats": 2}, "b": {"tasks": tasks, "start_from": "a"}, "c": {}}
    found = with_independent_tasks(read_config({"experiments": content})).experiments
    assert list(found) == ["a.task-x", "a.task-y", "b.task-x", "b.task-y", "c"]
    assert [found[f"a.task-{label}"].tasks.first for label in "xy"] == [0, 2]
    assert [found[f"a.task-{label}"].tasks.shards for label in "xy"] == [2, 1]
    assert found["b.task-y"].start_from == "a.task-y"
    own = found["a.task-x"].tasks
    assert (own.experiment, own.label, files_of(own), own.language_model_folds) == ("a", "x", 3, 3)
    assert tasks_name(own) == "independent"
    # they share files with natural tasks with the same labels
    natural = read_config(experiment(tasks={**tasks, "name": "natural"})).experiments["a"].tasks
    assert commands.sharding_options(own) == commands.sharding_options(natural)
    with_both = with_repeats(with_independent_tasks(read_config({"experiments": content}))).experiments
    assert split_repeat(list(with_both)[1]) == ("a.task-x", 2)


def test_labels_of_the_table_by_task():
    """The labels of independent tasks, which lack weights for others, or else of all experiments."""
    natural = {"a": {"tasks": {"name": "natural", "labels": {"x": 1, "y": 1}}}}
    pooled = {"b": {"tasks": {"name": "pooled", "labels": ["z", "x"]}}, "c": {}}
    independent = {"d": {"tasks": {"name": "independent", "labels": {"z": 1, "y": 1}}}}

    def labels(**experiments):
        return compared_labels(with_independent_tasks(read_config({"experiments": experiments})))

    assert labels(**natural, **pooled) == ("x", "y", "z")
    assert labels(**natural, **pooled, **independent) == ("z", "y")
    assert labels(c={}) == ()
