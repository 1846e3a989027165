"""What a job asks a scheduler for, and how it and its array are called."""

from dataclasses import replace

import pytest
from facts import api_error, check_facts

from snakemake_executor_plugin_arrays import ExecutorSettings
from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.requests import (
    RequestError,
    array_name,
    check_settings,
    choose_scheduler,
    in_order,
    job_request,
    jobs_per_task,
    task_request,
)
from snakemake_executor_plugin_arrays.schedulers import Request
from snakemake_executor_plugin_arrays.slurm import Slurm


def test_resources_win_over_settings():
    settings = ExecutorSettings(partition="main", account="ours", extra="--nice=5")
    resources = {"slurm_partition": "long", "slurm_extra": "--exclude='a b'", "mem_mb": 500, "runtime": 30}
    found = job_request(resources, 2, 1, Slurm(), settings)
    assert (found.queue, found.account, found.threads) == ("long", "ours", 2)
    assert (found.memory, found.runtime, found.extra) == (500, 30, ("--nice=5", "--exclude=a b"))
    found = job_request(
        {"sge_project": "mine"}, 1, 1, GridEngine("smp", [], True), replace(settings, queue="q")
    )
    assert (found.queue, found.account, found.memory) == ("q", "mine", None)


def test_resources_of_the_published_slurm_executor():
    resources = {"qos": "long", "constraint": "a&b", "gres": "tmp:10", "gpu": 2, "gpu_model": "a100"}
    resources.update(nodes=1, tasks=1, mem_mb=1, mem_mb_per_cpu=500, cpus_per_task=4, slurm_extra="--nice=1")
    found = job_request(resources, 1, 2, Slurm(), ExecutorSettings(extra="--hold", retries_grow=True))
    assert (found.threads, found.memory) == (4, 4000)
    options = ("--qos=long", "--constraint=a&b", "--gres=tmp:10", "--gpus=a100:2")
    assert found.extra == ("--hold", *options, "--nice=1")
    assert job_request({"gpu_model": "t4"}, 1, 1, Slurm(), ExecutorSettings()).extra == ("--gpus=t4:1",)
    found = job_request(resources, 1, 1, GridEngine("smp", [], True), ExecutorSettings())
    assert (found.threads, found.memory, found.extra) == (4, 2000, ())


@pytest.mark.parametrize(
    ("resources", "facts"),
    [
        ({"mpi": "mpirun", "tasks": 4}, ["mpi=mpirun"]),
        ({"tasks": 4}, ["tasks=4"]),
        ({"nodes": 2}, ["nodes=2"]),
        ({"clusters": "other"}, ["clusters=other"]),
        ({"mem_mb": "much"}, ["mem_mb='much'"]),
        ({"runtime": -5}, ["runtime=-5"]),
        ({"slurm_extra": "--comment='x"}, ["arrays-extra", "slurm_extra"]),
    ],
)
def test_what_no_task_can_have(resources, facts):
    with pytest.raises(RequestError) as error:
        job_request(resources, 1, 1, Slurm(), ExecutorSettings())
    check_facts(str(error.value), *facts)


def test_jobs_per_task():
    settings = ExecutorSettings(jobs_per_task=3)
    assert [jobs_per_task({"jobs_per_task": value}, settings) for value in (None, 0, 5)] == [3, 3, 5]
    with pytest.raises(RequestError, match="jobs_per_task='x'"):
        jobs_per_task({"jobs_per_task": "x"}, settings)


def test_retries_grow():
    resources = {"mem_mb": 500, "runtime": 30}
    for grows, memory, runtime in ((True, 1500, 90), (False, 500, 30)):
        found = job_request(resources, 1, 3, Slurm(), ExecutorSettings(retries_grow=grows))
        assert (found.memory, found.runtime) == (memory, runtime)


def test_settings_that_are_too_small():
    check_settings(ExecutorSettings())
    check_settings(ExecutorSettings(limit=1, concurrent=0, poll_seconds=0, lost_seconds=0))
    for name, value, least in (("limit", -5, 1), ("limit", 0, 1), ("jobs_per_task", 0, 1)):
        option = f"arrays-{name.replace('_', '-')}"
        with api_error(option, f" {value}; ", f" {least}"):
            check_settings(ExecutorSettings(**{name: value}))
    for name in ("concurrent", "runtime_limit", "poll_seconds", "lost_seconds", "patience_seconds"):
        with api_error(f"arrays-{name.replace('_', '-')}", "-1", " 0"):
            check_settings(ExecutorSettings(**{name: -1}))


def test_scheduler_is_chosen(monkeypatch):
    there = {"qsub"}
    monkeypatch.setattr("shutil.which", lambda name: name if name in there else None)
    found = choose_scheduler(ExecutorSettings(memory_complex="h_vmem, tmem", memory_per_job=True))
    assert isinstance(found, GridEngine)
    assert found.complexes == ("h_vmem", "tmem")
    assert not found.per_slot
    with api_error("sbatch"):
        choose_scheduler(ExecutorSettings(scheduler="slurm"))
    with api_error("slurm", "sge"):
        choose_scheduler(ExecutorSettings(scheduler="pbs"))
    there.clear()
    with api_error("sbatch", "qsub"):
        choose_scheduler(ExecutorSettings())


def test_names():
    assert array_name("train_shard", "my experiment.2") == "train_shard.my_experiment.2"
    assert array_name("mix", None) == "mix"
    assert array_name("1st", "x/y") == "j1st.x_y"
    assert len(array_name("x", "y" * 300)) == 80


def test_order():
    assert sorted(["s-10.h5", "s-9.h5", "s-100.h5"], key=in_order) == ["s-9.h5", "s-10.h5", "s-100.h5"]


def test_time_and_memory_of_a_task():
    """Jobs run one after another: their times are added up."""
    free, limited = ExecutorSettings(), ExecutorSettings(runtime_limit=1440, memory_limit=1500)
    for settings, jobs, runtime, memory in (
        (free, 8, 1920, 2000),
        (limited, 8, 1440, 1500),
        (limited, 2, 480, 1500),
    ):
        found = task_request(Request(runtime=240, memory=2000), jobs, settings)
        assert (found.runtime, found.memory) == (runtime, memory)
    assert task_request(Request(memory=1000), 8, limited).memory == 1000
    assert task_request(Request(), 8, limited) == Request()
