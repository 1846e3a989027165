"""The plan of the workflow, without running it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections import defaultdict
from itertools import product

import pytest
from tests.conftest import ROOT
from tests.workflow.preloaded import run_snakemake

pytestmark = pytest.mark.xdist_group("plan")


def dry_run(project):
    """Return the inputs and the command of each job of a dry run, by rule."""
    jobs = defaultdict(list)
    for block in project.run("--dry-run", "--printshellcmds").split("\n["):
        if found := re.search(r"rule (\w+):", block):
            jobs[found[1]].append("\n".join(line.strip() for line in block.splitlines()))
    return jobs


@pytest.fixture(scope="module")
def project(make_project):
    return make_project()


@pytest.fixture(scope="module")
def jobs(project):
    return dry_run(project)


def test_jobs_of_all_algorithms(jobs):
    jobs = {rule: len(members) for rule, members in jobs.items()}
    # dev-dense: 1 shard x 1 epoch; averaged: 2 x 2; selected: 2 x 2
    assert jobs["train_shard"] == 9
    assert jobs["mix"] == 5
    # the same epochs; dev in 1 and in 2 shards, train in 2
    assert (jobs["list_trained_shards"], jobs["list_shards"]) == (5, 3)
    # devtest after each of 5 epochs, and test for 3 experiments
    assert jobs["decode_shard"] == jobs["join_translations"] == 8
    # dev in 1 and in 2 shards, train in 2, devtest and test in 1
    assert jobs["extract_shard"] == 7
    assert jobs["shard_corpus"] == 5
    assert jobs["choose_epoch"] == 3
    assert jobs["align"] == jobs["index_corpus"] == jobs["compare_systems"] == jobs["all"] == 1
    assert jobs["prepare_held_out"] == 3


def test_lists_are_not_submitted(root):
    """`use rule` does not hand on that a rule is local, so all of them are named."""
    text = (root / "workflow/rules/list.smk").read_text()
    local = re.search(r"(?m)^localrules:\n((?: +\w+,\n)+)", text)[1]
    rules = re.findall(r"(?m)^(?:use )?rule (?:\w+ as )?(\w+)(?=:| with)", text)
    assert re.findall(r"\w+", local) == rules


def test_scores_of_text(jobs):
    """Translations of test are scored as text for every experiment, and so are the references."""
    assert len(jobs["detokenize"]) == 3
    assert len(jobs["write_references"]) == 1
    (table,) = jobs["compare_systems"]
    folder = "results/tiny/evaluation/test"
    assert f"--counts {folder}/counts/dev-dense.h5 {folder}/counts/" in table
    assert all(f"--references {folder}/reference.0.txt --tokenizer 13a" in job for job in jobs["detokenize"])
    assert all("--by tokenized-bleu" in job and "recaser" not in job for job in jobs["choose_epoch"])


def test_epoch_by_a_score_of_text(make_project):
    project = make_project()
    project.configure(evaluation={"choose_by": "ter", "tokenizer": "intl"})
    jobs = dry_run(project)
    for job in jobs["choose_epoch"]:
        assert "--by ter --tokenizer intl" in job
        assert "--raw-references results/tiny/corpus/devtest.raw.gz" in job
        assert "--recaser results/tiny/corpus/recaser.json" in job
        assert "results/tiny/corpus/recaser.json" in job.partition("output:")[0]
    assert all("--tokenizer intl" in job for job in jobs["detokenize"])


def test_matrix(make_project):
    project = make_project()
    matrix = list(product(["mixsgd", "itermixsgd", "itersel"], ["dev", "train"], [1, 7]))
    project.configure(
        experiments={
            f"{algorithm}-{split}-{shards}": {
                "algorithm": algorithm,
                "tune_on": split,
                "tasks": {"shards": shards},
                "epochs": 3,
            }
            for algorithm, split, shards in matrix
        }
    )
    jobs = dry_run(project)
    for algorithm, split, shards in matrix:
        folder = f"results/tiny/experiments/{algorithm}-{split}-{shards}/"
        trained, mixed = (
            [job for job in jobs[rule] if f"--output {folder}" in job] for rule in ("train_shard", "mix")
        )
        assert (len(trained), len(mixed)) == (3 * shards, 3)
        assert all(f"--shard results/tiny/shards/{split}/{shards}/" in job for job in trained)
    # shards shared by several experiments are created once; devtest and test are one shard each
    assert len(jobs["extract_shard"]) == 2 * (1 + 7) + 2


def test_experiments_that_start_from_others(make_project):
    project = make_project()
    dev = {"tune_on": "dev", "features": "dense", "epochs": 2}
    project.configure(
        experiments={
            "x": {"epochs": 2, "start_from": "y"},
            "y": {**dev, "learner": {"name": "mert"}, "start_from": "z"},
            "z": dev,
        }
    )
    jobs = dry_run(project)

    def job(rule, output):
        return next(text for text in jobs[rule] if f"--output results/tiny/experiments/{output} " in text)

    best = "results/tiny/experiments/{}/best/weights.h5"
    assert f"--weights {best.format('y')} --epoch 1" in job("train_shard", "x/epoch-1/shard-0.h5")
    assert best.format("y") not in job("train_shard", "x/epoch-2/shard-0.h5")
    assert f"--weights {best.format('z')} --iteration 1" in job("write_lists", "y/epoch-1/lists/0.h5")
    assert f"--previous {best.format('z')} " in job("tune", "y/epoch-1/weights.h5")
    assert "--weights" not in job("train_shard", "z/epoch-1/shard-0.h5")


def test_repeats(make_project):
    project = make_project()
    tasks = {"shards": 2}
    project.configure(
        experiments={
            "x": {"tasks": tasks, "epochs": 1, "repeats": 2},
            "y": {"tasks": tasks, "epochs": 1, "seed": 2, "tune_on": "dev"},
        }
    )
    jobs = dry_run(project)
    assert len(jobs["train_shard"]) == 6
    # train with two seeds, dev with the second, devtest and test once
    assert len(jobs["shard_corpus"]) == 5
    assert len(jobs["estimate_fold_model"]) == 4
    assert all(len(jobs[rule]) == 1 for rule in ("align", "estimate_language_model", "compare_systems"))
    seeds = {
        re.search(r"shards/(\w+/\S+)/text", job)[1]: re.search(r"--seed (\d+)|$", job)[1]
        for job in jobs["shard_corpus"]
    }
    assert seeds == {
        "train/2": "1",
        "train/2-seed-2": "2",
        "dev/2-seed-2": "2",
        "devtest/1": None,
        "test/1": None,
    }
    trained = [
        re.search(r"shards/(\w+)/(2\S*)/(\d)\.h5 --model (\S+) .*--seed (\d+) ", job).groups()
        for job in jobs["train_shard"]
    ]
    models = {
        ("train", "2"): "results/tiny/lm/2-shards/2-folds/{}.bin",
        ("train", "2-seed-2"): "results/tiny/lm/2-seed-2-shards/2-folds/{}.bin",
        ("dev", "2-seed-2"): "results/tiny/lm/lm.bin",
    }
    assert sorted(trained) == sorted(
        (split, name, shard, model.format(shard), "2" if "seed" in name else "1")
        for (split, name), model in models.items()
        for shard in "01"
    )
    chosen = "\n".join(jobs["choose_epoch"])
    assert "--name x --repeat 2 " in chosen


def test_where_epochs_start(jobs):
    def job(experiment, epoch, shard):
        output = f"--output results/tiny/experiments/{experiment}/epoch-{epoch}/shard-{shard}.h5"
        return next(text for text in jobs["train_shard"] if output in text)

    for experiment in ("averaged", "selected"):
        assert "--weights" not in job(experiment, 1, 1)
    assert "--weights results/tiny/experiments/averaged/epoch-1/shard-1.h5" in job("averaged", 2, 1)
    assert "--weights results/tiny/experiments/selected/epoch-1/weights.h5" in job("selected", 2, 1)
    assert "--features dense" in job("dev-dense", 1, 0)
    assert "--shard results/tiny/shards/train/2/1.h5" in job("selected", 2, 1)
    assert "--shard results/tiny/shards/dev/1/0.h5" in job("dev-dense", 1, 0)


def test_held_out_language_models(make_project):
    """Shards use the model of their fold; dev, devtest and test use the model of all text."""
    project = make_project()
    content = project.config()
    content["experiments"]["selected"].update(tasks={"shards": 5, "language_model_folds": 2})
    project.configure(**content)
    folder = "results/tiny/lm/5-shards/2-folds"
    jobs = dry_run(project)
    assert len(jobs["estimate_fold_model"]) == 2
    for fold in range(2):
        [job] = [text for text in jobs["estimate_fold_model"] if f"--output {folder}/{fold}.bin" in text]
        assert f"--leave-out results/tiny/shards/train/5/text --fold {fold}/2" in job
        assert "--input results/tiny/corpus/train.target.gz --order" in job
    models = {"train": set(), "dev": set()}
    for job in jobs["train_shard"]:
        split, shard = re.search(r"--shard results/tiny/shards/(\w+)/\d+/(\d+)", job).groups()
        models[split].add((int(shard), re.search(r"--model (\S+)", job).group(1)))
    assert models["train"] == {(shard, f"{folder}/{shard % 2}.bin") for shard in range(5)}
    assert {model for _, model in models["dev"]} == {"results/tiny/lm/lm.bin"}
    assert all("--model results/tiny/lm/lm.bin" in job for job in jobs["decode_shard"])


def test_how_epochs_are_mixed(jobs):
    def job(experiment, epoch):
        output = f"experiments/{experiment}/epoch-{epoch}/weights.h5 "
        return next(text for text in jobs["mix"] if output in text)

    assert "--previous results/tiny/experiments/averaged/epoch-1/weights.h5" in job("averaged", 2)
    assert "--previous" not in job("averaged", 1)
    assert "--previous" not in job("selected", 2)
    assert "--mixing selection --shards 2 --select 300 --norm l2 --epoch 2" in job("selected", 2)


def test_path_following(make_project):
    """Shards measure the loss, and the threshold depends on the previous epoch."""
    project = make_project()
    path = {"name": "path-following", "threshold": 1, "epsilon": 5, "minimum": 0.01}
    mira = {"name": "mira"}
    project.configure(
        experiments={
            "x": {"tasks": {"shards": 2}, "epochs": 2, "mixing": path, "learner": mira},
            "y": {"tasks": {"shards": 2}, "epochs": 2, "learner": mira},
            "z": {
                "tasks": {"shards": 2},
                "epochs": 2,
                "mixing": path,
                "learner": mira,
                "held_out": {"tuner": {"name": "line-search"}},
            },
        }
    )
    jobs = dry_run(project)
    for job in jobs["train_shard"]:
        assert ("--measure-loss" in job) == ("experiments/y/" not in job)
    mixed = {
        epoch: next(job for job in jobs["mix"] if f"--output results/tiny/experiments/x/epoch-{epoch}" in job)
        for epoch in (1, 2)
    }
    limits = "--mixing path-following --shards 2 --threshold 1.0 --epsilon 5.0 --minimum 0.01 --norm l2"
    assert f"{limits} --epoch 1 --matrix" in mixed[1]
    assert f"{limits} --epoch 2 --previous results/tiny/experiments/x/epoch-1/weights.h5" in mixed[2]
    # a step on dev in between makes no difference
    mixed_before = "results/tiny/experiments/z/epoch-1/mixed.h5"
    [job] = [job for job in jobs["mix_before_tuning"] if "--epoch 2" in job]
    assert f"--previous {mixed_before}" in job
    [job] = [job for job in jobs["train_shard"] if "experiments/z/epoch-2/shard-0.h5 " in job]
    assert f"--weights {mixed_before}" in job


def test_only_train_is_left_out(jobs):
    for job in jobs["extract_shard"]:
        assert ("--leave-one-out" in job) == ("shards/train/" in job)


def test_a_part_of_the_run_where_jobs_were_killed(make_project):
    """Temporary files of dead processes of this host are removed; similar names are kept."""
    project = make_project()
    process = subprocess.Popen(["true"])
    process.wait()
    host = re.sub("[^A-Za-z0-9-]", "", socket.gethostname())[:64]
    project.results.mkdir(parents=True)
    dead = project.results / f".tmp.{host}.{process.pid}.0123abcd.weights.h5"
    others = [
        project.results / name
        for name in (
            f".tmp.another-{host}.{process.pid}.0123abcd.weights.h5",
            f".tmp.{host}.{os.getpid()}.0123abcd.weights.h5",
            ".tmp.driveupload",
        )
    ]
    for path in (dead, *others):
        path.touch()
    (project.results / ".tmp.999999.x").mkdir()
    output = project.run("--cores", "1", "--until", "prepare_train")
    assert "Traceback" not in output
    assert "Tables:" not in output
    assert (project.results / "corpus/train.source.gz").exists()
    assert not dead.exists()
    assert all(path.exists() for path in others)
    assert (project.results / ".tmp.999999.x").exists()


def test_output_folder_that_cannot_be_created(make_project):
    project = make_project()
    project.configure(output="/proc/results")
    output = project.run("--cores", "1", status=1)
    assert "itersel: /proc/results" in output
    assert "change 'output'" in output
    assert "Traceback" not in output


def test_paths(make_project, tmp_path):
    project = make_project()
    (tmp_path / "home").mkdir()
    (project.folder / "dev.source").rename(tmp_path / "home/dev.source")
    data = project.config()["data"] | {"dev": {"source": "~/dev.source", "target": ".//dev.target"}}
    project.configure(output="./out//", data=data)
    output = project.run("--dry-run", environment={"HOME": str(tmp_path / "home")})
    assert "out/tiny/corpus/dev.source.gz" in output
    assert str(tmp_path / "home/dev.source") in output
    assert "double" not in output
    assert "starts with" not in output


# --dag takes the word after it as the format
@pytest.mark.parametrize(
    "arguments",
    [["-n", "--dag"], ["-n", "--rulegraph"], ["-n", "--filegraph"], ["--dag=dot"]],
    ids=" ".join,
)
def test_standard_output_has_only_the_graph(project, tmp_path, arguments):
    """`snakemake -n --dag | dot`."""
    output = tmp_path / "output"
    words = [*project.options(), *arguments]
    status, errors = run_snakemake(words, project.folder, os.environ, output)
    assert status == 0
    assert output.read_text().startswith("digraph ")
    assert output.read_text().rstrip().endswith("}")
    assert "Building DAG" in errors
    if "--rulegraph" in arguments:
        assert output.read_text().count("label = ") < 30
        assert 'label = "train_shard"' in output.read_text()


def test_no_rule_needs_a_separate_snakemake_process():
    """Snakemake starts rules with `run:` or `shadow:` through a shell, with quotes meant for Python."""
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    assert not re.search(r"^\s+(run|shadow|script|notebook|wrapper):", rules, re.M)
