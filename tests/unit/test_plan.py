"""The plan of a run: files and options of jobs, from the config alone."""

import json
import re
import shlex
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest

from itersel.cli.main import make_parser
from itersel.config import splits
from itersel.config.command_line import shell_options
from itersel.config.cutting import (
    CutSettings,
    InOrder,
    Labelled,
    ListCutSettings,
    ListedSettings,
    Pooled,
    Shuffled,
)
from itersel.config.experiments import expanded, split_repeat, with_repeats
from itersel.config.learners import LEARNERS
from itersel.config.reading import read_config
from itersel.config.report_steps import (
    ChooseSettings,
    CorporaSettings,
    ExplainSettings,
    PatienceSettings,
    ResourceSettings,
    TableSettings,
)
from itersel.config.search import FeatureSettings, ForestSettings, Grammar, ListSettings, Search
from itersel.config.settings import as_json, read_settings
from itersel.config.steps import ListTrainSettings, MixSettings, TrainSettings, TuneSettings
from itersel.config.tasks import files_of
from itersel.config.tuners import TUNERS
from itersel.corpus.sharding import deal_files
from itersel.plan import Plan
from itersel.plan.commands import sequences
from itersel.plan.texts import SHARDS_PATTERN

PAIR = {"source": "x.de", "target": "x.en"}
LABELLED = {**PAIR, "task": "x.task"}
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
NATURAL = {"name": "natural", "labels": {"a": 2, "b": 1}}
POOLED = {"name": "pooled", "labels": ["b", "a"]}
FOLLOWED = {"name": "path-following", "threshold": 1, "epsilon": 5, "minimum": 0.01}
FOLDER = "out/x/experiments"
# Instead of the defaults for train.
PLAIN = {
    "tasks": {"name": "random", "shards": 1},
    "held_out": {"tuner": {"name": "none"}},
    "tune_on": "train",
}


def plan_of(experiments, data=DATA, **more):
    """Return the plan of a config; its files do not exist."""
    plain = {name: {**PLAIN, **one} for name, one in experiments.items()}
    content = {"name": "x", "output": "out", "data": data, "experiments": plain, **more}
    return Plan(expanded(read_config(content)))


def plan_of_texts(**texts):
    return plan_of({"a": SELECTED}, DATA | texts)


def job(experiment="a", **wildcards):
    """Return wildcards as Snakemake gives them."""
    return SimpleNamespace(experiment=experiment, **{name: str(value) for name, value in wildcards.items()})


TUNED = {"tune_on": "dev", "features": "dense"}
EXPERIMENTS = {
    "patient": {"algorithm": "mixsgd", "patience": 1, "epochs": 3},
    **{name: {"learner": {"name": name}} for name in LEARNERS},
    **{name: {**TUNED, "learner": {"name": name}, "seed": 9, "k_best": None} for name in TUNERS},
    "limited": {"mixing": {"name": "selection", "threshold": 0.5}, "k_best": 7, "seed": 9},
    "part": {"templates": ["R", "RBS"], "held_out": {"tuner": {"name": "forest-mert"}}},
    "mean": {"algorithm": "mixsgd", "held_out": {"tuner": {"name": "pro"}}},
}
ALL = plan_of(EXPERIMENTS)
HELP_DATA = {"max_train": 5, "max_held_out": 2, "modules": ["a", "b"], "held_out_modules": ["c"]}
HELP = plan_of({"a": SELECTED}, {**HELP_DATA, "compound_splitting": True})
LISTED = {"lists": ["l's"], "target": ["t", "t2"]}
LISTS = plan_of(
    {
        "selected": {
            **SELECTED,
            "tasks": {"name": "random", "shards": 4},
            "held_out": {"tuner": {"name": "mert"}},
        },
        "tuned": {"tune_on": "dev", "features": "dense", "learner": {"name": "pro"}},
    },
    {
        "kind": "lists",
        "target_language": "en",
        "protected": ["a b"],
        "dense": ["LM", "TM_0"],
        "train": {**LISTED, "quality": "q", "task": "labels"},
        **dict.fromkeys(("dev", "devtest"), LISTED),
        "test": {"new": {**LISTED, "source": "s", "devtest": LISTED}},
    },
    decoder={"jobs": 3},
)


