"""The plan for corpora: given files, the LibreOffice Help, test sets, natural tasks."""

from __future__ import annotations

import re

import pytest
import yaml
from tests.workflow.test_plan import dry_run

from itersel.storage.files import read_lines


def test_natural_tasks(make_project):
    """Their shards have a separate folder, named after the tasks; shards of dev may also be natural."""
    project = make_project()
    project.name_tasks()
    content = project.config()
    content["data"]["dev"]["task"] = "train.task"
    natural = {"name": "natural", "labels": {"even": 2, "odd": 1}, "others": "join", "minimum": 5}
    content["experiments"]["averaged"]["tasks"] = natural
    other = {**content["experiments"]["selected"], "tasks": {**natural, "others": "drop"}, "seed": 7}
    content["experiments"]["other"] = {**other, "epochs": 1}
    project.configure(**content)
    jobs = dry_run(project)
    cut = {re.search(r"shards/(\S+)/text &?", job)[1]: job for job in jobs["shard_corpus"]}
    [selected] = [name for name in cut if re.fullmatch(r"train/2-natural-[0-9a-f]{8}", name)]
    options = "--others join --minimum 1 --labels even=1"
    assert f"--task results/tiny/corpus/train.task.gz --seed 1 {options}" in cut[selected]
    [averaged] = [name for name in cut if re.fullmatch(r"dev/4-natural-[0-9a-f]{8}", name)]
    assert "--others join --minimum 5 --labels even=2 odd=1" in cut[averaged]
    [other] = [name for name in cut if re.fullmatch(r"train/3-natural-[0-9a-f]{8}-seed-7", name)]
    assert "--seed 7 --others drop --minimum 5 --labels even=2 odd=1" in cut[other]
    models = {
        re.search(r"--model results/tiny/(lm/\S+)", job)[1] for job in jobs["train_shard"] if other in job
    }
    folder = other.removeprefix("train/")
    assert models == {f"lm/{folder}-shards/3-folds/{fold}.bin" for fold in range(3)}
    assert len([job for job in jobs["train_shard"] if averaged in job]) == 4 * 2
    counted = {
        re.search(r"--output results/tiny/report/rules\.(\w+)\.json", job)[1] for job in jobs["count_rules"]
    }
    assert counted == {"train", "dev", "devtest", "test"}
    # if sentences are dropped, the shards do not have all rules of train
    del content["experiments"]["selected"]
    project.configure(**content)
    jobs = dry_run(project)
    counted = {
        re.search(r"--output results/tiny/report/rules\.(\w+)\.json", job)[1] for job in jobs["count_rules"]
    }
    assert counted == {"dev", "devtest", "test"}
    [job] = jobs["prepare_held_out_task"]
    assert "results/tiny/corpus/dev.task.gz" in job
    [job] = [job for job in jobs["choose_epoch"] if "--name averaged" in job]
    assert "--tasks natural --shards 4" in job


def test_given_files(make_project):
    project = make_project()
    content = yaml.safe_load((project.folder / "config.yaml").read_text())
    lines = len((project.folder / "train.source").read_text().splitlines())
    for name in ("alignment", "mono", "model.arpa", "dev.other"):
        (project.folder / name).write_text("0-0\n" * lines)
    content["data"].update(tokenized=True, monolingual="mono")
    content["data"]["dev"]["target"] = [content["data"]["dev"]["target"], "dev.other"]
    content["data"]["train"]["alignment"] = "alignment"
    project.configure(data=content["data"])
    jobs = dry_run(project)
    assert "align" not in jobs
    [job] = jobs["estimate_language_model"]
    assert "results/tiny/corpus/monolingual.gz" in job
    _check_references_of_dev(jobs)
    del content["data"]["monolingual"]
    project.configure(data=content["data"], language_model={"arpa": "model.arpa"})
    jobs = dry_run(project)
    assert "estimate_language_model" not in jobs
    [job] = jobs["compile_language_model"]
    assert "--input model.arpa" in job


def _check_references_of_dev(jobs):
    """Shards of dev have all references, from which weights are learned."""
    [job] = jobs["prepare_held_out_target_1"]
    assert "--target dev.target --target dev.other" in job
    for job in jobs["shard_corpus"]:
        assert (" --target results/tiny/corpus/dev.target.1.gz " in job) == ("shards/dev/" in job)
    for job in jobs["extract_shard"]:
        further = re.search(r"shards/(\w+)/\S+ --references \S+/\d\.target\.1\.gz", job)
        assert (further is not None) == ("--output results/tiny/shards/dev/" in job)


