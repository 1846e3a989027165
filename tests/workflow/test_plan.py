"""The plan of the workflow, without running it; for all kinds of corpora."""

import os
import re
import socket
import subprocess
from collections import defaultdict

import pytest
from tests.conftest import ROOT
from tests.refusals import check_facts
from tests.workflow.preloaded import run_snakemake

# --dag takes the word after it as the format
GRAPHS = [["-n", "--dag"], ["-n", "--rulegraph"], ["-n", "--filegraph"], ["--dag=dot"]]


def dry_run(project):
    """Return the inputs and the command of each job of a dry run, by rule."""
    jobs = defaultdict(list)
    for block in project.run("--dry-run", "--printshellcmds").split("\n["):
        if found := re.search(r"rule (\w+):", block):
            jobs[found[1]].append("\n".join(line.strip() for line in block.splitlines()))
    return jobs


@pytest.fixture(scope="module")
def project(make_project):
    """Return a project whose epochs are chosen by a score of text; others, by default, are not."""
    project = make_project()
    project.configure(evaluation={"choose_by": "ter", "tokenizer": "intl"})
    return project


@pytest.fixture(scope="module")
def jobs(project):
    return dry_run(project)


def test_jobs_of_all_algorithms(jobs):
    # dev-dense: 1 shard x 1 epoch; averaged: 2 x 2; selected: 2 x 2
    expected = {"train_shard": 9, "mix": 5, "manifest_of_trained_shards": 5, "choose_epoch": 3}
    # dev in 1 and in 2 files, train in 2, devtest and test in 1
    expected |= {"extract_grammars": 7, "divide_corpus": 5, "manifest_of_sentences": 3, "prepare_held_out": 3}
    # devtest after each of 5 epochs, and test for 3 experiments
    expected |= {"decode_piece": 8, "join_pieces": 8}
    expected |= dict.fromkeys(("align", "index_corpus", "compare_systems", "all"), 1)
    assert {rule: len(jobs[rule]) for rule in expected} == expected


def test_scores_of_text(jobs):
    """Translations of test are scored as text for every experiment, and so are the references."""
    assert len(jobs["count_for_scores"]) == 3
    assert len(jobs["write_references"]) == 1
    (table,) = jobs["compare_systems"]
    folder = "results/tiny/evaluation/test"
    assert f'"counts": ["{folder}/counts/dev-dense.h5", "{folder}/counts/' in table
    for job in jobs["count_for_scores"]:
        assert f'--reference {folder}/reference.0.txt --settings \'{{"tokenizer": "intl"}}\'' in job
    for job in jobs["choose_epoch"]:
        assert '"tokenizer": "intl", "retokenize": ' in job
        assert '"choose_by": "ter"' in job
        assert "--raw-reference results/tiny/corpus/devtest.raw.gz" in job
        assert "--recaser results/tiny/corpus/recaser.json" in job
        assert "results/tiny/corpus/recaser.json" in job.partition("output:")[0]


def test_a_part_of_the_run_where_jobs_were_killed(make_project):
    """Temporary files of dead processes of this host are removed."""
    project = make_project()
    process = subprocess.Popen(["true"])
    process.wait()
    host = re.sub("[^A-Za-z0-9-]", "", socket.gethostname())[:64]
    project.results.mkdir(parents=True)
    dead, other = (project.results / f".tmp.{of}.{process.pid}.0123abcd.v.h5" for of in (host, f"no-{host}"))
    dead.touch()
    other.touch()
    output = project.run("--cores", "1", "--until", "prepare_train")
    assert "Tables:" not in output
    assert (project.results / "corpus/train.source.gz").exists()
    assert (dead.exists(), other.exists()) == (False, True)


def test_output_folder_that_cannot_be_created(make_project):
    project = make_project()
    project.configure(output="/proc/results")
    output = project.run("--cores", "1", status=1)
    [line] = [line for line in output.splitlines() if line.startswith("itersel: ")]
    check_facts(line, "/proc/results", "'output'")
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


