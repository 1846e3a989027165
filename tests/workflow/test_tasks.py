"""Independent tasks added to a finished run, and the table by task."""

import json

import pytest
from tests.workflow.conftest import LEARNER, NOT_RETUNED

from itersel.corpus.dividing import deal_files

pytestmark = pytest.mark.slow

LABELS = {"even": 1, "odd": 1}
TABLE = "results/tiny/report/tasks.test.txt"


@pytest.fixture(scope="module")
def compared(finished, tmp_path_factory):
    """Return a project that compares experiments by task, and the output of its run."""
    project = finished.copy(tmp_path_factory.mktemp("tasks") / "a project")
    content = project.config()
    epochs = {**LEARNER, **NOT_RETUNED, "epochs": 1, "mixing": {"name": "selection", "select": 200}}
    content["experiments"]["own"] = {**epochs, "tasks": {"name": "independent", "labels": LABELS}}
    project.configure(**content)
    return project, project.run("--cores", "2", TABLE)


def test_table_by_task(compared):
    project, output = compared
    assert (project.folder / TABLE).read_text() in output
    table = json.loads((project.results / "report/tasks.test.json").read_text())
    assert [(row["name"], row["sentences"]) for row in table["tasks"]] == [("even", 8), ("odd", 8)]
    names = ["dev-dense", "averaged", "selected", "own"]
    assert [system["name"] for system in table["pooled"]["systems"]] == names
    assert table["left_out"] == {"sentences": 0, "labels": {}}


def test_each_sentence_is_translated_by_the_model_of_its_task(compared):
    project, _ = compared
    folder = project.results / "experiments"
    texts = ["own/tasks/test.txt", *(f"own.task-{label}/best/test.txt" for label in LABELS)]
    joined, *own = ((folder / text).read_text().splitlines() for text in texts)
    assert joined == [own[number % 2][number] for number in range(16)]
    assert all(joined)
    chosen = json.loads((folder / "own.task-odd/best/system.json").read_text())
    assert (chosen["tasks"], chosen["shards"]) == ("independent", 1)


def test_a_lost_file_of_a_shard_is_recreated(compared):
    """A shard of 'averaged' has two files, different ones in every epoch.

    Only the lost file is extracted again, and only the shards with it are trained again, one per epoch.
    """
    project, _ = compared
    trained = project.results / "experiments/averaged/epoch-2/shard-0.h5"
    trained.rename(trained.with_suffix(".lost"))
    lost = project.results / f"sentences/dev/4/{deal_files(4, 2, 1, 2)[0][1]}.h5"
    lost.rename(lost.with_suffix(".lost"))
    planned = project.planned("results/tiny/experiments/averaged/epoch-2/shard-0.h5")
    others = {name: count for name, count in planned.items() if not name.startswith("manifest_")}
    assert others == {"extract_grammars": 1, "train_shard": 2}