def test_several_corpora_for_training(make_project):
    """Their names are labels; downloads are separate jobs; every file that is read is an input."""
    project = make_project()
    content = project.config()
    pairs = "das haus\tthe house\tnews\n"
    for name in ("pairs.tsv", "memory.tmx", "labelled.tsv", "more.source", "more.target"):
        (project.folder / name).write_text(pairs)
    content["data"]["train"] = {
        "talks": {"source": ["train.source", "more.source"], "target": ["train.target", "more.target"]},
        "web": {"file": ["pairs.tsv", "memory.tmx"], "columns": {"source": 2, "target": 1}},
        "parliament": {"mtdata": "Statmt-europarl-7-deu-eng"},
    }
    content["data"]["devtest"] = {"file": "labelled.tsv", "columns": {"task": 3}}
    content["data"]["test"] = {"old": {"sacrebleu": "wmt11"}, "new": {"sacrebleu": "wmt20/tworefs"}}
    natural = {"name": "natural", "labels": {"talks": 1, "web": 1, "parliament": 1}}
    content["experiments"]["selected"]["tasks"] = natural
    project.configure(**content)
    jobs = dry_run(project)
    fetched = "results/tiny/corpus/fetched"
    [job] = jobs["prepare_train"]
    inputs = re.search("input: (.*)", job)[1].split(", ")
    assert inputs == [
        *("train.source", "more.source", "train.target", "more.target", "pairs.tsv", "memory.tmx"),
        *(f"{fetched}/train.parliament/{side}.gz" for side in ("source", "target")),
        # held-out sets, with which train is compared
        *("dev.source", "dev.target", "labelled.tsv"),
        *(f"{fetched}/test.old/{side}.gz" for side in ("source", "target")),
        *(f"{fetched}/test.new/{side}.gz" for side in ("source", "target", "target.1")),
    ]
    assert "--corpus talks --source train.source --source more.source --target train.target" in job
    assert "--corpus web --file pairs.tsv --file memory.tmx --columns 2,1 --corpus parliament" in job
    assert "results/tiny/corpus/train.task.gz" in re.search("output: (.*)", job)[1]
    [job] = jobs["prepare_held_out_task"]
    assert "input: labelled.tsv, results/tiny/corpus/preparation.json" in job
    commands = [re.search("itersel corpus fetch .*", job)[0] for job in jobs["fetch_corpus"]]
    assert sorted(re.search(r"--(mtdata|sacrebleu) \S+", command)[0] for command in commands) == [
        "--mtdata Statmt-europarl-7-deu-eng",
        "--sacrebleu wmt11",
    ]
    [job] = jobs["fetch_corpus_target_1"]
    assert (
        f"--sacrebleu wmt20/tworefs --source-language de --target-language en --output {fetched}/test.new"
        in job
    )
    assert f"{fetched}/test.new/target.1.gz" in job
    [job] = jobs["shard_corpus"][:1]
    assert any("--labels talks=1 web=1 parliament=1" in job for job in jobs["shard_corpus"])


def test_libreoffice_help_is_fetched_and_split_by_hash(make_project):
    project = make_project()
    project.configure(data={"kind": "libreoffice-help", "max_train": 100})
    jobs = dry_run(project)
    assert len(jobs["fetch_help"]) == 1
    assert "prepare_held_out" not in jobs
    [job] = jobs["prepare_train"]
    assert "--split hash" in job
    assert "--task results/tiny/corpus/help/task.gz" in job


