"""The plan of epochs: what is trained on what, mixed and tuned."""

import json

import pytest
from tests.plans import FOLDER, FOLLOWED, SELECTED, TUNED, job, plan_of

from itersel.config.division import InOrder, Shuffled
from itersel.config.experiments import expanded
from itersel.config.learning_steps import MixSettings
from itersel.config.settings import read_settings


@pytest.mark.parametrize(
    ("mixing", "has_previous", "weights"),
    [
        ({"mixing": {"name": "none"}, "tasks": {"name": "random", "shards": 1}}, False, "shard-0.h5"),
        ({"algorithm": "mixsgd"}, True, "shard-0.h5"),
        ({"algorithm": "itermixsgd"}, False, "mixed.h5"),
        ({"algorithm": "itersel"}, False, "mixed.h5"),
        ({"mixing": FOLLOWED, "learner": {"name": "mira"}}, True, "mixed.h5"),
    ],
)
def test_step_on_dev_after_every_mixing(mixing, has_previous, weights):
    """Training and mixing continue from mixed weights, whatever the step made of them."""
    step = {"tuner": {"name": "line-search", "directions": ["WordPenalty", "step"]}}
    experiment = {"tasks": {"name": "random", "shards": 2}, "epochs": 2, **mixing, "retune": step}
    plan = plan_of({"a": experiment}, decoder={"pieces": 3})
    first, second = f"{FOLDER}/a/epoch-1", f"{FOLDER}/a/epoch-2"
    place = job(epoch=2, shard=0, file=0)
    assert plan.epochs.of(place).mixed_before == ([f"{first}/mixed.h5"] if has_previous else [])
    assert plan.epochs.start_of_shard(place) == [f"{first}/{weights}"]
    assert plan.tuning.decoded_files(place) == ["out/x/sentences/dev/3/0.h5"]
    assert (plan.tuning.start_of_iteration(place), plan.tuning.iteration(place)) == (
        [f"{second}/mixed.h5"],
        1,
    )
    assert plan.tuning.start_of_epoch(place) == [f"{first}/mixed.h5"]
    tuner = {"name": "line-search", "directions": ["WordPenalty", "step"]}
    assert json.loads(plan.tuning.tune_settings(place)) == {
        **{"tuner": tuner, "files": 3, "seed": 1, "features": "all", "retune": True},
        "left_out_templates": [],
    }
    assert plan.tuning.start_of_epoch(job(epoch=1)) == []


def test_shard_of_an_epoch():
    """It uses the language model of its fold."""
    plan = plan_of({"a": {**SELECTED, "tasks": {"name": "random", "shards": 5, "language_model_folds": 2}}})
    place = job(epoch=2, shard=3)
    assert plan.epochs.training_files(place) == ["out/x/sentences/train/5/3.h5"]
    assert plan.epochs.training_language_models(place) == ["out/x/lm/5/2-folds/1.bin"]
    start = [f"{FOLDER}/a/epoch-1/weights.h5"]
    assert plan.epochs.start_of_shard(place) == start
    assert plan.epochs.trained_shards(place)[3] == f"{FOLDER}/a/epoch-2/shard-3.h5"
    models = job(division="5", folds=2, fold=1)
    assert plan.language_models.fold_models(models) == [f"out/x/lm/5/2-folds/{fold}.bin" for fold in (0, 1)]


def test_first_epochs_wait_for_all_grammars_and_models():
    plan = plan_of(
        {"a": {**SELECTED, "tasks": {"name": "random", "shards": 4, "language_model_folds": 2}, "seed": 7}}
    )
    assert plan.epochs.start_of_shard(job(epoch=1, shard=0)) == []
    waited = [f"out/x/{one}/files.txt" for one in ("sentences/train/4-seed-7", "lm/4-seed-7/2-folds")]
    assert plan.epochs.of(job(epoch=1)).level_before == waited
    # which need the mixed weights, and so all shards
    assert plan.epochs.of(job(epoch=2)).level_before == []


