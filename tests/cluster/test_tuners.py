"""Batch tuners on a scheduler: only a failed shard is rerun, with identical results."""

import shutil

import pytest
from tests.cluster.clusters import ClusterProject, submitted
from tests.workflow.conftest import SELECTION

pytestmark = pytest.mark.cluster

SHARDS = 4
DEV = {"tune_on": "dev", "tasks": {"name": "random", "shards": 2}, "epochs": 1}
MIRA, SEARCH = {"name": "kbest-mira", "passes": 5}, {"name": "line-search"}
EXPERIMENTS = {
    "batch": {**DEV, "tasks": {"name": "random", "shards": SHARDS}, "epochs": 2, "learner": MIRA},
    # the other tuners: their lists and optimisers must give the same bytes here and there, too
    "mert": {**DEV, "features": "dense", "learner": {"name": "mert", "restarts": 1}},
    "forests": {**DEV, "features": "dense", "learner": {"name": "forest-mert"}},
    "pro": {**DEV, "learner": {"name": "pro"}},
    # the step on dev after mixing
    "searched": {
        "tasks": {"name": "random", "shards": 2},
        "epochs": 1,
        **SELECTION,
        "retune": {"tuner": SEARCH},
    },
}
TARGETS = [
    f"results/tiny/experiments/{name}/epoch-{values['epochs']}/weights.h5"
    for name, values in EXPERIMENTS.items()
]


@pytest.fixture(scope="module")
def tuned(local, tmp_path_factory):
    """Return the small project after complete tuning on this machine."""
    project = local.copy(tmp_path_factory.mktemp("tuned") / "a project")
    shutil.rmtree(project.results / "experiments")
    project.configure(experiments=EXPERIMENTS, decoder={"k_best": 20, "pop_limit": 30, "pieces": 2})
    project.run("--cores", "2", *TARGETS)
    return project


@pytest.mark.parametrize("cluster", ["slurm"], indirect=True)
def test_lists_of_a_shard_fail(tuned, cluster, tmp_path):
    there = ClusterProject(cluster, tuned.copy(tmp_path / "a project"))
    shutil.rmtree(there.project.results / "experiments")
    try:
        armed = there.sabotage(2, {1: "exit 3"}, "write_tuning_files.batch")
        output = there.run(*TARGETS, "--keep-going", *armed, status=1)
        assert there.sabotage_happened()
        assert submitted(output)["write_tuning_files.batch.1"] == str(SHARDS)
        assert submitted(output)["write_tuning_files.searched.1"] == "2"
        assert "write_tuning_files (experiment batch, epoch 2, file 1)" in output
        before = there.project.files("experiments/**/*.h5")
        lists = {name for name in before if name.startswith("experiments/batch/epoch-2/")}
        assert lists == {f"experiments/batch/epoch-2/tuning/{shard}.h5" for shard in (0, 2, 3)}
        output = there.run(*TARGETS)
        assert submitted(output)["write_tuning_files.batch.2"] == "1"
        assert not {"write_tuning_files.batch.1", "write_tuning_files.searched.1"} & submitted(output).keys()
        assert there.project.keeps(before)
        assert there.weights() == tuned.contents("experiments/**/*.h5")
    finally:
        cluster.clear()
