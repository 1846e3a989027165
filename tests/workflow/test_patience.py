"""Training that stops early: the remaining epochs pass on what the last one made."""

import json
import shutil

import pytest
from tests.naive.learning import last_trained
from tests.workflow import conftest

from itersel.vectors.weights import has_stopped, read_itersel_weights

EPOCHS = 3
STOPPING = {"epochs": EPOCHS, "patience": 1}
pytestmark = pytest.mark.slow
TUNED = {"retune": {"tuner": {"name": "kbest-mira", "c": 0.01}, "iterations": 2}}
EXPERIMENTS = {
    "averaged": {**conftest.EXPERIMENTS["averaged"], "repeats": 2, **STOPPING},
    "selected": {**conftest.EXPERIMENTS["selected"], **TUNED, **STOPPING},
    "mira": {"tune_on": "dev", "features": "dense", "learner": {"name": "kbest-mira"}, **STOPPING},
}
RUNS = ["averaged", "averaged.repeat-2", "selected", "mira"]


@pytest.fixture(scope="module")
def stopped(finished, tmp_path_factory):
    """Return a finished project with these experiments; it shares corpus and models."""
    project = finished.copy(tmp_path_factory.mktemp("stopped") / "a project")
    shutil.rmtree(project.results / "experiments")
    shutil.rmtree(project.results / "report")
    project.configure(experiments=EXPERIMENTS)
    project.run("--cores", "2")
    return project


def system(project, run):
    return json.loads((project.results / f"experiments/{run}/best/system.json").read_text())


@pytest.mark.parametrize("run", RUNS)
def test_the_remaining_epochs_pass_on(stopped, run):
    found, folder = system(stopped, run), stopped.results / "experiments" / run
    trained = last_trained(found["devtest_tokenized_bleu"], STOPPING["patience"])
    # at least one epoch passes on, and at least one was decided about
    assert trained is not None
    assert (1 < trained < EPOCHS, found["untrained_epochs"]) == (True, EPOCHS - trained)
    assert found["epoch"] <= trained
    for epoch in range(2, EPOCHS + 1):
        before, own = folder / f"epoch-{epoch - 1}", folder / f"epoch-{epoch}"
        weights = [read_itersel_weights(one / "weights.h5").to_dict() for one in (before, own)]
        texts = [(one / "devtest.txt").read_text() for one in (before, own)]
        is_passed = epoch > trained
        assert has_stopped(own / "weights.h5") == is_passed
        assert (weights[0] == weights[1] and texts[0] == texts[1]) or not is_passed
    rows = (stopped.results / "report/table.txt").read_text().splitlines()
    assert any(f"of {EPOCHS} (" in row and " trained)" in row and run.split(".")[0] in row for row in rows)


def test_a_job_that_was_killed(stopped):
    """Whatever is made again is the same: here the decision, and all that depends on it."""
    before = stopped.contents()
    folder = stopped.results / "experiments/averaged"
    (folder / "epoch-2/decision.json").unlink()
    stopped.without("averaged/epoch-3").without("averaged/best")
    stopped.run("--cores", "2")
    assert stopped.contents() == before
    assert "Nothing to be done" in stopped.run("--cores", "2")