def test_shards_that_go_on_alone():
    plan = plan_of(
        {
            "a": {
                "algorithm": "mixsgd",
                "tune_on": "dev",
                "tasks": {"name": "random", "shards": 2},
                "epochs": 2,
            }
        }
    )
    assert plan.epochs.start_of_shard(job(epoch=2, shard=1)) == [f"{FOLDER}/a/epoch-1/shard-1.h5"]
    assert plan.epochs.of(job(epoch=2)).level_before == [f"{FOLDER}/a/epoch-1/files.txt"]
    # all references of dev, shuffled with its sentences
    assert plan.divisions.further_texts(job(split="dev")) == ["out/x/corpus/dev.target.1.gz"]
    assert plan.divisions.further_texts(job(split="devtest")) == []
    for split in ("train", "dev", "devtest"):
        place = job(split=split, division="2", file=1)
        text = f"out/x/sentences/{split}/2/text/1"
        assert plan.divisions.source(place) == f"{text}.source.gz"
        further = [f"{text}.target.1.gz"] if split == "dev" else []
        assert plan.divisions.references(place) == [f"{text}.target.gz", *further]
        assert plan.divisions.lines_in_index(place) == ([f"{text}.ids"] if split == "train" else [])


def test_a_single_shard_on_train():
    """It has all files in each epoch, in another order."""
    plan = plan_of({"a": {"epochs": 3, "tasks": {"shards": 1}}})
    files = [plan.epochs.training_files(job(epoch=epoch, shard=0)) for epoch in (1, 2, 3)]
    assert all(sorted(one) == [f"out/x/sentences/train/8/{file}.h5" for file in range(8)] for one in files)
    assert len({*map(tuple, files)}) == 3
    assert plan.config.experiments["a"].tasks.language_model_folds == 8
    assert read_settings(MixSettings, plan.epochs.mix_settings(job(epoch=1))).shards == 1


@pytest.mark.parametrize(("next_epoch_from", "weights"), [("mixed", "mixed.h5"), ("tuned", "weights.h5")])
def test_mixed_weights_that_are_tuned(next_epoch_from, weights):
    retune = {"tuner": {"name": "kbest-mira"}, "iterations": 2, "next_epoch_from": next_epoch_from}
    plan = plan_of({"a": {**SELECTED, "tasks": {"name": "random", "shards": 2}, "retune": retune}})
    folder = f"{FOLDER}/a/epoch-1"
    assert plan.epochs.retuned == ["a"]
    assert plan.epochs.start_of_shard(job(epoch=2, shard=0)) == [f"{folder}/{weights}"]
    first, last = job(epoch=1, iteration=1), job(epoch=1)
    assert plan.tuning.start_of_iteration(first) == [f"{folder}/mixed.h5"]
    assert plan.tuning.start_of_iteration(last) == [f"{folder}/iteration-1/weights.h5"]
    assert plan.tuning.tuning_files(first) == [f"{folder}/iteration-1/tuning/0.h5"]
    assert plan.tuning.tuning_files(last) == [*plan.tuning.tuning_files(first), f"{folder}/tuning/0.h5"]
    # forests only of the last iteration
    plan = plan_of({"a": {**SELECTED, "retune": {**retune, "tuner": {"name": "forest-mert"}}}})
    assert plan.tuning.tuning_files(last) == [f"{folder}/tuning/0.h5"]


def test_a_batch_tuner_reads_the_lists_of_all_epochs():
    plan = plan_of({"a": {**TUNED, "epochs": 3, "learner": {"name": "mert"}}})
    third = job(epoch=3)
    assert plan.epochs.batch == ["a"]
    assert plan.tuning.tuning_files(third) == [f"{FOLDER}/a/epoch-{epoch}/tuning/0.h5" for epoch in (1, 2, 3)]
    assert plan.tuning.start_of_iteration(third) == [f"{FOLDER}/a/epoch-2/weights.h5"]
    assert plan.tuning.start_of_iteration(job(epoch=1)) == []
    assert plan.tuning.start_of_epoch(third) == []


