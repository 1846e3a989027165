"""Plans of made-up runs; their files do not exist."""

import functools
from types import SimpleNamespace

from itersel.config.learners import LEARNERS
from itersel.config.reading import read_config
from itersel.config.tuners import TUNERS
from itersel.plan import Plan

PAIR = {"source": "x.de", "target": "x.en"}
LABELLED = {**PAIR, "labels": "x.labels"}
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
FOLLOWED = {"name": "path-following", "first_threshold": 1, "epsilon": 5, "minimum_threshold": 0.01}
FOLDER = "out/x/experiments"
# Instead of the defaults for train.
PLAIN = {"tasks": {"name": "random", "shards": 1}, "retune": {"tuner": {"name": "none"}}, "tune_on": "train"}


def plan_of(experiments, data=DATA, **more):
    """Return the plan of a config; its files do not exist."""
    plain = {name: {**PLAIN, **one} for name, one in experiments.items()}
    content = {"name": "x", "output": "out", "data": data, "experiments": plain, **more}
    return Plan(read_config(content))


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
    "part": {"templates": ["R", "RBS"], "retune": {"tuner": {"name": "forest-mert"}}},
    "mean": {"algorithm": "mixsgd", "retune": {"tuner": {"name": "pro"}}},
}
HELP_DATA = {"max_train": 5, "max_held_out": 2, "only_labels": ["a", "b"], "held_out_labels": ["c"]}
LISTED = {"lists": ["l's"], "target": ["t", "t2"]}


@functools.cache
def everything():
    """Return a plan with experiments of every kind."""
    return plan_of(EXPERIMENTS)


@functools.cache
def of_help():
    """Return the plan of a run on LibreOffice's help."""
    return plan_of({"a": SELECTED}, {**HELP_DATA, "compound_splitting": True})


@functools.cache
def of_lists():
    """Return the plan of a run on n-best lists of another decoder."""
    return plan_of(
        {
            "selected": {
                **SELECTED,
                "tasks": {"name": "random", "shards": 4},
                "retune": {"tuner": {"name": "mert"}},
            },
            "tuned": {"tune_on": "dev", "features": "dense", "learner": {"name": "pro"}},
        },
        {
            "kind": "lists",
            "target_language": "en",
            "protected": ["a b"],
            "dense_names": ["LM", "TM_0"],
            "train": {**LISTED, "quality": "q", "labels": "labels"},
            **dict.fromkeys(("dev", "devtest"), LISTED),
            "test": {"new": {**LISTED, "source": "s", "devtest": LISTED}},
        },
        decoder={"pieces": 3},
    )
