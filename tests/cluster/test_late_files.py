"""Files that become visible late, as on NFS: the profiles wait for them."""

import os
import shutil
import subprocess

import pytest
from tests.cluster.clusters import HERE, SHARDS, mostly, submitted
from tests.needs import missing
from tests.workflow.conftest import TOGETHER

pytestmark = pytest.mark.cluster

LATE = str(HERE / "late.sh")
SECONDS = 45  # even on a busy machine, a task ends within this time
# Longer than a whole run that does not wait: it removes what it sees of the outputs of jobs that it gives up.
TOO_LATE = 300
TARGET = "results/tiny/experiments/selected/epoch-2/weights.h5"


def run(folder, cluster, *command, seconds=SECONDS):
    """Run a command for which files of other processes appear `seconds` late in a folder."""
    environment = {**os.environ, **cluster.environment}
    words = [LATE, str(folder), str(seconds), *command]
    return subprocess.run(words, env=environment, check=False, **TOGETHER)


@pytest.fixture
def late(prepared, tmp_path):
    """Return the small project, if such views are possible."""
    if not shutil.which("bindfs"):
        missing("no bindfs here: tests/cluster/install.sh installs it (Debian, Ubuntu; as root)")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("the kernel or the administrator does not let this user have file systems (/dev/fuse)")
    (tmp_path / "empty").mkdir()
    tried = run(tmp_path / "empty", prepared.cluster, "true")
    if tried.returncode:
        pytest.skip(f"this user cannot have a view of a folder of its own: {tried.stdout}")
    return prepared


@mostly("slurm")
def test_head_sees_files_late(late, local):
    """With the profile's waiting times, no output counts as missing, and results are identical."""
    profile = ["--profile", str(late.project.snakefile.parent / "profiles" / late.cluster.key)]
    done = run(late.folder, late.cluster, *late.project.command(*profile, "--retries", "0", TARGET))
    assert done.returncode == 0, done.stdout[-3000:]
    assert submitted(done.stdout)["train_shard.selected.2"] == str(SHARDS)
    assert "Waiting at most 60 seconds for missing files" in done.stdout
    assert late.weights() == local.contents("experiments/*/epoch-*/*.h5")


@pytest.mark.parametrize("cluster", ["slurm"], indirect=True)
def test_head_does_not_wait(late, local):
    """Without waiting, late outputs are reported as failures; the next run finds them and trains nothing."""
    hasty = late.project.command(*late.arguments("--latency-wait", "1", TARGET))
    done = run(late.folder, late.cluster, *hasty, seconds=TOO_LATE)
    assert done.returncode == 1, done.stdout[-3000:]
    assert "consider to increase the wait time with --latency-wait" in done.stdout
    output = late.run(TARGET)
    assert submitted(output) == {"mix.selected.2": "1"}
    assert late.weights() == local.contents("experiments/*/epoch-*/*.h5")