def test_an_epoch_passes_on_what_the_one_before_made():
    """If it may come after the end of training: with patience 2, the fourth is the first."""
    stopping = {"epochs": 5, "patience": 2, "tasks": {"name": "random", "shards": 2}}
    tuned = {"retune": {"tuner": {"name": "pro"}}}
    trained = {"mixed": {**SELECTED, **stopping}, "retuned": {**SELECTED, **stopping, **tuned}}
    plan = plan_of({**trained, "batch": {**TUNED, **stopping, "learner": {"name": "mert"}}})
    for name, mixed in (("mixed", "weights.h5"), ("retuned", "mixed.h5"), ("batch", "weights.h5")):
        third = f"{FOLDER}/{name}/epoch-3"
        for epoch, before in ((3, []), (4, [f"{third}/decision.json"])):
            place = job(name, epoch=epoch, shard=0, piece=0, stage=f"epoch-{epoch}", split="devtest")
            assert plan.epochs.of(place).decision_needed == before
            passing = plan.epochs.passed_weights, plan.epochs.passed_mixed, plan.epochs.passed_translation
            for passed, file in zip(passing, ("weights.h5", mixed, "devtest/0.txt"), strict=True):
                files = [f"{third}/{file}"] if before else []
                assert passed(place) == {"decision": before, "passed_on": files}
    best = job("mixed", stage="best", split="test", piece=0)
    assert plan.epochs.passed_translation(best) == {"decision": [], "passed_on": []}
    assert json.loads(plan.choice.patience_settings(job("mixed")))["patience"] == 2
    before = [[], [f"{FOLDER}/mixed/epoch-1/decision.json"]]
    assert [plan.epochs.of(job("mixed", epoch=epoch)).decision_before for epoch in (1, 2)] == before


def test_experiments_that_start_from_others():
    learner = {"learner": {"name": "mert"}}
    plan = plan_of({"x": {"start_from": "y"}, "y": {**TUNED, **learner, "start_from": "z"}, "z": TUNED})
    best = f"{FOLDER}/{{}}/best/weights.h5"
    assert plan.epochs.start_of_shard(job("x", epoch=1, shard=0)) == [best.format("y")]
    assert plan.epochs.start_of_shard(job("x", epoch=2, shard=0)) == [f"{FOLDER}/x/epoch-1/weights.h5"]
    assert plan.tuning.start_of_iteration(job("y", epoch=1)) == [best.format("z")]
    assert plan.epochs.start_of_shard(job("z", epoch=1, shard=0)) == []


def test_repeats():
    """The N-th run has its own seed, shards and language models, and starts from the N-th of another."""
    content = {
        "a": {"repeats": 3, "epochs": 2, "tasks": {"name": "random", "shards": 2}},
        "b": {"seed": 8, "repeats": 2, "tune_on": "dev", "start_from": "a"},
        "c": {"repeats": 4, "start_from": "a"},
    }
    plan = plan_of(content, seed=5)
    config = plan.config
    seeds = {name: one.seed for name, one in config.experiments.items() if name[0] in "ab"}
    assert seeds == {"a": 5, "a.repeat-2": 6, "a.repeat-3": 7, "b": 8, "b.repeat-2": 9}
    starts = {name: one.start_from for name, one in config.experiments.items() if one.start_from}
    assert starts == {
        **{"b": "a", "b.repeat-2": "a.repeat-2"},
        **{"c": "a", "c.repeat-2": "a.repeat-2", "c.repeat-3": "a.repeat-3", "c.repeat-4": "a"},
    }
    assert expanded(config) == config
    third = job("a.repeat-3", epoch=2, shard=1)
    assert plan.epochs.training_files(third) == ["out/x/sentences/train/2-seed-7/1.h5"]
    assert plan.epochs.training_language_models(third) == ["out/x/lm/2-seed-7/2-folds/1.bin"]
    assert json.loads(plan.origin.train_settings(third))["seed"] == 7
    assert plan.divisions.division(job(split="train", division="2-seed-7")) == Shuffled(2, seed=7)
    assert plan.divisions.division(job(split="devtest", division="1")) == InOrder(1)
    described = json.loads(plan.choice.choose_settings(third))
    assert (described["name"], described["repeat"]) == ("a", 3)