def option_strings():
    """Return commands with options that the plan makes: those whose options people type, too."""
    texts = LISTS.list_texts
    place = job("selected", split="train", shards="4", shard=0)
    index = ["extract", "--index", "x", "--settings", ALL.shards.grammar(place)]
    return [
        *(("corpus", ["prepare"], plan.texts.prepare_options(job())) for plan in (ALL, HELP)),
        ("corpus", ["prepare"], ALL.texts.prepare_options(job(held_out="dev"))),
        ("corpus", ["libreoffice-help"], HELP.texts.help_options),
        ("lm", ["estimate", "--input", "x"], ALL.shards.estimate_options(job())),
        ("lm", ["estimate", "--input", "x"], ALL.shards.estimate_options(job(shards="4", fold=0, folds=2))),
        ("grammar", index, ALL.shards.extracted_text(place)),
        *(("corpus", ["references"], texts.text_options(split)) for split in texts.splits),
    ]


@pytest.mark.parametrize(("command", "required", "made"), option_strings())
def test_commands_know_the_options(command, required, made):
    arguments = [command, *required, *shlex.split(made)]
    output = [] if "--output" in arguments else ["--output", "x"]
    assert make_parser(arguments).parse_args([*arguments, *output]).output


def settings_of_steps():
    """Return the settings that the plan makes, with the class that the step reads them as."""
    translated = job("patient", stage="epoch-3", split="test", shard=0)
    place = job("selected", epoch=2, stage="epoch-2", shard=0, split="train", shards="4")
    found = [
        (Grammar, ALL.shards.grammar(place)),
        (TableSettings, ALL.tables.table_settings(job())),
        (PatienceSettings, ALL.tables.patience_settings(job("patient", epoch=2))),
        (Search, ALL.tables.decode_settings(translated)),
        (CutSettings, ALL.shards.cut_settings(place)),
        (ListCutSettings, LISTS.list_texts.cut_settings(place)),
        (ListedSettings, LISTS.list_texts.list_settings(place)),
        (ListTrainSettings, LISTS.epochs.train_settings(place)),
        (FeatureSettings, LISTS.tables.decode_settings(place)),
        (TableSettings, LISTS.tables.table_settings(job())),
        (ChooseSettings, LISTS.tables.choose_settings(place)),
        (CorporaSettings, LISTS.tables.corpora_settings),
        (CorporaSettings, ALL.tables.corpora_settings),
        (ExplainSettings, ALL.explain_settings(job())),
    ]
    for name in EXPERIMENTS:
        place = job(name, epoch=2, shard=0)
        found.append((ChooseSettings, ALL.tables.choose_settings(place)))
        found.append((ResourceSettings, ALL.tables.resource_settings(place)))
        if name not in ALL.epochs.batch:
            found.append((TrainSettings, ALL.epochs.train_settings(place)))
            found.append((MixSettings, ALL.epochs.mix_settings(place)))
        if name not in ALL.epochs.mixed:
            kind = ForestSettings if ALL.lists.step(place) == "forest" else ListSettings
            found.append((kind, ALL.lists.settings(place)))
            found.append((TuneSettings, ALL.lists.tune_settings(place)))
    return found


@pytest.mark.parametrize(("kind", "made"), settings_of_steps())
def test_steps_read_their_settings(kind, made):
    """The plan states every key, so no default of a step fills in what it lacks."""
    assert made == as_json(read_settings(kind, made))


def test_lists_replace_grammars_and_models():
    texts = LISTS.list_texts
    place = job("selected", epoch=1, stage="best", shard=2, split="train", shards="4")
    assert LISTS.epochs.training_files(place) == ["out/x/shards/train/4/2.h5"]
    assert (LISTS.epochs.training_models(place), LISTS.files.models, LISTS.tables.counted) == ([], [], {})
    # nothing of a decoder
    made = json.loads(LISTS.epochs.train_settings(place))
    assert made.keys() == {"features", "k_best", "seed", "learner", "measure_loss"}
    assert LISTS.epochs.of(place).level_before == ["out/x/shards/train/4/files.txt"]
    # tuners read whole lists in every iteration
    dev = [f"out/x/shards/dev/3/{shard}.h5" for shard in range(3)]
    for iteration in (1, 2):
        assert LISTS.lists.to_tune_on(job("selected", epoch=1, iteration=iteration)) == dev
    tuned = job("tuned", epoch=4)
    assert LISTS.lists.to_tune_on(tuned) == ["out/x/shards/dev/1/0.h5"]
    settings = json.loads(LISTS.lists.tune_settings(tuned))
    assert (settings["shards"], settings["features"], settings["sum_sparse"]) == (1, "dense", False)
    assert json.loads(LISTS.lists.tune_settings(place))["shards"] == 3
    assert json.loads(LISTS.tables.decode_settings(place)) == {"features": "all"}
    references = [f"out/x/corpus/train.target{end}.gz" for end in ("", ".1")]
    assert (texts.lists(place), texts.quality(place), texts.references(place)) == (["l's"], ["q"], references)
    cut = {"name": "shuffled", "shards": 4, "seed": 1}
    assert json.loads(texts.cut_settings(place)) == {"cut": cut, "dense": ["LM", "TM_0"]}
    in_order = json.loads(texts.cut_settings(job(split="devtest.new", shards="3")))["cut"]
    assert in_order == {"name": "in-order", "shards": 3}
    assert texts.quality(job(split="devtest.new")) == []
    files = [f"out/x/corpus/test.new.{end}" for end in ("target.gz", "target.1.gz", "source.gz")]
    assert texts.texts("test.new") == [*files, "out/x/corpus/test.new.statistics.json"]
    assert LISTS.texts.raw_references("test.new") == LISTS.texts.references("test.new") == files[:2]
    assert LISTS.texts.statistics == [f"out/x/corpus/{split}.statistics.json" for split in texts.splits]
    assert json.loads(texts.list_settings(place)) == {"language": "en", "protected": ["a b"]}


