"""The command-line options made from a config: steps accept them and their values."""

from __future__ import annotations

import argparse
import shlex

import pytest
from tests.configs import experiment, selection

from itersel.cli.arguments import add_step
from itersel.cli.main import STEPS, make_parser
from itersel.config import Experiment, read_config, splits, values
from itersel.config.learners import LEARNERS
from itersel.config.mixing import MIXINGS, NORMS, Selection
from itersel.config.tuners import TUNERS, ForestMert, HeldOut, Pro
from itersel.plan import commands

CONFIG = read_config(
    {
        "experiments": {
            "a": {"mixing": selection(threshold=0.5)},
            "b": {},
            "c": {"algorithm": "mixsgd"},
            "d": {"templates": ["R", "RBS"]},
        }
    }
)


SYSTEM = ["--weights", "x", "--translations", "x", "--output-weights", "x", "--reference", "x"]


TABLE = ["--test-set", "test", "x", "--systems", "x", "--translations", "x"]


PREPARED = read_config(
    {
        **experiment(),
        "data": {
            "max_train": 5,
            "max_held_out": 2,
            "modules": ["a", "b"],
            "held_out_modules": ["c"],
            "compound_splitting": True,
        },
    }
)


COMMANDS = [
    *(
        (
            "corpus",
            ["prepare", "--source", "x", "--target", "x"],
            commands.prepare_options(config, split, "x"),
        )
        for config in (CONFIG, PREPARED)
        for split in ("hash", "train", "dev", "test")
    ),
    ("corpus", ["libreoffice-help"], commands.help_options(CONFIG)),
    ("lm", ["estimate", "--input", "x"], commands.estimate_options(CONFIG, "x")),
    ("lm", ["estimate", "--input", "x"], commands.fold_options(CONFIG, "x", "y", "0/2")),
    ("grammar", ["extract", "--index", "x", "--input", "x"], commands.extract_options(CONFIG)),
    *(
        (
            "train",
            ["--shard", "x", "--model", "x"],
            commands.train_options(CONFIG, Experiment(learner=kind())),
        )
        for kind in LEARNERS.values()
    ),
    (
        "train",
        ["--shard", "x", "--model", "x"],
        commands.train_options(CONFIG, CONFIG.experiments["d"]),
    ),
    (
        "kbest",
        ["--shard", "x", "--model", "x"],
        commands.list_options(CONFIG, CONFIG.experiments["d"], Pro()),
    ),
    (
        "decode",
        ["--shard", "x", "--model", "x", "--weights", "x"],
        commands.decode_options(CONFIG, Experiment()),
    ),
    *(
        (
            commands.list_command(kind()),
            ["--shard", "x", "--model", "x"],
            commands.list_options(CONFIG, Experiment(learner=kind()), kind()),
        )
        for kind in TUNERS.values()
    ),
    ("report", ["choose", *SYSTEM], commands.system_options(CONFIG, "a")),
    ("report", ["table", *TABLE], commands.table_options(CONFIG)),
    *(
        ("mix", ["--inputs", "x", "--epoch", "1"], commands.mix_options(CONFIG.experiments[name]))
        for name in CONFIG.experiments
    ),
]


@pytest.mark.parametrize(("step", "required", "options"), COMMANDS)
def test_commands_know_the_options(step, required, options):
    arguments = [step, *required, *shlex.split(options), "--output", "x"]
    assert make_parser(arguments).parse_args(arguments).output


@pytest.mark.parametrize(
    ("step", "option", "choices"),
    [
        ("align", "symmetrization", values.SYMMETRIZATIONS),
        ("train", "learner", tuple(LEARNERS)),
        ("mix", "mixing", tuple(MIXINGS)),
        ("mix", "norm", NORMS),
        ("bleu", "tokenize", values.TOKENIZATIONS),
    ],
)
def test_choices_are_those_of_the_steps(step, option, choices):
    parser = argparse.ArgumentParser()
    add_step(parser, step, STEPS[step][0])
    action = parser._option_string_actions[f"--{option}"]
    assert sorted(action.choices) == sorted(choices)


def test_preparation_options():
    assert commands.prepare_options(PREPARED, "hash", "p.json") == (
        "--split hash --source-language de --target-language en-us --max-length 80 --max-ratio 9.0 "
        "--max-train 5 --max-held-out 2 --max-line-bytes 1048576 --modules a,b --held-out-modules c "
        "--split-compounds"
    )
    options = commands.prepare_options(PREPARED, "dev", "a file")
    assert options == "--split dev --preparation 'a file' --max-held-out 2 --max-line-bytes 1048576"


