"""Edits of the config and of the code during a run."""

import json
import os
import shutil

import pytest
from tests.refusals import check_facts
from tests.workflow.conftest import ended

WEIGHTS = "results/tiny/experiments/selected/epoch-2/weights.h5"
VICTIM = "results/tiny/experiments/selected/epoch-2/shard-0.h5"
LEARNED = "experiments/*/epoch-*/*.h5"


@pytest.fixture
def source(root, tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(root / "src", tmp_path / "src", ignore=ignored)


def test_config_edited_during_a_run(copy, finished):
    """The run goes on as it started, and the next one trains with the new settings."""
    copy.without("selected/epoch-2")
    before = (copy.folder / "config.yaml").read_text()
    run, job = copy.start_and_hold(["train", VICTIM], "--cores", "2", WEIGHTS)
    copy.configure(decoder={"k_best": 5, "pop_limit": 30})
    job.resume()
    ended(run)
    assert copy.contents(LEARNED) == finished.contents(LEARNED)
    assert json.loads((copy.results / "report/run.json").read_text())["config"]["decoder"]["k_best"] == 20
    [own] = (copy.results / ".configs").iterdir()
    assert json.loads(own.read_text())["decoder"]["k_best"] == 20
    assert copy.planned(WEIGHTS)["train_shard"] == 4
    (copy.folder / "config.yaml").write_text(before)
    assert copy.planned(WEIGHTS) == {}


def test_other_versions_are_named_once(copy):
    """Before a dry run, which records nothing, and before the first run, which keeps the old versions."""
    text = "results/tiny/corpus/dev.source.gz"
    path = copy.results / "report/run.json"
    content = json.loads(path.read_text())
    content["versions"]["sacrebleu"] = "0.1"
    path.write_text(json.dumps(content))
    (copy.folder / text).unlink()
    for arguments in (["--dry-run"], ["--cores", "1"]):
        assert json.loads(path.read_text()) == content
        assert copy.run(*arguments, text).count("sacrebleu 0.1 (now ") == 1
    assert json.loads(path.read_text())["earlier"] == [content["versions"]]
    (copy.folder / text).unlink()
    assert "sacrebleu 0.1" not in copy.run("--cores", "1", text)


@pytest.mark.parametrize("variable", ["ITERSEL_CODE", "ITERSEL_RULES"])
def test_a_node_finds_other_code(make_project, variable):
    """The Snakemake of a job compares the package and the rules with those of the run."""
    words = ["--dry-run", "--mode", "remote"]
    output = make_project().run(*words, environment={variable: "other code"}, status=os.EX_CONFIG)
    [line] = [line for line in output.splitlines() if line.startswith("itersel: ")]
    # the package and the rules are in different folders
    folder = {"ITERSEL_CODE": "src/itersel", "ITERSEL_RULES": "workflow/rules"}[variable]
    check_facts(line, f"{folder}:")
    assert make_project().run(*words, environment={variable: ""})


@pytest.mark.slow
def test_code_edited_during_a_run(copy, finished, source):
    """Jobs that start later fail in one line: their outputs would be recorded as those of the old code."""
    copy.without("selected/epoch-2")
    copy.source = source
    run, job = copy.start_and_hold(["train", VICTIM], "--cores", "2", WEIGHTS)
    edited = source / "itersel/learn/train.py"
    before = edited.read_text()
    edited.write_text(before + "# edited\n")
    job.resume()
    output = ended(run, 1)
    assert f"itersel train: {source}/itersel: " in output
    assert not (copy.folder / WEIGHTS).exists()
    edited.write_text(before)
    copy.run("--cores", "2", WEIGHTS)
    assert copy.contents(LEARNED) == finished.contents(LEARNED)
