"""What only plans or shows changes nothing, and the plan is what a run then does."""

import os
from collections import Counter
from pathlib import Path

import pytest
from tests.workflow.conftest import ended

MIXED = "results/tiny/experiments/selected/epoch-2/weights.h5"
LOST = ("epoch-1/shard-0.h5", "epoch-2/shard-1.h5")
SHOWN = (
    "--dry-run",
    "--dag",
    "--rulegraph",
    "--filegraph",
    "--summary",
    "--detailed-summary",
    "--lint",
    "--list-rules",
)


def tree(project):
    """Return all files and folders, with times and contents, except Snakemake's own and Python's caches."""
    found = {}
    for parent, folders, names in os.walk(project.folder):
        folders[:] = [name for name in folders if name not in (".snakemake", "__pycache__")]
        for path in (Path(parent, name) for name in (*folders, *names)):
            found[str(path)] = path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None
    return found


def lose_shards(project):
    """Delete weights of shards, which leaves lists that name them."""
    for name in LOST:
        (project.results / "experiments/selected" / name).unlink()


@pytest.mark.parametrize("option", SHOWN)
def test_nothing_is_changed(copy, option):
    lose_shards(copy)
    before = tree(copy)
    copy.run(option)
    if option != "--lint":
        copy.run(option, "--forcerun", "mix", "--", MIXED)
    assert tree(copy) == before


def test_nothing_is_made_for_a_first_dry_run(make_project):
    project = make_project()
    before = tree(project)
    for option in SHOWN:
        project.run(option)
    assert tree(project) == before


def test_touching_changes_times_alone(copy):
    before = copy.contents()
    copy.run("--touch", "--cores", "1")
    assert copy.contents() == before


def test_a_run_does_what_its_dry_run_has_shown(copy, finished):
    """Weights of shards may be deleted after a run; mixing differently needs them again, and no others."""
    lose_shards(copy)
    assert copy.planned() == copy.planned(MIXED) == {}
    # as after a change of mixing.select
    forced = ["--forcerun", "mix", "--", MIXED]
    planned, before = copy.planned(*forced), copy.files()
    # the second epoch starts from weights that are mixed again
    assert planned == {"train_shard": 3, "manifest_of_trained_shards": 2, "mix": 2}
    copy.run("--cores", "2", *forced)
    changed = [
        Path(name).name for name, (time, _) in copy.files().items() if before.get(name, (0,))[0] != time
    ]
    rules = {"shard": "train_shard", "files": "manifest_of_trained_shards", "weights": "mix"}
    done = Counter(rules[name.partition(".")[0].partition("-")[0]] for name in changed if name != "matrix.h5")
    assert done == planned
    made = "experiments/selected/*/*.h5"
    assert copy.contents(made) == finished.contents(made)
    assert copy.planned(MIXED) == {}


@pytest.mark.slow
def test_a_dry_run_beside_a_run(copy, finished):
    """Which has written the manifest of its shards, but not yet the last of them again."""
    lose_shards(copy)
    words = ["train", f"results/tiny/experiments/selected/{LOST[1]}"]
    # nothing else runs meanwhile
    run, job = copy.start_and_hold(words, "--cores", "1", "--forcerun", "mix", "--", MIXED)
    before = tree(copy)
    copy.run("--dry-run", "--nolock")
    copy.run("--dry-run", "--nolock", "--forcerun", "mix", "--", MIXED)
    after = tree(copy)
    changed = {path for path, _ in before.items() ^ after.items() if not path.endswith(".log")}
    job.resume()
    ended(run)
    assert changed == set()
    made = "experiments/selected/*/*.h5"
    assert copy.contents(made) == finished.contents(made)