def test_corpora_options():
    train = {
        "news": {"source": ["a 1", "b"], "target": ["c", "d"], "task": ["e", "f"]},
        "law": {"file": ["a.tsv", "b.tmx"], "columns": {"source": 2, "target": 1}},
        "talks": {"mtdata": ["g-n-1-deu-eng", "g-m-1-deu-eng"]},
        "memory": {"file": "c.tmx"},
    }
    dev = {"source": "s", "target": ["t", "u"], "task": "v"}
    test = {"news": {"sacrebleu": "wmt20/tworefs"}, "old": {"file": "x.tsv", "columns": {"task": 3}}}
    data = {"kind": "files", "train": train, "dev": dev, "devtest": dev, "test": test}
    config = read_config({"data": data, "experiments": {"a": {}}})

    def made(split):
        corpora = splits.corpora(config, split, "in")
        return commands.corpora_options(corpora), [file for corpus in corpora for file in corpus.files]

    assert made("train") == (
        "--corpus news --source 'a 1' --source b --target c --target d --task e --task f "
        "--corpus law --file a.tsv --file b.tmx --columns 2,1 "
        "--corpus talks --source in/train.talks/source.gz --target in/train.talks/target.gz "
        "--corpus memory --file c.tmx",
        [
            *("a 1", "b", "c", "d", "e", "f", "a.tsv", "b.tmx"),
            *("in/train.talks/source.gz", "in/train.talks/target.gz", "c.tmx"),
        ],
    )
    assert made("dev") == ("--source s --target t --target u --task v", ["s", "t", "u", "v"])
    names = [f"in/test.news/{name}.gz" for name in ("source", "target", "target.1")]
    assert made("test.news") == (f"--source {names[0]} --target {names[1]} --target {names[2]}", names)
    assert made("test.old") == ("--file x.tsv --columns 1,2,3", ["x.tsv"])
    languages = "--source-language de --target-language en-us"
    fetched = "--mtdata g-n-1-deu-eng --mtdata g-m-1-deu-eng"
    assert commands.fetch_options(config, config.data.train["talks"]) == f"{fetched} {languages}"
    assert (
        commands.fetch_options(config, config.data.test["news"]) == f"--sacrebleu wmt20/tworefs {languages}"
    )
    assert splits.has_labels(config, "train")
    assert splits.has_labels(config, "test.old")
    assert not splits.has_labels(config, "test.news")


def test_selection_options():
    assert commands.mix_options(CONFIG.experiments["a"]).endswith(" --threshold 0.5 --norm l2")
    assert commands.mix_options(CONFIG.experiments["b"]).endswith(" --select 100000 --norm l2")
    assert commands.mix_options(CONFIG.experiments["c"]) == "--mixing mean-of-epochs --shards 1"
    mixing = Selection(relative_threshold=0.25, norm="l0", keep=("dense", "RBT:,_it's"))
    made = commands.mix_options(Experiment(mixing=mixing)).split("--shards 1 ")[1]
    assert shlex.split(made) == [
        *("--relative-threshold", "0.25", "--norm", "l0"),
        *("--keep", "dense", "RBT:,_it's"),
    ]


def test_values_that_begin_with_a_dash():
    options = commands.options(source="-n 'é.de", target="--help", monolingual="-", threshold=-0.5, seed=3)
    assert shlex.split(options) == [
        "--source=-n 'é.de",
        "--target=--help",
        "--monolingual",
        "./-",
        "--threshold=-0.5",
        "--seed",
        "3",
    ]


def test_keys_of_an_experiment_win():
    own, others = Experiment(k_best=7, seed=9), Experiment()
    for made, options in (
        (commands.train_options(CONFIG, own), commands.train_options(CONFIG, others)),
        (commands.tune_options(CONFIG, own, Pro()), commands.tune_options(CONFIG, others, Pro())),
    ):
        assert "--seed 9 " in f"{made} "
        assert "--seed 1 " in f"{options} "
    for made, options in (
        (commands.train_options(CONFIG, own), commands.train_options(CONFIG, others)),
        (commands.list_options(CONFIG, own, Pro()), commands.list_options(CONFIG, others, Pro())),
    ):
        assert "--k-best 7 " in f"{made} "
        assert "--k-best 100 " in f"{options} "


def test_forests_for_a_step_on_dev_have_the_sparse_features_as_one():
    tuner = ForestMert()
    dense = Experiment(features="dense", held_out=HeldOut(tuner=tuner))
    assert "--features all" in commands.list_options(CONFIG, dense, tuner)
    assert "--features dense" in commands.list_options(
        CONFIG, Experiment(features="dense", learner=tuner), tuner
    )
    assert "--features dense" in commands.list_options(CONFIG, dense, Pro())
