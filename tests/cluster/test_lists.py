"""Shards of n-best lists on a scheduler: only a failed shard is rerun, with identical results."""

import pytest
from tests.cluster.clusters import ClusterProject, mostly, submitted
from tests.workflow.test_lists import EPOCH, with_lists

pytestmark = pytest.mark.cluster

TARGET = f"{EPOCH}/weights.h5"


@mostly("sge")
def test_shard_of_lists_fails(make_project, cluster, tmp_path):
    here = with_lists(make_project())
    there = ClusterProject(cluster, here.copy(tmp_path / "a project"))
    here.run("--cores", "2", TARGET)
    try:
        armed = there.sabotage(2, {1: "exit 3"})
        output = there.run(TARGET, "--keep-going", *armed, status=1)
        assert there.sabotage_happened()
        assert "train_shard (experiment selected, epoch 2, shard 1)" in output
        before = there.project.files("experiments/**/*.h5")
        assert "experiments/selected/epoch-2/shard-0.h5" in before
        output = there.run(TARGET)
        assert submitted(output)["train_shard.selected.2"] == "1"
        assert "train_shard.selected.1" not in submitted(output)
        assert there.project.keeps(before)
        assert there.weights() == here.contents("experiments/**/*.h5")
    finally:
        cluster.clear()