def test_held_out_modules_and_texts_in_addition_to_the_help(make_project):
    project = make_project()
    (project.folder / "other.target").touch()
    news = {"source": "test.source", "target": ["test.target", "other.target"]}
    project.configure(
        data={"kind": "libreoffice-help", "held_out_modules": ["sbasic"], "test": {"news": news}}
    )
    jobs = dry_run(project)
    [job] = jobs["prepare_train"]
    assert "--held-out-modules sbasic" in job
    assert "results/tiny/corpus/test.sbasic.target.gz" in job
    [job] = jobs["prepare_held_out_target_1"]
    assert "--split test.news --preparation results/tiny/corpus/preparation.json" in job
    assert "--source test.source --target test.target --target other.target" in job
    [job] = jobs["compare_systems"]
    for name, split in (("test", "test"), ("sbasic", "test.sbasic"), ("news", "test.news")):
        assert f"--test-set {name} results/tiny/corpus/{split}.target.gz" in job
        assert f"results/tiny/experiments/selected/best/{split}.txt" in job
    [job] = jobs["describe_corpus"]
    assert "results/tiny/corpus/statistics.json results/tiny/corpus/test.news.statistics.json" in job
    assert "--rules test.sbasic results/tiny/report/rules.test.sbasic.json" in job


def test_given_packages_are_inputs(make_project):
    project = make_project()
    (project.folder / "packages").mkdir()
    for language in ("de", "en-us"):
        (project.folder / f"packages/libreoffice-help-{language}_1_all.deb").touch()
    project.configure(data={"kind": "libreoffice-help", "folder": "packages/"})
    jobs = dry_run(project)
    [job] = jobs["fetch_help"]
    names = [f"packages/libreoffice-help-{language}_1_all.deb" for language in ("de", "en-us")]
    assert f"input: {', '.join(names)}" in job
    assert "results/tiny/corpus/help/statistics.json" in job
    [job] = jobs["describe_corpus"]
    assert "--collection results/tiny/corpus/help/statistics.json" in job


@pytest.mark.parametrize("is_given", [False, True])
def test_downloads_run_on_the_host_of_snakemake(make_project, is_given):
    """The nodes of many clusters have no network."""
    project = make_project()
    lines = [f'include: "{project.snakefile}"', 'print("local:", "fetch_help" in workflow._localrules)']
    project.snakefile = project.folder / "own.smk"
    project.snakefile.write_text("\n".join(lines))
    project.configure(data={"kind": "libreoffice-help", **({"folder": "."} if is_given else {})})
    output = project.run("--quiet", "rules", "--dry-run", "results/tiny/corpus/help/source.gz")
    assert f"local: {not is_given}" in output


def test_sets_that_are_cut_from_train(make_project):
    """They have the labels of train; a test set by name has its own files, with which train is compared."""
    project = make_project()
    project.name_tasks()
    content = project.config()
    test = content["data"].pop("test")
    content["data"] |= {"dev": {}, "devtest": {}, "test": {"other": test}}
    content["data"]["split"] = {"dev": 12, "devtest": 11, "test": 10}
    project.configure(**content)
    jobs = dry_run(project)
    [job] = jobs["prepare_train"]
    assert "--cut dev=12 --cut devtest=11 --cut test=10" in job
    assert "--held-out test.other --source test.source --target test.target" in job
    [job] = [*jobs["prepare_held_out"], *jobs.get("prepare_held_out_task", [])]
    assert "--split test.other" in job
    project.run("--cores", "1", "--until", "prepare_train")
    names = {path.name for path in (project.results / "corpus").glob("test.*")}
    assert names == {"test.source.gz", "test.target.gz", "test.task.gz", "test.raw.gz"}
    assert len(read_lines(project.results / "corpus/dev.task.gz")) == 12


def test_copies_of_held_out_pairs_make_no_difference(make_project):
    """Train is the same file with and without copies of test, of dev in devtest, and of its own pairs."""
    plain, copied = make_project(), make_project()
    for side in ("source", "target"):
        text = {split: (copied.folder / f"{split}.{side}").read_text() for split in ("train", "dev", "test")}
        copies = "".join(text["test"].splitlines(keepends=True)[:10]) + text["train"]
        (copied.folder / f"train.{side}").write_text(text["train"] + copies)
        for project in (plain, copied):
            (project.folder / f"devtest.{side}").write_text(text["dev"])
    for project in (plain, copied):
        project.run("--cores", "1", "--until", "prepare_train")
    for name in ("corpus/train.source.gz", "corpus/train.target.gz"):
        assert (plain.results / name).read_bytes() == (copied.results / name).read_bytes()
    table = (copied.results / "logs/corpus/prepare.log").read_text()
    assert "duplicates 160" in table
    assert re.search(r"also in test \d\d", table)
    assert "20 pairs of devtest also in dev" in table
