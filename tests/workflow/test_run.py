"""The workflow from end to end: results, determinism, and going on after everything was killed."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def copy(finished, tmp_path):
    """Return a copy of the finished project."""
    return finished.copy(tmp_path / "copy of it")


def without_experiments(project):
    """Remove what is learned; what it is learned from stays."""
    for path in sorted(project.results.glob("experiments/**/*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for path in project.results.glob("report/table*"):
        path.unlink()
    return project


def test_results(finished):
    report = finished.results / "report"
    table = json.loads((report / "table.json").read_text())
    systems = {system["name"]: system for system in table["systems"]}
    assert list(systems) == ["dev-dense", "averaged", "selected"]
    for name, system in systems.items():
        # 20 sentences are too few for the dense features alone
        assert system["test"]["bleu"] >= (0 if name == "dev-dense" else 50)
        assert system["devtest_bleu"][system["epoch"] - 1] == max(system["devtest_bleu"])
    assert systems["dev-dense"]["active_features"] <= 12
    assert 12 < systems["selected"]["active_features"] <= 300
    assert len((report / "table.tsv").read_text().splitlines()) == 4
    corpus = json.loads((report / "corpus.json").read_text())
    assert {name: split["sentences"] for name, split in corpus.items()}["test"] == 16
    assert all(split["rules"] > 0 for split in corpus.values())
    assert len((finished.results / "experiments/selected/best/test.txt").read_text().splitlines()) == 16


def test_system_translates_raw_text(finished):
    """The sentences of test, given as raw text, get the translations that the run gave them."""
    system = finished.results / "experiments/selected/best"
    command = [sys.executable, "-m", "itersel.cli.main", "translate", "--system", str(system)]
    source = (finished.folder / "test.source").read_text()
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    assert result.stdout == (system / "test.txt").read_text()


def test_nothing_to_be_done(copy):
    before = copy.files()
    assert "Nothing to be done" in copy.run()
    assert copy.files() == before


def test_one_core_gives_the_same_bytes(finished, make_project):
    project = make_project()
    project.run("--cores", "1")
    assert project.contents() == finished.contents()


def test_number_of_decoding_jobs_changes_nothing(copy, finished):
    copy.configure(decoder={"k_best": 20, "pop_limit": 30, "jobs": 3})
    copy.run("--cores", "2")
    for pattern in ("experiments/*/best/*", "report/table*"):
        assert copy.contents(pattern) == finished.contents(pattern)


def test_shard_killed(copy, finished):
    without_experiments(copy)
    victim = "results/tiny/experiments/selected/epoch-2/shard-1.h5"
    run = copy.start("--cores", "2")
    copy.wait_for_job("train", victim).kill()
    output, _ = run.communicate()
    assert run.returncode == 1, output
    assert "epoch-2/shard-1.h5" in output
    before = copy.files()
    assert "experiments/selected/epoch-2/shard-0.h5" in before  # the others go on
    assert "experiments/averaged/epoch-2/weights.h5" in before
    assert "experiments/selected/epoch-2/weights.h5" not in before  # nothing is mixed
    assert not list(copy.results.rglob(".tmp*"))
    assert copy.planned()["train_shard"] == 1
    copy.run("--cores", "2")
    after = copy.files()
    assert {name: after[name] for name in before} == before
    assert copy.contents() == finished.contents()


def test_snakemake_killed(copy, finished):
    without_experiments(copy)
    run = copy.start("--cores", "2")
    copy.wait_for_job("train", "results/tiny/experiments/selected/epoch-2/shard-0.h5")
    run.kill()
    run.wait()
    copy.kill_jobs()
    before = copy.files("experiments/*/epoch-1/*.h5")
    assert before
    copy.run("--cores", "2")
    after = copy.files()
    assert {name: after[name] for name in before} == before
    assert copy.contents() == finished.contents()


def test_deleted_shard_is_made_again(copy, finished):
    (copy.results / "experiments/selected/epoch-1/shard-0.h5").unlink()
    (copy.results / "experiments/selected/epoch-1/weights.h5").unlink()
    before = copy.files("experiments/*/epoch-1/shard-*.h5")
    copy.run("--cores", "2")
    assert copy.contents() == finished.contents()
    after = copy.files()
    assert {name: after[name] for name in before} == before


def test_changed_option_reruns_what_depends_on_it(copy, finished):
    from .conftest import EXPERIMENTS

    changed = {**EXPERIMENTS, "selected": {**EXPERIMENTS["selected"], "select": 200}}
    copy.configure(experiments=changed)
    jobs = copy.planned()
    assert jobs["mix"] == 2
    assert jobs["train_shard"] == 2  # the first epoch starts from nothing
    assert not {"align", "extract_shard", "index_corpus"} & set(jobs)
    copy.configure(experiments=EXPERIMENTS, grammar={"max_span": 10})
    jobs = copy.planned()
    assert jobs["extract_shard"] == 7
    assert "align" not in jobs


def test_two_runs_do_not_work_in_one_folder(copy):
    (copy.results / "report/table.txt").unlink()
    with (copy.results / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        output = copy.run(status=1)
    assert "another run is working in results/tiny" in output
    copy.run()