def test_lists_whose_names_begin_with_a_dash(tmp_path, monkeypatch):
    """They are not taken for options; a folder stands for all files in it, which may be thousands."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-folder").mkdir()
    (tmp_path / "-folder/1").touch()
    train = {"lists": ["-folder", "-n"], "quality": "-q"}
    data = {"kind": "lists", "train": train, **dict.fromkeys(("dev", "devtest", "test"), LISTED)}
    texts = plan_of({"a": {"features": "dense", "held_out": {"tuner": {"name": "none"}}}}, data).list_texts
    place = job(split="train", shards="1")
    assert texts.given_lists(place) == [str(tmp_path / "-folder"), str(tmp_path / "-n")]
    assert texts.lists(place) == [str(tmp_path / "-folder/1"), str(tmp_path / "-n")]
    assert texts.quality(place) == [str(tmp_path / "-q")]


def test_values_that_begin_with_a_dash():
    made = shell_options(source="-n 'é.de", target="--help", monolingual="-", threshold=-0.5, seed=3)
    dashed = ["--source=-n 'é.de", "--target=--help", "--monolingual", "./-", "--threshold=-0.5"]
    assert shlex.split(made) == [*dashed, "--seed", "3"]
    assert plan_of({"a": SELECTED}, output="-out").files.results.startswith("/")


def test_keys_of_an_experiment_win():
    """Its seed and the size of its lists."""
    for name, seed, k_best in (("limited", 9, 7), ("mira", 1, 100)):
        made = json.loads(ALL.epochs.train_settings(job(name)))
        assert (made["seed"], made["k_best"]) == (seed, k_best)
    assert json.loads(ALL.lists.tune_settings(job("pro", epoch=1)))["seed"] == 9


def test_a_resolved_config_is_final():
    """Nothing is looked up again in the keys whose values it has filled in."""
    decoder = replace(ALL.config.decoder, k_best=33)
    changed = Plan(replace(ALL.config, seed=99, decoder=decoder))
    for name in EXPERIMENTS:
        place = job(name, epoch=1, shard=0)
        if name not in ALL.epochs.batch:
            assert changed.epochs.train_settings(place) == ALL.epochs.train_settings(place)
        if name not in ALL.epochs.mixed:
            assert changed.lists.settings(place) == ALL.lists.settings(place)
            assert changed.lists.tune_settings(place) == ALL.lists.tune_settings(place)
    assert changed.sizes().tuned == ALL.sizes().tuned
    # forests have no size of lists
    assert ALL.config.experiments["forest-mert"].k_best is None
    only = {"forest-mert": ALL.config.experiments["forest-mert"]}
    sizes = [Plan(replace(plan.config, experiments=only)).sizes() for plan in (ALL, changed)]
    assert sizes[0] == sizes[1]


def test_settings_of_tuning():
    """Forests for tuning on dev after mixing have all features; the tuner sums the sparse ones."""
    search = {"templates": [], "pop_limit": 200, "max_span": 15}
    for name, step, features, more in (
        ("part", "forest", "all", {"density": 50}),
        ("forest-mert", "forest", "dense", {"density": 50}),
        ("mert", "kbest", "dense", {"k_best": 100}),
    ):
        place = job(name, epoch=1, shard=0)
        assert ALL.lists.step(place) == step
        assert json.loads(ALL.lists.settings(place)) == {"features": features, **search, **more}
        assert json.loads(ALL.lists.tune_settings(place))["sum_sparse"] == (name == "part")
    second = job("mert", epoch=2)
    tuner = {"name": "mert", "directions": 12, "restarts": 5}
    assert json.loads(ALL.lists.tune_settings(second)) == {
        **{"tuner": tuner, "shards": 1, "seed": 9, "features": features, "sum_sparse": False}
    }
    assert (ALL.lists.iteration(second), ALL.lists.weights(second)) == (
        2,
        [f"{FOLDER}/mert/epoch-1/weights.h5"],
    )


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
    experiment = {"tasks": {"name": "random", "shards": 2}, "epochs": 2, **mixing, "held_out": step}
    plan = plan_of({"a": experiment}, decoder={"jobs": 3})
    first, second = f"{FOLDER}/a/epoch-1", f"{FOLDER}/a/epoch-2"
    place = job(epoch=2, shard=0)
    assert plan.epochs.of(place).mixed_before == ([f"{first}/mixed.h5"] if has_previous else [])
    assert plan.epochs.start_weights(place) == [f"{first}/{weights}"]
    assert plan.lists.shard(place) == ["out/x/shards/dev/3/0.h5"]
    assert (plan.lists.weights(place), plan.lists.iteration(place)) == ([f"{second}/mixed.h5"], 1)
    assert plan.lists.weights_before(place) == [f"{first}/mixed.h5"]
    tuner = {"name": "line-search", "directions": ["WordPenalty", "step"]}
    assert json.loads(plan.lists.tune_settings(place)) == {
        **{"tuner": tuner, "shards": 3, "seed": 1, "features": "all", "sum_sparse": True}
    }
    assert plan.lists.weights_before(job(epoch=1)) == []


def test_settings_of_mixing():
    keep = ["dense", "RBT:,_it's"]
    kept = {"mixing": {"name": "selection", "relative_threshold": 0.25, "norm": "l0", "keep": keep}}
    path = {"mixing": FOLLOWED, "learner": {"name": "mira"}, "epochs": 2}
    mean = {"algorithm": "mixsgd", "epochs": 2}
    plan = plan_of({"default": {}, "kept": kept, "mean": mean, "path": path})
    unlimited = {"select": None, "threshold": None, "relative_threshold": None}
    selection = {"name": "selection", **unlimited, "norm": "l2", "keep": []}
    followed = {"name": "path-following", "threshold": 1.0, "epsilon": 5.0, "minimum": 0.01}
    for name, mixing in (
        ("default", {**selection, "select": 100_000}),
        ("kept", {**selection, "relative_threshold": 0.25, "norm": "l0", "keep": keep}),
        ("mean", {"name": "mean-of-epochs"}),
        ("path", {**followed, "norm": "l2", "keep": []}),
    ):
        assert json.loads(plan.epochs.mix_settings(job(name))) == {"mixing": mixing, "shards": 1}
        before = [f"{FOLDER}/{name}/epoch-1/weights.h5"] if name in ("mean", "path") else []
        assert plan.epochs.of(job(name, epoch=2)).mixed_before == before
        measured = json.loads(plan.epochs.train_settings(job(name)))["measure_loss"]
        assert measured == (name == "path")
    weights = f"{FOLDER}/path/epoch-1/weights.h5"
    assert plan.epochs.start_weights(job("path", epoch=2, shard=0)) == [weights]


def test_shard_of_an_epoch():
    """It uses the language model of its fold."""
    plan = plan_of({"a": {**SELECTED, "tasks": {"name": "random", "shards": 5, "language_model_folds": 2}}})
    place = job(epoch=2, shard=3)
    assert plan.epochs.training_files(place) == ["out/x/shards/train/5/3.h5"]
    assert plan.epochs.training_models(place) == ["out/x/lm/5-shards/2-folds/1.bin"]
    start = [f"{FOLDER}/a/epoch-1/weights.h5"]
    assert plan.epochs.start_weights(place) == start
    assert plan.epochs.trained_shards(place)[3] == f"{FOLDER}/a/epoch-2/shard-3.h5"
    models = job(shards="5", folds=2, fold=1)
    assert plan.shards.fold_models(models) == [f"out/x/lm/5-shards/2-folds/{fold}.bin" for fold in (0, 1)]
    fold = "--order 3 --leave-out out/x/shards/train/5/text --fold 1/2"
    assert plan.shards.estimate_options(models) == fold


def test_first_epochs_wait_for_all_grammars_and_models():
    plan = plan_of(
        {"a": {**SELECTED, "tasks": {"name": "random", "shards": 4, "language_model_folds": 2}, "seed": 7}}
    )
    assert plan.epochs.start_weights(job(epoch=1, shard=0)) == []
    waited = [f"out/x/{one}/files.txt" for one in ("shards/train/4-seed-7", "lm/4-seed-7-shards/2-folds")]
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
    assert plan.epochs.start_weights(job(epoch=2, shard=1)) == [f"{FOLDER}/a/epoch-1/shard-1.h5"]
    assert plan.epochs.of(job(epoch=2)).level_before == [f"{FOLDER}/a/epoch-1/files.txt"]
    # all references of dev, shuffled with its sentences
    assert plan.shards.further_texts(job(split="dev")) == ["out/x/corpus/dev.target.1.gz"]
    assert plan.shards.further_texts(job(split="devtest")) == []
    for split in ("train", "dev", "devtest"):
        made = plan.shards.extracted_text(job(split=split, shards="2", shard=1))
        assert ("--leave-one-out" in made) == (split == "train")
        assert ("/1.target.1.gz" in made) == (split == "dev")


def test_resharding_deals_each_file_once():
    """Differently in each epoch; files keep their language models."""
    tasks = {"name": "resharding", "shards": 2, "parts": 3, "language_model_folds": 4}
    plan = plan_of({"a": {**SELECTED, "tasks": tasks}})
    for epoch in (1, 2, 3):
        for shard, files in enumerate(deal_files(6, 2, 1, epoch)):
            place = job(epoch=epoch, shard=shard)
            assert plan.epochs.training_files(place) == [f"out/x/shards/train/6/{file}.h5" for file in files]
            models = [f"out/x/lm/6-shards/4-folds/{file % 4}.bin" for file in files]
            assert plan.epochs.training_models(place) == models
    assert plan.shards.cut(job(split="train", shards="6")) == Shuffled(6, seed=1)


def test_a_single_shard_on_train():
    """It has all files in each epoch, in another order."""
    plan = plan_of({"a": {"epochs": 3, "tasks": {"shards": 1}}})
    files = [plan.epochs.training_files(job(epoch=epoch, shard=0)) for epoch in (1, 2, 3)]
    assert all(sorted(one) == [f"out/x/shards/train/8/{file}.h5" for file in range(8)] for one in files)
    assert len({*map(tuple, files)}) == 3
    assert plan.config.experiments["a"].tasks.language_model_folds == 8
    assert read_settings(MixSettings, plan.epochs.mix_settings(job(epoch=1))).shards == 1


@pytest.mark.parametrize(("start", "weights"), [("mixed", "mixed.h5"), ("tuned", "weights.h5")])
def test_mixed_weights_that_are_tuned(start, weights):
    held_out = {"tuner": {"name": "kbest-mira"}, "iterations": 2, "start": start}
    plan = plan_of({"a": {**SELECTED, "tasks": {"name": "random", "shards": 2}, "held_out": held_out}})
    folder = f"{FOLDER}/a/epoch-1"
    assert plan.epochs.held_out == ["a"]
    assert plan.epochs.start_weights(job(epoch=2, shard=0)) == [f"{folder}/{weights}"]
    first, last = job(epoch=1, iteration=1), job(epoch=1)
    assert plan.lists.weights(first) == [f"{folder}/mixed.h5"]
    assert plan.lists.weights(last) == [f"{folder}/iteration-1/weights.h5"]
    assert plan.lists.to_tune_on(first) == [f"{folder}/iteration-1/lists/0.h5"]
    assert plan.lists.to_tune_on(last) == [*plan.lists.to_tune_on(first), f"{folder}/lists/0.h5"]
    # forests only of the last iteration
    plan = plan_of({"a": {**SELECTED, "held_out": {**held_out, "tuner": {"name": "forest-mert"}}}})
    assert plan.lists.to_tune_on(last) == [f"{folder}/lists/0.h5"]


def test_a_batch_tuner_reads_the_lists_of_all_epochs():
    plan = plan_of({"a": {**TUNED, "epochs": 3, "learner": {"name": "mert"}}})
    third = job(epoch=3)
    assert plan.epochs.batch == ["a"]
    assert plan.lists.to_tune_on(third) == [f"{FOLDER}/a/epoch-{epoch}/lists/0.h5" for epoch in (1, 2, 3)]
    assert plan.lists.weights(third) == [f"{FOLDER}/a/epoch-2/weights.h5"]
    assert plan.lists.weights(job(epoch=1)) == []
    assert plan.lists.weights_before(third) == []


def test_an_epoch_passes_on_what_the_one_before_made():
    """If it may come after the end of training: with patience 2, the fourth is the first."""
    stopping = {"epochs": 5, "patience": 2, "tasks": {"name": "random", "shards": 2}}
    tuned = {"held_out": {"tuner": {"name": "pro"}}}
    trained = {"mixed": {**SELECTED, **stopping}, "held-out": {**SELECTED, **stopping, **tuned}}
    plan = plan_of({**trained, "batch": {**TUNED, **stopping, "learner": {"name": "mert"}}})
    for name, mixed in (("mixed", "weights.h5"), ("held-out", "mixed.h5"), ("batch", "weights.h5")):
        third = f"{FOLDER}/{name}/epoch-3"
        for epoch, before in ((3, []), (4, [f"{third}/patience.json"])):
            place = job(name, epoch=epoch, shard=0, stage=f"epoch-{epoch}", split="devtest")
            assert plan.epochs.of(place).patience == before
            passing = plan.epochs.passed_weights, plan.epochs.passed_mixed, plan.epochs.passed_translation
            for passed, file in zip(passing, ("weights.h5", mixed, "devtest/0.txt"), strict=True):
                files = [f"{third}/{file}"] if before else []
                assert passed(place) == {"patience": before, "passed_on": files}
    best = job("mixed", stage="best", split="test", shard=0)
    assert plan.epochs.passed_translation(best) == {"patience": [], "passed_on": []}
    assert json.loads(plan.tables.patience_settings(job("mixed")))["patience"] == 2
    before = [[], [f"{FOLDER}/mixed/epoch-1/patience.json"]]
    assert [plan.epochs.of(job("mixed", epoch=epoch)).decision_before for epoch in (1, 2)] == before


def test_experiments_that_start_from_others():
    learner = {"learner": {"name": "mert"}}
    plan = plan_of({"x": {"start_from": "y"}, "y": {**TUNED, **learner, "start_from": "z"}, "z": TUNED})
    best = f"{FOLDER}/{{}}/best/weights.h5"
    assert plan.epochs.start_weights(job("x", epoch=1, shard=0)) == [best.format("y")]
    assert plan.epochs.start_weights(job("x", epoch=2, shard=0)) == [f"{FOLDER}/x/epoch-1/weights.h5"]
    assert plan.lists.weights(job("y", epoch=1)) == [best.format("z")]
    assert plan.epochs.start_weights(job("z", epoch=1, shard=0)) == []


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
    assert [split_repeat(name) for name in seeds][1:4] == [("a", 2), ("a", 3), ("b", 1)]
    starts = {name: one.start_from for name, one in config.experiments.items() if one.start_from}
    assert starts == {
        **{"b": "a", "b.repeat-2": "a.repeat-2"},
        **{"c": "a", "c.repeat-2": "a.repeat-2", "c.repeat-3": "a.repeat-3", "c.repeat-4": "a"},
    }
    assert with_repeats(config) == config
    third = job("a.repeat-3", epoch=2, shard=1)
    assert plan.epochs.training_files(third) == ["out/x/shards/train/2-seed-7/1.h5"]
    assert plan.epochs.training_models(third) == ["out/x/lm/2-seed-7-shards/2-folds/1.bin"]
    assert json.loads(plan.epochs.train_settings(third))["seed"] == 7
    assert plan.shards.cut(job(split="train", shards="2-seed-7")) == Shuffled(2, seed=7)
    assert plan.shards.cut(job(split="devtest", shards="1")) == InOrder(1)
    described = json.loads(plan.tables.choose_settings(third))
    assert (described["name"], described["repeat"]) == ("a", 3)


@pytest.mark.parametrize(
    ("tasks", "files", "shards", "folds", "cut"),
    [
        ({"name": "random"}, 4, 4, 4, Shuffled(4)),
        ({"shards": 3}, 24, 3, 10, Shuffled(24)),
        (
            {"name": "pooled", "labels": ["b", "a"]},
            10,
            1,
            10,
            Pooled(labels=("a", "b"), shards=10, size="one"),
        ),
        ({"name": "pooled-cat", "labels": ["a"], "parts": 3}, 3, 1, 3, Pooled(labels=("a",), shards=3)),
        (NATURAL, 3, 3, 3, Labelled(labels={"a": 2, "b": 1})),
        (
            {**NATURAL, "others": "join", "minimum": 5},
            *(4, 4, 4),
            Labelled(labels={"a": 2, "b": 1}, others="join", minimum=5),
        ),
    ],
)
def test_tasks(tasks, files, shards, folds, cut):
    """Files, shards and language models: one model per file, at most 10; tasks have their own folders."""
    plan = plan_of({"a": {**SELECTED, "tasks": tasks}})
    found = plan.config.experiments["a"].tasks
    assert (files_of(found), found.shards, found.language_model_folds) == (files, shards, folds)
    name = plan.shards.name(plan.config.experiments["a"])
    kind = tasks.get("name", "random").removesuffix("-cat")
    has_digest = kind in ("natural", "pooled")
    assert re.fullmatch(f"{files}-{kind}-[0-9a-f]{{8}}" if has_digest else str(files), name)
    for wildcard in (name, f"{name}-seed-7"):
        assert re.fullmatch(SHARDS_PATTERN, wildcard)
    place = job(split="train", shards=name)
    assert plan.shards.cut(place) == cut
    assert plan.shards.labels(place) == (["out/x/corpus/train.task.gz"] if has_digest else [])
    in_shard = files // shards
    assert len(plan.epochs.training_files(job(epoch=1, shard=0))) == in_shard
    settings = read_settings(ChooseSettings, plan.tables.choose_settings(job()))
    assert settings.experiment == replace(plan.config.experiments["a"], tasks=found)
    assert settings.experiment.tasks.shards == shards
    # if sentences are dropped, the shards do not have all rules of train
    is_whole = kind in ("random", "resharding") or "others" in tasks
    assert plan.tables.counted.get("train") == (name if is_whole else None)


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
    assert plan.config.experiments["next.task-b"].start_from == "own.task-b"
    # the same file as in the shards of the natural tasks
    of_b = plan.epochs.training_files(job("own.task-b", epoch=1, shard=0))
    assert of_b == plan.epochs.training_files(job("all", epoch=1, shard=2))
    cut = job(split="train", shards=plan.shards.name(plan.config.experiments["all"]))
    assert plan.shards.labels(cut) == ["out/x/corpus/train.task.gz"]
    assert plan.shards.scored_labels(cut) == ["out/x/corpus/devtest.task.gz"]
    of_b = job("own.task-b.repeat-2")
    assert plan.tables.scored_labels(of_b) == ["out/x/corpus/devtest.task.gz"]
    chosen = json.loads(plan.tables.choose_settings(of_b))
    assert {"name": "own.task-b", "repeat": 2, "label": "b"}.items() <= chosen.items()
    assert chosen["experiment"]["tasks"] == {
        **{"name": "independent", "labels": {"b": 1}, "minimum": 1},
        **{"language_model_folds": 1, "shards_per_job": 1},
    }
    systems = json.loads(plan.tables.task_settings(job(split="test")))["systems"]
    assert [(one["name"], one["translation"].removeprefix(f"{FOLDER}/")) for one in systems] == [
        ("all", "all/best/test.txt"),
        *((name.partition(".")[0], f"{name}/tasks/test.txt") for name in ("own", "own.repeat-2", "next")),
    ]
    place = job(independent="own.repeat-2", split="test")
    names = [f"{FOLDER}/{name}/best/test.txt" for name in repeated.values()]
    assert plan.tables.own_translations(place) == names


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


def test_text_of_a_run():
    plan = plan_of_texts(monolingual=["m.en"])
    texts = plan.texts
    assert texts.held_out == ["dev", "devtest", "devtest.one", "test.one", "test.two"] == texts.given
    assert texts.references("dev") == ["out/x/corpus/dev.target.gz", "out/x/corpus/dev.target.1.gz"]
    assert texts.raw_references("dev") == ["out/x/corpus/dev.raw.gz", "out/x/corpus/dev.raw.1.gz"]
    # two corpora: their names are labels
    assert {"out/x/corpus/train.task.gz", "out/x/corpus/monolingual.gz"} <= set(texts.prepared)
    sides = [f"{text}.{language}" for text in "abdx" for language in ("de", "en")]
    assert set(texts.raw_files("train")) == {*sides, "d2.en", "m.en"}
    assert texts.of_language_model == ["out/x/corpus/train.target.gz", "out/x/corpus/monolingual.gz"]
    assert plan.arpa == "out/x/lm/lm.arpa.gz"
    assert plan.tables.devtest(job(test_set="one")) == "devtest.one"
    assert plan.tables.translation("a", "one") == f"{FOLDER}/a/best-one/test.one.txt"
    splits_of_one_shard = ["devtest", "devtest.one", "test.one", "test.two"]
    assert plan.tables.counted == {"train": "1", **dict.fromkeys(splits_of_one_shard, "1")}


def test_alignment():
    assert plan_of_texts().texts.alignment == "out/x/align/train.align.gz"
    given = plan_of_texts(tokenized=True, train={**PAIR, "alignment": "x.align"})
    assert given.texts.alignment == "out/x/corpus/train.alignment.gz" in given.texts.prepared


def test_texts_of_the_help():
    """Held-out modules are made with train; texts in addition to the help are prepared like train."""
    help_data = {"held_out_modules": ["sbasic"], "test": {"news": {**PAIR, "target": ["x.en", "y.en"]}}}
    plan = plan_of({"a": SELECTED}, help_data)
    made = plan.texts.prepare_options(job())
    assert made.startswith("--split hash --source-language de ")
    for text in ("--held-out-modules sbasic", "--task out/x/corpus/help/task.gz", "--held-out test.news"):
        assert text in made
    assert "out/x/corpus/test.sbasic.target.gz" in plan.texts.prepared
    news = plan.texts.prepare_options(job(held_out="test.news"))
    assert news.startswith("--split test.news --preparation out/x/corpus/preparation.json ")
    assert "--source x.de --target x.en --target y.en --output" in news
    made = json.loads(plan.tables.table_settings(job()))["test_sets"]
    for name, split in (("test", "test"), ("sbasic", "test.sbasic"), ("news", "test.news")):
        assert made[name]["references"][0] == f"out/x/corpus/{split}.target.gz"
    statistics = ["out/x/corpus/statistics.json", "out/x/corpus/test.news.statistics.json"]
    assert plan.texts.statistics == statistics
    assert plan.texts.collection == ["out/x/corpus/help/statistics.json"]
    rules = json.loads(plan.tables.corpora_settings)["rules"]
    assert rules["test.sbasic"] == "out/x/report/rules.test.sbasic.json"


def test_preparation_options():
    made = HELP.texts.prepare_options(job()).partition(" --source out")[0]
    assert made == (
        "--split hash --source-language de --target-language en-us --max-length 80 --max-ratio 9.0 "
        "--max-train 5 --max-held-out 2 --max-line-bytes 1048576 --modules a,b --held-out-modules c "
        "--split-compounds"
    )
    cut = plan_of_texts(split={"dev": 12, "devtest": 11}, dev={}, devtest={}).texts
    assert " --cut dev=12 --cut devtest=11 " in cut.prepare_options(job())
    assert "out/x/corpus/dev.task.gz" in cut.prepared


def test_corpora():
    """Options and files of given texts, downloads and tables; every file that is read is an input."""
    plan = plan_of_texts(
        train={
            "news": {"source": ["a 1", "b"], "target": ["c", "d"], "task": ["e", "f"]},
            "law": {"file": ["a.tsv", "b.tmx"], "columns": {"source": 2, "target": 1}},
            "talks": {"mtdata": ["g-n-1-deu-eng", "g-m-1-deu-eng"]},
            "memory": {"file": "c.tmx"},
        },
        dev={"source": "s", "target": ["t", "u"], "task": "v"},
        test={"news": {"sacrebleu": "wmt20/tworefs"}, "old": {"file": "x.tsv", "columns": {"task": 3}}},
    )
    texts = plan.texts
    talks = [f"out/x/corpus/fetched/train.talks/{side}.gz" for side in ("source", "target")]
    news = [f"out/x/corpus/fetched/test.news/{side}.gz" for side in ("source", "target", "target.1")]
    corpora = (
        "--corpus news --source 'a 1' --source b --target c --target d --task e --task f "
        "--corpus law --file a.tsv --file b.tmx --columns 2,1 "
        f"--corpus talks --source {talks[0]} --target {talks[1]} --corpus memory --file c.tmx"
    )
    held_out = f"--held-out test.news --source {news[0]} --target {news[1]} --target {news[2]}"
    made = texts.prepare_options(job())
    assert f" {corpora} --output out/x/corpus --held-out dev " in made
    assert f" {held_out} --held-out test.old --file x.tsv --columns 1,2,3" in made
    own = ["a 1", "b", "c", "d", "e", "f", "a.tsv", "b.tmx", *talks, "c.tmx"]
    assert texts.raw_files("train") == [*own, "s", "t", "u", "v", *PAIR.values(), *news, "x.tsv"]
    of_dev = texts.prepare_options(job(held_out="dev"))
    assert " --source s --target t --target u --task v --output out/x/corpus" in of_dev
    languages = "--source-language de --target-language en --output out/x/corpus/fetched"
    for fetched, chosen in (
        ("train.talks", "--mtdata g-n-1-deu-eng --mtdata g-m-1-deu-eng"),
        ("test.news", "--sacrebleu wmt20/tworefs"),
    ):
        assert texts.fetch_options(job(fetched=fetched)) == f"{chosen} {languages}/{fetched}"
    has_labels = [splits.has_labels(plan.config, split) for split in ("train", "test.old", "test.news")]
    assert has_labels == [True, True, False]


def test_sequences(tmp_path):
    """Names of folders may have per cent signs and spaces."""
    files = [f"{tmp_path}/{folder}/{number}.h5" for folder in ("a 5%d", "b") for number in range(11)]
    assert subprocess.check_output(sequences(files), shell=True, text=True).splitlines() == files