@pytest.mark.parametrize("arguments", GRAPHS, ids=" ".join)
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
    assert '"target": ["dev.target"], "further": ["dev.other"]' in job
    for job in jobs["divide_corpus"]:
        targets = "--target results/tiny/corpus/dev.target.gz results/tiny/corpus/dev.target.1.gz "
        assert (targets in job) == ("sentences/dev/" in job)


def test_language_models_of_folds(make_project):
    """Each leaves out the files of its fold."""
    project = make_project()
    selected = project.config()["experiments"]["selected"]
    tasks = {"name": "random", "shards": 2, "language_model_folds": 2}
    project.configure(experiments={"selected": selected | {"tasks": tasks}})
    jobs = dry_run(project)["estimate_fold_model"]
    left_out = {re.search(r"--leave-out (\S+) --fold (\S+) .*/(\d)\.bin", job).groups() for job in jobs}
    assert left_out == {("results/tiny/sentences/train/2/text", f"{fold}/2", f"{fold}") for fold in range(2)}


def test_downloads(make_project):
    """They are separate jobs; options and inputs are tested in tests/unit/test_plan_*.py."""
    project = make_project()
    content = project.config()
    (project.folder / "labelled.tsv").write_text("das haus\tthe house\tnews\n")
    content["data"]["train"] = {"parliament": {"mtdata": "a-europarl-7-deu-eng"}}
    content["data"]["devtest"] = {"file": "labelled.tsv", "columns": {"label": 3}}
    content["data"]["test"] = {"old": {"sacrebleu": "wmt11"}, "new": {"sacrebleu": "wmt20/tworefs"}}
    project.configure(**content)
    jobs = dry_run(project)
    fetched = "results/tiny/corpus/fetched"
    [job] = jobs["prepare_train"]
    assert f"dev.source, dev.target, labelled.tsv, {fetched}/test.old/source.gz" in job
    [job] = jobs["prepare_held_out_labels"]
    assert "input: labelled.tsv, results/tiny/corpus/preparation.json" in job
    assert len(jobs["fetch_corpus"]) == 2
    [job] = jobs["fetch_corpus_target_1"]
    assert f"{fetched}/test.new/target.1.gz" in re.search("output: (.*)", job)[1]
    assert '"sacrebleu": "wmt20/tworefs"' in job


def test_libreoffice_help(make_project):
    """Given packages are inputs; train and held-out sets are made of them by one job."""
    project = make_project()
    (project.folder / "packages").mkdir()
    names = [f"packages/libreoffice-help-{language}_1_all.deb" for language in ("de", "en-us")]
    for name in names:
        (project.folder / name).touch()
    data = {"kind": "libreoffice-help", "folder": "packages/", "held_out_labels": ["sbasic"]}
    project.configure(data=data)
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
def test_downloads_and_lists_run_on_the_host_of_snakemake(make_project, is_given):
    """The nodes of many clusters have no network, and lists and choices take no time."""
    project = make_project()
    lines = [f'include: "{project.snakefile}"', 'print("local:", *workflow._localrules, "")']
    project.snakefile = project.folder / "own.smk"
    project.snakefile.write_text("\n".join(lines))
    project.configure(data={"kind": "libreoffice-help", **({"folder": "."} if is_given else {})})
    output = project.run("--quiet", "rules", "--dry-run", "results/tiny/corpus/help/source.gz")
    local = set(re.search("local: (.*)", output)[1].split())
    listed = ("sentences", "fold_models", "trained_shards", "tuning_files", "tuning_files_again")
    choices = {"check_patience", "choose_epoch", "choose_epoch_for_test_set", "describe_resources"}
    texts = {"join_tasks", "join_pieces", "write_paper_tables", "write_references"}
    assert local - {"fetch_help"} == {f"manifest_of_{name}" for name in listed} | choices | texts
    assert ("fetch_help" in local) == (not is_given)
