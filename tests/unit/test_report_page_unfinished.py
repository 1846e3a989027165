"""The page of an unfinished run: what it shows, and `itersel report watch`, which keeps it up to date."""

import os

import pytest
from tests.made_up_run import MadeUpRun

from itersel.cli.main import main
from itersel.errors import InputError
from itersel.report.page import writing
from itersel.report.page.document import read_document
from itersel.report.page.render import render
from itersel.report.page.writing import watch
from itersel.storage.files import write_lines


def test_failed_experiment(tmp_path):
    run = MadeUpRun(tmp_path / "run", ["good", "bad"], unfinished=["bad"])
    document = read_document(run.folder)
    bad = next(one for one in document["repeats"] if one["name"] == "bad")
    assert not bad["finished"]
    assert document["table"] is None
    assert bad["errors"][0]["error"].startswith("itersel train: lm.bin: ")
    assert bad["epochs"][-1]["active_features"] is None
    page = render(document)
    assert "This run is not finished" in page
    assert 'class="answer"' not in page
    assert "does not match its checksum" in page


def test_nothing_has_begun(tmp_path, refused):
    refused(["report", "page", "--results", tmp_path], f"{tmp_path}:")
    folder = MadeUpRun(tmp_path / "run", ["one"]).folder
    for part in ("experiments", "benchmarks", "corpus", "report/table.json", "report/corpus.json"):
        (folder / part).rename(tmp_path / part.replace("/", "."))
    page = render(read_document(folder))
    assert "0 of 1 repeats of experiments have finished" in page


def test_scores_of_an_unfinished_run(tmp_path):
    run = MadeUpRun(tmp_path / "run", ["one"], epochs=2, unfinished=["one"])
    for name in ("corpus/devtest.target.gz", "experiments/one/epoch-1/devtest.txt"):
        write_lines(run.folder / name, ["a b c d e"])
    (one,) = read_document(run.folder)["repeats"]
    assert one["epochs"][0]["devtest_tokenized_bleu"] == pytest.approx(100)
    assert one["epochs"][0]["brevity_penalty"] == 1
    assert one["epochs"][1]["devtest_tokenized_bleu"] is None


def watched(run):
    return run.folder, run.folder / "report/progress.html", run.folder / "report/index.html"


def test_watch_writes_changes(tmp_path, capsys):
    run = MadeUpRun(tmp_path / "run", ["one"], unfinished=["one"])
    _, page, final = watched(run)
    assert main(["report", "watch", "--results", str(run.folder), "--once"]) == 0
    assert "This run is not finished" in page.read_text()
    assert 'http-equiv="refresh"' not in page.read_text()
    final.write_text("")
    watch(run.folder, page, final, seconds=1, once=False)
    error = capsys.readouterr().err
    assert error.count(str(page)) == 1
    assert str(final) in error.splitlines()[-1]


def test_watch_ends_with_the_final_page_of_the_last_run(tmp_path, capsys, monkeypatch):
    """Whatever else is newer: the page of an earlier run is older than the lock of the one that runs."""
    run = MadeUpRun(tmp_path / "run", ["one"])
    folder, page, final = watched(run)
    log = folder / "logs/late.log"
    for path, time in ((final, 1), (folder / ".lock", 2), (log, 2**62)):
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
        os.utime(path, ns=(time, time))
    # as long as it waits, nothing has been said
    monkeypatch.setattr("time.sleep", lambda _: os.utime(final, ns=(3, 3)))
    watch(folder, page, final, seconds=1, once=False)
    _, ended = capsys.readouterr().err.splitlines()
    assert str(final) in ended


@pytest.mark.parametrize("once", [False, True])
def test_watch_survives_files_that_vanish(tmp_path, monkeypatch, once):
    """While it looks for changes, and while it reads them; both are repeated."""
    run = MadeUpRun(tmp_path / "run", ["one"])
    folder, page, final = watched(run)
    victims = [folder / f"report/x{number}.txt" for number in range(2)]
    for path in victims:
        path.write_text("x")
    stat, read, ends = os.stat, writing.read_document, []

    def vanishing(path, *arguments, **options):
        if os.fspath(path) == str(victims[0]):
            victims[0].unlink(missing_ok=True)
        return stat(path, *arguments, **options)

    def reading(results):
        if victims[1].exists():
            victims[1].unlink()
            raise InputError("no such file", victims[1])
        return read(results)

    def end(_):
        ends.append(page.exists())
        if page.exists():
            final.write_text("")

    monkeypatch.setattr("os.stat", vanishing)
    monkeypatch.setattr(writing, "read_document", reading)
    monkeypatch.setattr("time.sleep", end)
    watch(folder, page, final, seconds=1, once=once)
    assert page.exists()
    assert ends == ([] if once else [False, True])


def test_watch_reports_what_is_wrong(tmp_path):
    run = MadeUpRun(tmp_path / "run", ["one"])
    (run.folder / "report/table.json").write_text("{")
    with pytest.raises(InputError):
        watch(*watched(run), seconds=1, once=False)
