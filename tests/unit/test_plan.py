"""The plan of a run: files and options of jobs, from the config alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from itersel.config import read_config
from itersel.config.independent import with_independent_tasks
from itersel.config.repeats import with_repeats
from itersel.plan import Plan

PAIR = {"source": "x.de", "target": "x.en"}
DATA = {
    "kind": "files",
    "source_language": "de",
    "target_language": "en",
    "train": {"a": {"source": "a.de", "target": "a.en"}, "b": {"source": "b.de", "target": "b.en"}},
    "dev": {"source": "d.de", "target": ["d.en", "d2.en"]},
    "devtest": PAIR,
    "test": {"one": {**PAIR, "devtest": PAIR}, "two": PAIR},
}
SELECTED = {"algorithm": "itersel", "tune_on": "train", "epochs": 3}


def plan_of(experiments: dict[str, Any], **data: Any) -> Plan:
    """Return the plan of a config; its files do not exist."""
    content = {"name": "x", "output": "out", "data": {**DATA, **data}, "experiments": experiments}
    return Plan(with_repeats(with_independent_tasks(read_config(content))))


def job(**wildcards: object) -> Any:
    """Return wildcards as Snakemake gives them."""
    return SimpleNamespace(**{name: str(value) for name, value in wildcards.items()})


def test_shard_of_an_epoch() -> None:
    plan = plan_of({"selected": {**SELECTED, "tasks": {"shards": 4, "language_model_folds": 2}}})
    shard = plan.epoch("selected", 2).shard(3)
    assert shard.files == ["out/x/shards/train/4/3.h5"]
    assert shard.models == ["out/x/lm/4-shards/2-folds/1.bin"]
    assert shard.start == ["out/x/experiments/selected/epoch-1/weights.h5"]
    assert shard.output == "out/x/experiments/selected/epoch-2/shard-3.h5"
    assert shard.options.startswith(f"--weights {shard.start[0]} --epoch 2 --shard-number 3 --features all")
    wildcards = job(experiment="selected", epoch=2, shard=3)
    assert plan.epochs.training_files(wildcards) == shard.files
    assert plan.epochs.train_options(wildcards) == shard.options
    assert plan.epochs.trained_shards(wildcards)[3] == shard.output


def test_first_epochs_wait_for_all_grammars_and_models() -> None:
    plan = plan_of({"a": {**SELECTED, "tasks": {"shards": 4, "language_model_folds": 2}, "seed": 7}})
    first, second = plan.epoch("a", 1), plan.epoch("a", 2)
    assert first.start == []
    assert first.level_before == [
        "out/x/shards/train/4-seed-7/files.txt",
        "out/x/lm/4-seed-7-shards/2-folds/files.txt",
    ]
    # which need the mixed weights, and so all shards
    assert second.level_before == []
    assert plan.shards.sharding_options(job(split="train", shards="4-seed-7")) == "--shards 4 --seed 7"


def test_shards_that_go_on_alone() -> None:
    plan = plan_of({"a": {"algorithm": "mixsgd", "tune_on": "dev", "tasks": {"shards": 2}, "epochs": 2}})
    second = plan.epoch("a", 2)
    assert second.shard(1).start == ["out/x/experiments/a/epoch-1/shard-1.h5"]
    assert second.level_before == ["out/x/experiments/a/epoch-1/files.txt"]
    assert second.mixed_before == ["out/x/experiments/a/epoch-1/weights.h5"]
    # all references of dev, shuffled with its sentences
    assert plan.shards.further_texts(job(split="dev")) == ["out/x/corpus/dev.target.1.gz"]


def test_resharding_deals_each_file_once() -> None:
    tasks = {"name": "resharding", "shards": 2, "parts": 3, "language_model_folds": 1}
    plan = plan_of({"a": {**SELECTED, "tasks": tasks}})
    dealt = [[plan.epoch("a", epoch).shard(shard).files for shard in (0, 1)] for epoch in (1, 2, 3)]
    for first, second in dealt:
        assert len(first) == len(second) == 3
        assert sorted(first + second) == plan.shards.grammars("train", "6")
    assert dealt[0] != dealt[1]
    assert plan.epoch("a", 1).shard(0).models == [plan.files.model]


@pytest.mark.parametrize(
    ("start", "weights"), [("mixed", "epoch-1/mixed.h5"), ("tuned", "epoch-1/weights.h5")]
)
def test_mixed_weights_that_are_tuned(start: str, weights: str) -> None:
    held_out = {"tuner": {"name": "kbest-mira"}, "iterations": 2, "start": start}
    plan = plan_of({"a": {**SELECTED, "tasks": {"shards": 2}, "held_out": held_out}})
    folder = "out/x/experiments/a"
    assert plan.epochs.held_out == ["a"]
    assert plan.epoch("a", 1).mixed == f"{folder}/epoch-1/mixed.h5"
    assert plan.epoch("a", 2).shard(0).start == [f"{folder}/{weights}"]
    first, last = job(experiment="a", epoch=1, iteration=1), job(experiment="a", epoch=1)
    assert plan.lists.weights(first) == [f"{folder}/epoch-1/mixed.h5"]
    assert plan.lists.weights(last) == [f"{folder}/epoch-1/iteration-1/weights.h5"]
    assert plan.lists.written(first) == [f"{folder}/epoch-1/iteration-1/lists/0.h5"]
    assert plan.lists.written(last) == [*plan.lists.written(first), f"{folder}/epoch-1/lists/0.h5"]
    assert plan.lists.shard(job(experiment="a", shard=0)) == ["out/x/shards/dev/1/0.h5"]


def test_a_batch_tuner_reads_the_lists_of_all_epochs() -> None:
    plan = plan_of({"a": {"tune_on": "dev", "epochs": 3, "learner": {"name": "mert"}, "features": "dense"}})
    third = job(experiment="a", epoch=3)
    assert plan.epochs.batch == ["a"]
    assert plan.lists.written(third) == [
        f"out/x/experiments/a/epoch-{epoch}/lists/0.h5" for epoch in (1, 2, 3)
    ]
    assert plan.lists.weights(third) == ["out/x/experiments/a/epoch-2/weights.h5"]
    assert plan.lists.weights(job(experiment="a", epoch=1)) == []
    assert plan.lists.weights_before(third) == []


def test_independent_tasks_are_compared_together() -> None:
    tasks = {"labels": {"a": 1, "b": 1}, "language_model_folds": 1}
    experiments = {
        "all": {**SELECTED, "tasks": {"name": "natural", **tasks}},
        "own": {"algorithm": "sgd", "tune_on": "train", "tasks": {"name": "independent", **tasks}},
    }
    labelled = {**PAIR, "task": "x.task"}
    plan = plan_of(experiments, test=labelled, devtest=labelled)
    assert plan.tables.compared == ["all"]
    assert set(plan.tables.independent["own"]) == {"a", "b"}
    of_b = plan.epoch(plan.tables.independent["own"]["b"], 1)
    # the same file as in the shards of the natural tasks
    assert of_b.shard(0).files == plan.epoch("all", 1).shard(1).files


def test_text_of_a_run() -> None:
    plan = plan_of({"a": {**SELECTED, "tasks": {"shards": 2}}}, monolingual=["m.en"])
    texts = plan.texts
    assert texts.held_out == ["dev", "devtest", "devtest.one", "test.one", "test.two"] == texts.given
    assert texts.references("dev") == ["out/x/corpus/dev.target.gz", "out/x/corpus/dev.target.1.gz"]
    assert texts.raw_references("dev") == ["out/x/corpus/dev.raw.gz", "out/x/corpus/dev.raw.1.gz"]
    # two corpora: their names are labels
    assert {"out/x/corpus/train.task.gz", "out/x/corpus/monolingual.gz"} <= set(texts.prepared)
    assert set(texts.raw_files("train")) == {
        *("a.de", "a.en", "b.de", "b.en", "d.de", "d.en", "d2.en", "m.en", "x.de", "x.en")
    }
    assert texts.alignment == "out/x/align/train.align.gz"
    assert plan.tables.devtest(job(test_set="one")) == "devtest.one"
    assert plan.tables.translation("a", "one") == "out/x/experiments/a/best-one/test.one.txt"
    assert plan.tables.counted == {
        "train": "2",
        **dict.fromkeys(["devtest", "devtest.one", "test.one", "test.two"], "1"),
    }


def test_results_in_a_folder_that_looks_like_an_option() -> None:
    content = {"name": "x", "output": "-out", "data": DATA, "experiments": {"a": SELECTED}}
    assert Plan(read_config(content)).files.results.startswith("/")
