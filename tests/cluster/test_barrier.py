"""Time spent on anything but training: between two epochs, part by part, and for planning a large run.

Times are printed, not bounded: they depend on the machine, and on what else it does.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import pytest
from tests.cluster.clusters import submitted
from tests.workflow.conftest import Project

pytestmark = [pytest.mark.cluster, pytest.mark.alone]

EPOCHS = 4
EXPERIMENT = "results/tiny/experiments/selected"


class Watch(threading.Thread):
    """Records when files of arrays appear, because they are removed at the end of a run."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.times, self.ended = folder, {}, threading.Event()

    def run(self):
        while not self.ended.wait(0.1):
            for path in (self.folder / ".snakemake/arrays").glob("*/*/*"):
                try:
                    # an exit status is written before its job starts, and renamed when that has ended
                    self.times.setdefault(
                        (path.parent.name.rsplit("-", 1)[0], path.name), path.stat().st_ctime
                    )
                except FileNotFoundError:
                    continue


@pytest.fixture(scope="module")
def two_shards(make_project) -> Project:
    """Return a project with two shards, one per core."""
    project = make_project()
    experiment = {
        "epochs": EPOCHS,
        "tasks": {"shards": 2, "language_model_folds": 1},
        "mixing": {"name": "selection", "select": 300},
    }
    project.configure(experiments={"selected": experiment})
    project.run("--cores", "2", f"{EXPERIMENT}/epoch-1/shard-0.h5", f"{EXPERIMENT}/epoch-1/shard-1.h5")
    shutil.rmtree(project.results / "experiments")
    return project


@pytest.mark.parametrize("cluster", ["slurm"], indirect=True)
def test_plan_of_the_largest_config(cluster, root, tmp_path, record_property):
    """2,290 shards and 10 epochs; a real run would download the corpus."""
    start = time.monotonic()
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "rules"]
    command += ["--profile", str(root / "profiles" / cluster.key), "--directory", str(tmp_path)]
    command += ["--snakefile", str(root / "Snakefile")]
    command += ["--configfile", str(root / "experiments/europarl.yaml")]
    environment = {**os.environ, **cluster.environment}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    assert done.returncode == 0, done.stderr[-3000:]
    found = dict(re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, re.MULTILINE))
    assert (found["train_shard"], found["mix"]) == ("22900", "10")
    record_property("seconds", round(seconds, 1))
    print(f"\n{cluster.key}: {found['total']} jobs planned in {seconds:.1f} s")


def seconds_of(project, name):
    """Return the time that the command of a job took, from its benchmark file."""
    with (project.results / f"benchmarks/{name}.tsv").open() as stream:
        return float(next(csv.DictReader(stream, delimiter="\t"))["s"])


def start_of_training(project):
    """Return the seconds of `itersel train` for imports and for kernels (the first run minus the second)."""
    code = (
        "import time; start = time.monotonic(); import itersel.learn.train; imported = time.monotonic();"
        "import sys; from itersel.cli.main import main; status = main(sys.argv[1:]);"
        "first = time.monotonic(); status += main(sys.argv[1:]); second = time.monotonic();"
        "print(imported - start, (first - imported) - (second - first), status)"
    )
    files = ["--shard", "results/tiny/shards/train/2/0.h5", "--model", "results/tiny/lm/lm.bin"]
    arguments = ["train", *files, "--k-best", "20", "--pop-limit", "30", "--output", "v.h5"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=project.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    imports, kernels, status = done.stdout.split()
    assert status == "0"
    return float(imports), float(kernels)


def test_barrier(two_shards, cluster, tmp_path, record_property):
    project = two_shards.copy(tmp_path / "a project")
    watch = Watch(project.folder)
    watch.start()
    profile = str(project.snakefile.parent / "profiles" / cluster.key)
    target = f"{EXPERIMENT}/epoch-{EPOCHS}/weights.h5"
    output = project.run("--profile", profile, target, environment=cluster.environment)
    watch.ended.set()
    watch.join()
    assert submitted(output)[f"train_shard.selected.{EPOCHS}"] == "2"
    imports, kernels = start_of_training(project)
    written = [
        (project.folder / EXPERIMENT / f"epoch-{e}/weights.h5").stat().st_mtime for e in range(1, EPOCHS + 1)
    ]
    rows = []
    for epoch in range(2, EPOCHS):
        train, mix = f"train_shard.selected.{epoch}", f"mix.selected.{epoch}"
        submission, mix_submission = watch.times[train, "identifier"], watch.times[mix, "identifier"]
        started = [watch.times[train, f"{line}.running"] for line in (1, 2)]
        ended = [watch.times[train, f"{line}.status"] for line in (1, 2)]
        training = [seconds_of(project, f"train/selected/epoch-{epoch}/{shard}") for shard in (0, 1)]
        mixing = seconds_of(project, f"mix/selected/epoch-{epoch}")
        mix_started, mix_ended = watch.times[mix, "1.running"], watch.times[mix, "1.status"]
        rows.append(
            {
                "epoch": written[epoch - 1] - written[epoch - 2],
                "scheduler starts the shards": max(started) - submission,
                "Snakemake around a shard": max(
                    end - start - command
                    for start, end, command in zip(started, ended, training, strict=True)
                ),
                "itersel train": max(training),
                "poll, list of shards, submission of mix": mix_submission - max(ended),
                "scheduler starts mix": mix_started - mix_submission,
                "Snakemake around mix": mix_ended - mix_started - mixing,
                "itersel mix": mixing,
                # Snakemake sets the time of an output when it notices the end of its job
                "poll after mix": written[epoch - 1] - mix_ended,
                "submission of the next epoch": submission - written[epoch - 2],
            }
        )
    mean = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
    mean["of itersel train: imports"] = imports
    mean["of itersel train: kernels"] = kernels
    barrier = mean["epoch"] - mean["itersel train"] + imports + kernels
    mean["barrier: epoch less training"] = barrier
    print(f"\n{cluster.key}, load {os.getloadavg()[0]:.1f}")
    for name, seconds in mean.items():
        print(f"{seconds:7.2f} s  {name}")
        record_property(name, round(seconds, 2))
