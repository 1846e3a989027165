"""Shards of n-best lists on a scheduler: only a failed shard is rerun, with identical results."""

import pytest
from tests.cluster.clusters import ClusterProject, mostly, submitted
from tests.workflow.test_lists import EPOCH, OF_TRAIN, TEXT_FEATURES, with_lists

pytestmark = pytest.mark.cluster

TARGET = f"{EPOCH}/weights.h5"
FEATURES = "results/tiny/text-features"
MODELS = ("forward.h5", "reverse.h5", "2/2-folds/0", "2/2-folds/1")


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


@mostly("slurm")
def test_features_of_a_shard_fail(make_project, cluster, tmp_path):
    """Features of the text of lists: those of the failed file are computed again, alone."""
    here = with_lists(make_project(), TEXT_FEATURES)
    there = ClusterProject(cluster, here.copy(tmp_path / "a project"))
    here.run("--cores", "2", *OF_TRAIN)
    try:
        # all that both jobs need, so that they are one array
        there.run(*(f"{FEATURES}/{name}" for name in MODELS))
        armed = there.sabotage(None, {1: "exit 3"}, "import_lists")
        output = there.run(*OF_TRAIN, "--keep-going", *armed, status=1)
        assert there.sabotage_happened()
        before = there.project.files("sentences/**/*.h5")
        assert len(before) == 1
        output = there.run(*OF_TRAIN)
        assert submitted(output)["import_lists"] == "1"
        assert there.project.keeps(before)
        for files in ("sentences/**/*.h5", "text-features/**/*.h5", "text-features/**/*.bin"):
            assert there.project.contents(files) == here.contents(files)
    finally:
        cluster.clear()
