"""Starts the schedulers for tests, and stops them."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cluster.clusters import EPOCHS, HERE, SHARDS, Cluster, ClusterProject
from tests.needs import missing
from tests.workflow.conftest import EXPERIMENTS, Project, make_project

__all__ = ["make_project"]

PROGRAMS = {"slurm": ["slurmctld", "slurmd", "sbatch", "munged"], "sge": ["sge_qmaster", "sge_execd", "qsub"]}

# The longest, in this order. They start first, so that no process is left alone with one of them at the end.
LONGEST = ("test_shards_fail", "test_main_job", "test_lists_of_a_shard_fail", "test_interrupted")
LONGEST += ("test_exec_host_lost", "test_retries", "test_head_sees_files_late")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort cluster tests by scheduler, because starting one takes a while, and then the longest first."""
    here = [number for number, item in enumerate(items) if item.nodeid.startswith("tests/cluster/")]
    ordered = sorted((items[number] for number in here), key=_turn)
    for number, item in zip(here, ordered, strict=True):
        items[number] = item


def _turn(item: pytest.Item) -> tuple[bool, int]:
    name = item.name.partition("[")[0]
    return "[sge" in item.name, LONGEST.index(name) if name in LONGEST else len(LONGEST)


@pytest.fixture(scope="session", params=list(PROGRAMS))
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
    lacking = [name for name in PROGRAMS[request.param] if shutil.which(name, path=path) is None]
    if lacking:
        missing(
            f"no {', '.join(lacking)} here: tests/cluster/install.sh installs them (Debian, Ubuntu; as root)"
        )
    found = Cluster(request.param, tmp_path_factory.mktemp(request.param), HERE / f"{request.param}.sh")
    try:
        found.start()
        yield found
    finally:
        found.control("stop")


@pytest.fixture(scope="session")
def local(make_project: Callable[[], Project], tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return the small project after a complete run on this machine, without a scheduler."""
    project = make_project()
    # one process of pytest runs it, the others use the result
    together = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        together = together.parent
    with (together / "local.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if folder := lock.read():
            return Project(Path(folder), project.snakefile)
        project.name_tasks()
        # tasks with different numbers of shards
        tasks = {"name": "natural", "labels": {"even": SHARDS - 2, "odd": 2}, "language_model_folds": 2}
        experiment = {**EXPERIMENTS["selected"], "epochs": EPOCHS, "tasks": tasks}
        project.configure(experiments={"selected": experiment})
        project.run("--cores", "2")
        lock.write(str(project.folder))
    return project


@pytest.fixture
def prepared(local: Project, cluster: Cluster, tmp_path: Path) -> Iterator[ClusterProject]:
    """Return a copy that has run up to the first epoch."""
    copy = local.copy(tmp_path / "a project")
    for path in (copy.results / "experiments/selected").iterdir():
        if path.is_dir() and path.name != "epoch-1":
            shutil.rmtree(path)
    for pattern in ("report/table*", "experiments/selected/selection.*"):
        for path in copy.results.glob(pattern):
            path.unlink()
    yield ClusterProject(cluster, copy)
    cluster.clear()


@pytest.fixture
def fresh(local: Project, cluster: Cluster, tmp_path: Path) -> ClusterProject:
    """Return a copy that has only text and config."""
    copy = local.copy(tmp_path / "a project")
    shutil.rmtree(copy.results)
    shutil.rmtree(copy.folder / ".snakemake")
    return ClusterProject(cluster, copy)
