"""The plan for tasks: reshuffled files, pools, a model for each task, the table by task."""

from __future__ import annotations

import re

from tests.workflow.test_plan import dry_run

from itersel.corpus.sharding import deal_files

LABELS = {"even": 2, "odd": 1}


def plan(project, experiments, test_task=True):
    content = project.config()
    for split in ("train", "devtest", *(["test"] if test_task else [])):
        content["data"][split]["task"] = f"{split}.task"
    content["experiments"] = {name: {"epochs": 2, **one} for name, one in experiments.items()}
    project.configure(**content)
    return dry_run(project)


def trained(jobs, output):
    """Return the files and the language models of a training job."""
    [job] = [job for job in jobs["train_shard"] if f"experiments/{output}" in job.partition("--output")[2]]
    found = re.search(r"--shard (.*?) --model (.*?) --", job)
    return found[1].split(), found[2].split()


def test_files_are_reshuffled_in_each_epoch(make_project):
    tasks = {"name": "resharding", "shards": 3, "parts": 2, "language_model_folds": 4}
    jobs = plan(make_project(), {"a": {"tasks": tasks}, "b": {"tasks": {"shards": 6}}})
    [text] = [job for job in jobs["shard_corpus"] if "--split" not in job and "shards/train" in job]
    assert "--shards 6 --seed 1" in text
    # the same files as for six random shards
    assert len([job for job in jobs["extract_shard"] if "--output results/tiny/shards/train/" in job]) == 6
    for epoch in (1, 2):
        for shard, files in enumerate(deal_files(6, 3, 1, epoch)):
            found = trained(jobs, f"a/epoch-{epoch}/shard-{shard}.h5")
            assert found[0] == [f"results/tiny/shards/train/6/{file}.h5" for file in files]
            assert found[1] == [f"results/tiny/lm/6-shards/4-folds/{file % 4}.bin" for file in files]
    assert deal_files(6, 3, 1, 1) != deal_files(6, 3, 1, 2)


def test_pools_are_one_shard(make_project):
    pooled = {"name": "pooled", "labels": ["odd", "even"], "parts": 3}
    jobs = plan(
        make_project(), {"one": {"tasks": pooled}, "all": {"tasks": {**pooled, "name": "pooled-cat"}}}
    )
    texts = {
        size: re.search(r"--output (\S+)/text", job)[1]
        for job in jobs["shard_corpus"]
        for size in ("one", "all")
        if f"--shards 3 --size {size} --pool even odd" in job
    }
    for size, name in (("one", "one"), ("all", "all")):
        files, models = trained(jobs, f"{name}/epoch-1/shard-0.h5")
        assert files == [f"{texts[size]}/{file}.h5" for file in range(3)]
        folder = texts[size].removeprefix("results/tiny/shards/train/")
        assert models == [f"results/tiny/lm/{folder}-shards/3-folds/{fold}.bin" for fold in range(3)]
    assert len(jobs["train_shard"]) == 4


def test_a_model_for_each_task(make_project):
    tasks = {"name": "independent", "labels": LABELS}
    jobs = plan(
        make_project(),
        {
            "own": {"tasks": tasks, "repeats": 2},
            "shared": {"tasks": {"name": "natural", "labels": LABELS}},
            "dev": {"algorithm": "sgd", "tune_on": "dev"},
        },
    )
    # the first repeat uses the files of the natural tasks, the second has a different seed
    assert len(jobs["shard_corpus"]) == 2 + 2 + 1
    shared, _ = trained(jobs, "shared/epoch-2/shard-2.h5")
    assert trained(jobs, "own.task-odd/epoch-2/shard-0.h5")[0] == shared
    assert len([job for job in jobs["mix"] if "own.task-even" in job]) == 2 * 2
    natural = [job for job in jobs["shard_corpus"] if "--labels" in job]
    assert len(natural) == 2
    for part in ("--labels even=2 odd=1", "--scored results/tiny/corpus/devtest.task.gz"):
        assert all(part in job for job in natural)
    [choice] = [job for job in jobs["choose_epoch"] if "--name own.task-odd --repeat 2" in job]
    assert "--labels results/tiny/corpus/devtest.task.gz --task odd" in choice
    [table] = jobs["compare_systems"]
    assert "own" not in table.partition("itersel report table")[2]
    [by_task] = jobs["compare_tasks"]
    assert "--tasks even odd" in by_task
    systems = re.findall(r"--system (\S+) results/tiny/experiments/(\S+)", by_task)
    assert systems == [
        ("shared", "shared/best/test.txt"),
        ("dev", "dev/best/test.txt"),
        ("own", "own/tasks/test.txt"),
        ("own", "own.repeat-2/tasks/test.txt"),
    ]
    [joined] = [job for job in jobs["join_tasks"] if "own.repeat-2/tasks" in job]
    best = "results/tiny/experiments/own.task-{}.repeat-2/best/test.txt"
    assert f"--tasks even odd --translations {best.format('even')} {best.format('odd')}" in joined


def test_no_table_by_task_of_a_test_set_without_labels(make_project):
    natural = {"tasks": {"name": "natural", "labels": LABELS}}
    assert "compare_tasks" not in plan(make_project(), {"a": natural}, test_task=False)
    assert "compare_tasks" in plan(make_project(), {"a": natural})
    assert "compare_tasks" not in plan(make_project(), {"a": {}})
