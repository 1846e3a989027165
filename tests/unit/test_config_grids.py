"""Lists in place of single values: an experiment for each combination."""

import pytest
from tests.configs import experiment, experiments, learner, schema
from tests.refusals import check_facts

from itersel.config.grids import MAX_COMBINATIONS
from itersel.config.reading import read_config
from itersel.errors import InputError, errors_of

TUNER = {"name": "kbest-mira", "c": [1, 2]}
# An experiment, and the names that follow its own.
GRIDS = [
    (learner("mira", c=[0.01, 0.1, 1]), ["c-0.01", "c-0.1", "c-1"]),
    (learner("perceptron", learning_rate=[0.00001], schedule=["1/t", "1/sqrt(t)"], average=[True]), [
        "learning_rate-0.00001-schedule-1-t-average-true",
        "learning_rate-0.00001-schedule-1-sqrt-t-average-true",
    ]),
    (experiment(features=["dense", "all"], k_best=[None, 5]),
     [f"features-{features}-k_best-{k}" for features in ("dense", "all") for k in ("null", "5")]),
    (learner(["mira", "kbest-mira"], c=[0.5]), ["mira-c-0.5", "kbest-mira-c-0.5"]),
    (experiment(tasks={"shards": [2, 4]}, templates=["R"]), ["shards-2", "shards-4"]),
    (experiment(learner={"name": "mira", "c": [1, 3]}, retune={"tuner": TUNER, "iterations": 3}),
     [f"learner-c-{first}-tuner-c-{second}" for first in (1, 3) for second in (1, 2)]),
]  # fmt: skip
MIRA = {"name": "mira", "c": [1, 1.5]}


@pytest.mark.parametrize(("content", "names"), GRIDS)
def test_grids(content, names):
    schema().validate(content)
    found = read_config(content).experiments
    assert list(found) == [f"a-{name}" for name in names]
    assert len({repr(one) for one in found.values()}) == len(names)


def test_an_experiment_of_a_grid_is_the_one_that_its_name_says():
    content = learner("mira", c=[0.01, 0.1], hope=["oracle", "cost-diminished"])
    found = read_config(content).experiments["a-c-0.1-hope-oracle"]
    assert found == read_config(learner("mira", c=0.1, hope="oracle")).experiments["a"]


# A config, and what each of its errors must contain: names of what the config has.
WRONG = [
    (learner("mira", c=[1, 0, -1]), [("learner.c'", 0), ("learner.c'", '-1')]),
    (learner("mira", c=[1, 2], x=1), ["learner.x'"]),
    (learner("mira", c=[1, "2"]), [("learner.c'", "'2'")]),
    (learner("mira", c=[]), [("learner.c'", '[]')]),
    (learner("mira", c=[[1], 2]), [("learner.c'", '[[1], 2]')]),
    (learner(["mira", "mire"]), [("learner.name'", "'mire'")]),
    (learner("mira", c=[1, 1]), [("learner.c'", "'1'")]),
    (experiment(learner=MIRA, tune_on="dev", retune={"iterations": 2}), ["retune.iterations'"]),
    (learner("mira", c=list(range(1, MAX_COMBINATIONS + 2))),
     [("experiments.a'", MAX_COMBINATIONS + 1)]),
    (experiments(a={"learner": MIRA}, b={"start_from": "a"}),
     [("b.start_from'", 'a-c-1')]),
    (experiments(**{"a": {"learner": MIRA}, "a-c-1": {}}), [("a'", "'a-c-1'")]),
]  # fmt: skip


@pytest.mark.parametrize(("content", "facts"), WRONG)
def test_errors_name_what_the_config_has_and_once(content, facts):
    with pytest.raises(InputError) as error:
        read_config(content)
    found = [one.message for one in errors_of(error.value)]
    assert len(found) == len(facts)
    for message, expected in zip(found, facts, strict=True):
        check_facts(message, expected)
        assert "'experiments.a-" not in message


def test_an_experiment_can_start_from_one_of_a_grid():
    config = read_config(experiments(a={"learner": MIRA}, b={"start_from": "a-c-1.5"}))
    assert config.experiments["b"].start_from == "a-c-1.5"
