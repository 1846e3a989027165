"""Batch tuners and the retuning after mixing, from end to end."""

import json
import shutil

import pytest
from tests.workflow import conftest
from tests.workflow.conftest import NATURAL

from itersel.vectors.weights import read_itersel_weights

DEV = {"tune_on": "dev", "tasks": {"name": "random", "shards": 2}, "epochs": 2}
# what the finished project has learned
SELECTED = conftest.EXPERIMENTS["selected"]
LINES = {"name": "line-search", "directions": ["WordPenalty", "step"]}
AGAIN = {"tuner": {"name": "forest-mert"}, "iterations": 2, "next_epoch_from": "tuned"}
EXPERIMENTS = {
    "mert": {**DEV, "features": "dense", "learner": {"name": "mert"}},
    "forest-mert": {**DEV, "features": "dense", "learner": {"name": "forest-mert"}},
    "pro": {**DEV, "learner": {"name": "pro", "interpolation": 0.5}},
    "kbest-mira": {**DEV, "learner": {"name": "kbest-mira", "passes": 5}},
    "searched": {**SELECTED, "retune": {"tuner": LINES}},
    "tuned-again": {**SELECTED, "retune": AGAIN},
    "summed": {**SELECTED, "retune": {"tuner": {"name": "kbest-mira"}}},
}
# Experiments that are run, not only planned: every rule and every type of list.
RUN = ("kbest-mira", "searched", "tuned-again")
RESULTS = [f"results/tiny/experiments/{name}/epoch-{epoch}/weights.h5" for name in RUN for epoch in (1, 2)]
CHOSEN = "results/tiny/experiments/kbest-mira/best/system.json"


def test_jobs(make_project):
    """Files and options are tested in tests/unit/test_plan_*.py."""
    project = make_project()
    project.configure(experiments=EXPERIMENTS, decoder={"k_best": 20, "pop_limit": 30, "pieces": 3})
    jobs = project.planned()
    # batch tuners: 4 x 2 epochs x 2 shards; steps on dev: 3 x 2 epochs x 3 pieces
    expected = {"write_tuning_files": 16 + 18, "tune": 14, "train_shard": 12, "mix_before_tuning": 6}
    # one more iteration of forest MERT, five of k-best MIRA
    expected |= {"tune_again": 2 * (1 + 5), "write_tuning_files_again": 2 * (1 + 5) * 3}
    assert {rule: jobs[rule] for rule in expected} == expected
    assert "mix" not in jobs


@pytest.fixture(scope="module")
def tuned(finished, tmp_path_factory):
    """Return a project with all experiments trained; it shares corpus, models and grammars."""
    project = finished.copy(tmp_path_factory.mktemp("tuned") / "a project")
    shutil.rmtree(project.results / "experiments")
    shutil.rmtree(project.results / "report")
    experiments = {name: dict(EXPERIMENTS[name]) for name in RUN}
    for name in ("searched", "tuned-again"):
        experiments[name]["tasks"] = NATURAL  # as in 'selected'
    project.configure(experiments=experiments)
    project.run("--cores", "2", *RESULTS, CHOSEN)
    return project


@pytest.mark.slow
def test_results(tuned, finished):
    system = json.loads((tuned.folder / CHOSEN).read_text())
    assert system["devtest_tokenized_bleu"][system["epoch"] - 1] == max(system["devtest_tokenized_bleu"]) > 30
    assert (system["learner"], system["mixing"]) == ("kbest-mira", "none")
    # shards continue from mixed weights, so the step does not affect what they learn
    pattern = "experiments/{}/epoch-*/shard-*.h5"
    learned = tuned.contents(pattern.format("searched"))
    expected = finished.contents(pattern.format("selected"))
    assert list(learned.values()) == list(expected.values())
    assert tuned.contents(pattern.format("tuned-again")) != expected


@pytest.mark.slow
def test_line_search_moves_only_along_its_lines(tuned):
    folder = tuned.results / "experiments/searched/epoch-1"
    mixed, weights = (read_itersel_weights(folder / name).to_dict() for name in ("mixed.h5", "weights.h5"))
    # the first epoch has no step to search along
    del mixed["WordPenalty"], weights["WordPenalty"]
    assert weights == mixed


@pytest.mark.slow
def test_nothing_to_be_done(tuned):
    before = tuned.files()
    assert "Nothing to be done" in tuned.run("--cores", "2", *RESULTS, CHOSEN)
    assert tuned.files() == before
