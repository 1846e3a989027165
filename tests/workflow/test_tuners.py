"""Batch tuners and the held-out step after mixing, from end to end."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.workflow.conftest import NATURAL, ended
from tests.workflow.test_plan import dry_run

from itersel.vectors.weights import read_weights

# its projects are made once
pytestmark = pytest.mark.xdist_group("tuners")

DEV = {"tune_on": "dev", "tasks": {"shards": 2}, "epochs": 2}
# also learned by `selected` of the finished project
SELECTED = {
    "tasks": {"shards": 2, "language_model_folds": 1},
    "epochs": 2,
    "mixing": {"name": "selection", "select": 300},
}
EXPERIMENTS = {
    "mert": {**DEV, "features": "dense", "learner": {"name": "mert"}},
    "forest-mert": {**DEV, "features": "dense", "learner": {"name": "forest-mert"}},
    "pro": {**DEV, "learner": {"name": "pro", "interpolation": 0.5}},
    "kbest-mira": {**DEV, "learner": {"name": "kbest-mira", "passes": 5}},
    "searched": {
        **SELECTED,
        "held_out": {"tuner": {"name": "line-search", "directions": ["WordPenalty", "step"]}},
    },
    "tuned-again": {
        **SELECTED,
        "held_out": {"tuner": {"name": "forest-mert"}, "iterations": 2, "start": "tuned"},
    },
    "summed": {**SELECTED, "held_out": {"tuner": {"name": "kbest-mira"}}},
}
# Experiments that are run, not only planned: every rule and every type of list.
RUN = ("kbest-mira", "searched", "tuned-again")
RESULTS = [f"results/tiny/experiments/{name}/epoch-{epoch}/weights.h5" for name in RUN for epoch in (1, 2)]
CHOSEN = "results/tiny/experiments/kbest-mira/best/system.json"


@pytest.fixture(scope="module")
def jobs(make_project):
    project = make_project()
    project.configure(experiments=EXPERIMENTS, decoder={"k_best": 20, "pop_limit": 30, "jobs": 3})
    return dry_run(project)


def test_jobs(jobs):
    jobs = {rule: len(members) for rule, members in jobs.items()}
    # batch tuners: 4 x 2 epochs x 2 shards; steps on dev: 3 x 2 epochs x 3 pieces
    assert jobs["write_lists"] == 16 + 18
    assert jobs["tune"] == 14
    # one more iteration of forest MERT, three of k-best MIRA
    assert jobs["tune_again"] == 2 * (1 + 3)
    assert jobs["write_lists_again"] == 2 * (1 + 3) * 3
    assert jobs["train_shard"] == 12
    assert jobs["mix_before_tuning"] == 6
    assert "mix" not in jobs


def test_commands(jobs):
    def job(rule, output):
        return next(text for text in jobs[rule] if f"--output results/tiny/experiments/{output} " in text)

    first, second = (job("write_lists", f"pro/epoch-{epoch}/lists/1.h5") for epoch in (1, 2))
    assert "itersel kbest --shard results/tiny/shards/dev/2/1.h5" in first
    assert "--weights" not in first
    assert (
        "--weights results/tiny/experiments/pro/epoch-1/weights.h5 --iteration 2 --shard-number 1" in second
    )
    assert "itersel forest " in job("write_lists", "forest-mert/epoch-1/lists/0.h5")
    assert "--k-best" not in job("write_lists", "forest-mert/epoch-1/lists/0.h5")
    step = job("write_lists", "searched/epoch-2/lists/2.h5")
    assert "--shard results/tiny/shards/dev/3/2.h5" in step
    assert "--weights results/tiny/experiments/searched/epoch-2/mixed.h5 --iteration 1" in step
    forests = job("write_lists", "tuned-again/epoch-1/lists/0.h5")
    assert "--features all --pop-limit 30 --max-span 15 --density 50" in forests
    tuner = job("tune", "mert/epoch-2/weights.h5")
    assert "--previous results/tiny/experiments/mert/epoch-1/weights.h5 --shards 2 --iteration 2" in tuner
    assert "--tuner mert --directions 12 --restarts 5" in tuner
    assert "--sum-sparse" not in tuner
    folder = "results/tiny/experiments/searched"
    search = job("tune", "searched/epoch-2/weights.h5")
    assert f"--previous {folder}/epoch-2/mixed.h5 --last {folder}/epoch-1/mixed.h5 --sum-sparse" in search
    assert "--shards 3 --iteration 1 --seed 1 --tuner line-search --directions WordPenalty,step" in search
    assert "--last" not in job("tune", "searched/epoch-1/weights.h5")
    folder = "results/tiny/experiments/summed/epoch-2"
    first, second = (job("write_lists_again", f"summed/epoch-2/iteration-{i}/lists/0.h5") for i in (1, 2))
    assert f"--weights {folder}/mixed.h5 --iteration 1 " in first
    assert f"--weights {folder}/iteration-1/weights.h5 --iteration 2 " in second
    fourth = job("write_lists", "summed/epoch-2/lists/0.h5")
    assert f"--weights {folder}/iteration-3/weights.h5 --iteration 4 " in fourth
    last = job("tune", "summed/epoch-2/weights.h5")
    assert f"--previous {folder}/iteration-3/weights.h5 --sum-sparse --shards 3 --iteration 4" in last
    # lists of all iterations of an epoch; forests only of the last
    listed = {
        name: text.split(f"output: results/tiny/experiments/{name}/epoch-2/lists/files.txt")[0]
        for text in jobs["list_lists"]
        for name in ("summed", "tuned-again")
        if f"output: results/tiny/experiments/{name}/epoch-2/lists/files.txt" in text
    }
    assert listed["summed"].count(".h5") == 4 * 3
    assert listed["tuned-again"].count(".h5") == 3
    starts = {
        name: next(text for text in jobs["train_shard"] if f"{name}/epoch-2/shard-0.h5" in text)
        for name in ("searched", "tuned-again")
    }
    assert "--weights results/tiny/experiments/searched/epoch-1/mixed.h5" in starts["searched"]
    assert "--weights results/tiny/experiments/tuned-again/epoch-1/weights.h5" in starts["tuned-again"]


MIXINGS = {
    "alone": {"mixing": {"name": "none"}, "tasks": {"shards": 1}},
    "epochs": {"algorithm": "mixsgd", "tasks": {"shards": 2}},
    "mean": {"algorithm": "itermixsgd", "tasks": {"shards": 2}},
    "path": {
        "mixing": {"name": "path-following", "threshold": 1, "epsilon": 1},
        "learner": {"name": "mira"},
        "tasks": {"shards": 2},
    },
}


def test_step_on_dev_after_every_mixing(make_project):
    project = make_project()
    step = {"tuner": {"name": "line-search", "directions": ["dense", "step"]}}
    project.configure(
        experiments={name: {**one, "epochs": 2, "held_out": step} for name, one in MIXINGS.items()}
    )
    jobs = dry_run(project)
    for name in MIXINGS:
        folder = f"results/tiny/experiments/{name}"

        def job(rule, output, folder=folder):
            [found] = [text for text in jobs[rule] if f"--output {folder}/epoch-2/{output} " in text]
            return found

        # mixing continues from mixed weights, whatever the step made of them
        mix = job("mix_before_tuning", "mixed.h5")
        assert f"{folder}/epoch-1/weights.h5" not in mix
        assert (f"--previous {folder}/epoch-1/mixed.h5" in mix) == (name in ("epochs", "path"))
        shard = job("train_shard", "shard-0.h5")
        own = "shard-0" if name in ("alone", "epochs") else "mixed"
        assert f"--weights {folder}/epoch-1/{own}.h5" in shard
        search = job("tune", "weights.h5")
        assert f"--previous {folder}/epoch-2/mixed.h5 --last {folder}/epoch-1/mixed.h5" in search
        assert "--tuner line-search --directions dense,step" in search


@pytest.fixture(scope="module")
def tuned(finished, tmp_path_factory):
    """Return a project with all experiments trained; it shares corpus, models and shards."""
    project = finished.copy(tmp_path_factory.mktemp("tuned") / "a project")
    shutil.rmtree(project.results / "experiments")
    shutil.rmtree(project.results / "report")
    experiments = {name: dict(EXPERIMENTS[name]) for name in RUN}
    for name in ("searched", "tuned-again"):
        experiments[name]["tasks"] = NATURAL  # as in 'selected'
    project.configure(experiments=experiments)
    project.run("--cores", "2", *RESULTS, CHOSEN)
    return project


def test_results(tuned, finished):
    system = json.loads((tuned.folder / CHOSEN).read_text())
    assert system["devtest_bleu"][system["epoch"] - 1] == max(system["devtest_bleu"]) > 30
    assert (system["learner"], system["mixing"]) == ("kbest-mira", "none")
    # shards continue from mixed weights, so the step does not affect what they learn
    pattern = "experiments/{}/epoch-*/shard-*.h5"
    learned = tuned.contents(pattern.format("searched"))
    expected = finished.contents(pattern.format("selected"))
    assert list(learned.values()) == list(expected.values())
    assert tuned.contents(pattern.format("tuned-again")) != expected


def test_line_search_moves_only_along_its_lines(tuned):
    folder = tuned.results / "experiments/searched/epoch-1"
    mixed, weights = (read_weights(folder / name).to_dict() for name in ("mixed.h5", "weights.h5"))
    # the first epoch has no step to search along
    del mixed["WordPenalty"], weights["WordPenalty"]
    assert weights == mixed


def test_nothing_to_be_done(tuned):
    before = tuned.files()
    assert "Nothing to be done" in tuned.run("--cores", "2", *RESULTS, CHOSEN)
    assert tuned.files() == before


@pytest.mark.slow
def test_lists_killed(tuned, tmp_path):
    """Nothing is tuned without the lists of a shard, and the next run recreates only these."""
    name = "searched"  # tests/cluster has a batch tuner
    copy = tuned.copy(tmp_path / "copy of it")
    folder = f"experiments/{name}/epoch-2"
    shutil.rmtree(copy.results / folder)
    victim = f"results/tiny/{folder}/lists/0.h5"
    weights = f"results/tiny/{folder}/weights.h5"
    run, job = copy.start_and_hold(["kbest", victim], "--cores", "2", weights)
    job.kill()
    ended(run, 1)
    before = copy.files()
    assert f"{folder}/weights.h5" not in before
    planned = copy.planned(weights)
    assert (planned["write_lists"], planned["tune"], planned.get("train_shard", 0)) == (1, 1, 0)
    copy.run("--cores", "2", weights)
    after = copy.files()
    assert {file: after[file] for file in before} == before
    pattern = f"experiments/{name}/epoch-*/*.h5"
    assert copy.contents(pattern) == tuned.contents(pattern)
