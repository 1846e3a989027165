"""The plan for corpora: given files, downloads, the LibreOffice Help."""

from __future__ import annotations

import re

import pytest
from tests.workflow.test_plan import dry_run


def test_given_files(make_project):
    """An alignment, a language model, and a second reference of dev."""
    project = make_project()
    data = project.config()["data"]
    lines = len((project.folder / "train.source").read_text().splitlines())
    for name in ("alignment", "mono", "model.arpa", "dev.other"):
        (project.folder / name).write_text("0-0\n" * lines)
    data["dev"]["target"] = ["dev.target", "dev.other"]
    project.configure(data=data | {"monolingual": "mono"})
    [job] = dry_run(project)["estimate_language_model"]
    assert "results/tiny/corpus/monolingual.gz" in job
    data["train"]["alignment"] = "alignment"
    project.configure(data=data | {"tokenized": True}, language_model={"arpa": "model.arpa"})
    jobs = dry_run(project)
    assert not {"align", "estimate_language_model"} & set(jobs)
    [job] = jobs["compile_language_model"]
    assert "--input model.arpa" in job
    [job] = jobs["prepare_held_out_target_1"]
    assert "--target dev.target --target dev.other" in job
    for job in jobs["shard_corpus"]:
        assert (" --target results/tiny/corpus/dev.target.1.gz " in job) == ("shards/dev/" in job)


def test_downloads(make_project):
    """They are separate jobs; options and inputs are tested in tests/unit/test_plan.py."""
    project = make_project()
    content = project.config()
    (project.folder / "labelled.tsv").write_text("das haus\tthe house\tnews\n")
    content["data"]["train"] = {"parliament": {"mtdata": "a-europarl-7-deu-eng"}}
    content["data"]["devtest"] = {"file": "labelled.tsv", "columns": {"task": 3}}
    content["data"]["test"] = {"old": {"sacrebleu": "wmt11"}, "new": {"sacrebleu": "wmt20/tworefs"}}
    project.configure(**content)
    jobs = dry_run(project)
    fetched = "results/tiny/corpus/fetched"
    [job] = jobs["prepare_train"]
    assert f"dev.source, dev.target, labelled.tsv, {fetched}/test.old/source.gz" in job
    [job] = jobs["prepare_held_out_task"]
    assert "input: labelled.tsv, results/tiny/corpus/preparation.json" in job
    assert len(jobs["fetch_corpus"]) == 2
    [job] = jobs["fetch_corpus_target_1"]
    assert f"{fetched}/test.new/target.1.gz" in re.search("output: (.*)", job)[1]
    assert "itersel corpus fetch --sacrebleu wmt20/tworefs " in job


def test_libreoffice_help(make_project):
    """Given packages are inputs; train and held-out sets are made of them by one job."""
    project = make_project()
    (project.folder / "packages").mkdir()
    names = [f"packages/libreoffice-help-{language}_1_all.deb" for language in ("de", "en-us")]
    for name in names:
        (project.folder / name).touch()
    project.configure(
        data={"kind": "libreoffice-help", "folder": "packages/", "held_out_modules": ["sbasic"]}
    )
    jobs = dry_run(project)
    [job] = jobs["fetch_help"]
    assert f"input: {', '.join(names)}" in job
    assert "results/tiny/corpus/help/statistics.json" in job
    assert "prepare_held_out" not in jobs
    [job] = jobs["prepare_train"]
    assert "results/tiny/corpus/test.sbasic.target.gz" in re.search("output: (.*)", job)[1]
    [job] = jobs["compare_systems"]
    assert "results/tiny/experiments/selected/best/test.sbasic.txt" in re.search("input: (.*)", job)[1]


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
