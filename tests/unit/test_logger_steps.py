"""Messages of the console about the steps of a run, and their timing."""

import logging
import re
import threading
from types import SimpleNamespace

import pytest
from tests.text_grammars import write

from snakemake_logger_plugin_steps import ENDING, UNFINISHED, LogHandler
from snakemake_logger_plugin_steps.steps import CHANGED, NO_TIME, UNCHANGED, WIDTH, Steps, make_job

ALIGN = make_job("align", {}, "align words")


class Timed(Steps):
    """The steps of these jobs, with a clock set by tests."""

    def __init__(self, *jobs):
        self.now = 1000.0
        super().__init__(lambda: self.now)
        self.plan(jobs)

    def run(self, number, job, seconds):
        self.begin(number, job)
        self.now += seconds
        self.end(number)


def train(epoch, experiment="x"):
    wildcards = {"experiment": experiment, "epoch": str(epoch), "shard": "0"}
    return make_job("train_shard", wildcards, "{experiment}: train epoch {epoch}")


def test_done_now_and_left():
    jobs = [train(1), train(1), train(2), train(2)]
    steps = Timed(ALIGN, *jobs)
    steps.run(0, ALIGN, 75)
    steps.begin(1, jobs[0])
    assert steps.line() == "  1:15  1 of 5 jobs  done: align words (75 s); now: x: train epoch 1 (0 of 2)"
    steps.now += 40
    steps.end(1)
    steps.begin(2, jobs[1])
    # three more shards of 40 s each, one after another as before
    assert steps.line() == "  1:55  2 of 5 jobs, about 2 min left  now: x: train epoch 1 (1 of 2)"
    steps.now += 30
    assert steps.line().startswith("  2:25  2 of 5 jobs, about 90 s left  ")
    steps.now += 10
    steps.end(2)
    steps.run(3, jobs[2], 40)
    steps.run(4, jobs[3], 40)
    assert steps.line() == "  3:55  5 of 5 jobs  done: x: train epoch 1 (80 s), x: train epoch 2 (80 s)"
    assert steps.line() is None


def test_jobs_side_by_side_take_half_the_time():
    steps = Timed(*[train(1)] * 2, *[train(2)] * 2)
    for number in (0, 1):
        steps.begin(number, train(1))
    steps.now += 30
    steps.end(0)
    steps.end(1)
    assert "about 30 s left" in steps.line()


def test_time_of_a_step_is_that_of_its_jobs():
    steps = Timed(train(1), train(1), train(1))
    steps.begin(0, train(1))
    steps.now += 5
    steps.run(1, train(1), 5)
    steps.end(0)
    steps.now += 3600
    steps.run(2, train(1), 7)
    assert "done: x: train epoch 1 (17 s)" in steps.line()


def test_no_figure_is_invented():
    mix = make_job("mix", {"experiment": "x", "epoch": "1"}, None)
    steps = Timed(train(1), mix, mix)
    steps.run(0, train(1), 20)
    steps.begin(1, mix)
    assert "left" not in steps.line()
    steps = Timed(train(1), train(2), train(2, "y"), mix)
    steps.run(0, train(1), 20)
    steps.begin(1, train(2))
    # the best estimate for a rule is its time in another experiment; nothing is known about mixing
    assert "at least 40 s left" in steps.line()


def test_jobs_that_are_overdue():
    """On a cluster they may wait in the queue: nothing is known."""
    steps = Timed(*[train(1)] * 3)
    steps.run(0, train(1), 20)
    for number in (1, 2):
        steps.begin(number, train(1))
    steps.now += 19
    assert "about 1 s left" in steps.line()
    steps.now += 2
    assert "left" not in steps.line()


def test_when_a_line_is_due():
    steps = Timed(train(1), train(2))
    assert not steps.due()
    steps.begin(0, train(1))
    assert steps.due()
    steps.line()
    steps.begin(1, train(2))
    assert not steps.due()
    steps.now += CHANGED
    assert steps.due()
    steps.line()
    steps.now += UNCHANGED - 1
    assert not steps.due()
    steps.now += 1
    assert steps.due()
    # hours later
    steps.now += 20_000
    steps.line()
    steps.now += UNCHANGED
    assert not steps.due()


def test_if_nothing_changes_the_log_is_quoted(tmp_path):
    log = write(tmp_path / "log", "train: 10 of 50", "train: 20 of 50")
    steps = Timed(train(1), train(2))
    steps.begin(0, train(1), [str(log)])
    steps.begin(1, train(2), [str(tmp_path / "none")])
    now = "  0:00  0 of 2 jobs  now: x: train epoch 1, x: train epoch 2"
    assert steps.line() == now
    assert steps.line() == f"{now}; log: train: 20 of 50"
    log.write_text("x" * 200)
    steps.now += 3723
    first, second = steps.line().splitlines()
    assert first == now.replace("  0:00", "1:02:03") + ";"
    assert second.strip() == f"log: {'x' * 109}…"
    log.unlink()
    assert steps.line() == now.replace("  0:00", "1:02:03")


def test_failed_jobs():
    steps = Timed(train(1), train(1))
    steps.begin(0, train(1))
    steps.run(1, train(1), 9)
    steps.fail(0)
    assert steps.line() is None
    steps.begin(0, train(1))
    assert steps.line() == "  0:09  1 of 2 jobs, about 9 s left  now: x: train epoch 1 (1 of 2)"
    steps.fail(0)
    steps.begin(2, ALIGN)
    assert steps.line() == "  0:09  1 of 2 jobs, 1 failed  now: align words"


def test_jobs_without_a_title_are_only_counted():
    job = make_job("manifest_of_sentences", {"split": "train", "division": "4"}, NO_TIME)
    steps = Timed(job, train(1))
    steps.run(0, job, 70)
    assert not steps.due()
    steps.begin(1, train(1))
    assert steps.line() == "  1:10  1 of 2 jobs  now: x: train epoch 1"


def test_long_lines_are_arranged():
    jobs = [train(epoch, "an-experiment-with-a-name") for epoch in range(12)]
    steps = Timed(*jobs, *jobs)
    for number, job in enumerate(jobs[:6]):
        steps.run(number, job, 1)
        steps.run(number, job, 1)
        steps.begin(number + 6, jobs[number + 6])
    lines = steps.line().splitlines()
    assert lines[0].startswith("  0:12  12 of 24 jobs, about 2 s left  done: ")
    assert all(line.startswith(" " * 8) for line in lines[1:])
    assert max(map(len, lines)) <= WIDTH
    text = re.sub(r"\s+", " ", " ".join(lines))
    assert text.count("train epoch") == 10
    assert text.endswith(", 2 others")


def test_every_rule_has_a_title(root):
    """Rules made with `use rule` may have the title of the rule that they use."""
    text = "".join(path.read_text() for path in [root / "Snakefile", *root.glob("workflow/rules/*.smk")])
    titles = re.findall(r'^ *rule\b.*:\n *(?:"""(.*)"""$)?', text, re.M)
    assert len(titles) > 25
    assert all(titles)


@pytest.mark.parametrize(
    ("docstring", "title"),
    [
        ("{a}: tune epoch {b}", "1: tune epoch 2"),
        (None, "new 1 2"),
        (NO_TIME, None),
        ("Of somebody {else}, with {0}, {}", "new 1 2"),
        ("Of somebody else: {", "new 1 2"),
        ("{a.b} and {a[x]}", "new 1 2"),
        ("Of {a}.\n\n    More.\n", "Of 1."),
        ("\n", "new 1 2"),
    ],
)
def test_titles(docstring, title):
    assert make_job("new", {"a": "1", "b": "2"}, docstring).title == title


@pytest.fixture
def handler(tmp_path):
    """Return a handler that writes to the file `console`."""
    off = dict.fromkeys(("stdout", "dryrun", "printshellcmds", "verbose", "debug_dag"), False)
    found = LogHandler(SimpleNamespace(**off, nocolor=True, quiet=None, show_failed_logs=True), None)
    with (tmp_path / "console").open("w") as stream:
        found.setStream(stream)
        yield found


def test_end_after_a_signal_is_said_once(handler, tmp_path):
    ending = f"{ENDING} (scheduler)."
    for level, message in (
        *[(logging.INFO, ending)] * 2,
        (logging.INFO, "Shutting down, this might take some time."),
        (logging.ERROR, f"{UNFINISHED}."),
        (logging.ERROR, "WorkflowError:\nanother one"),
    ):
        handler.handle(logging.makeLogRecord({"msg": message, "levelno": level}))
    handler.close()
    assert (tmp_path / "console").read_text().splitlines() == [ending, "WorkflowError:", "another one"]


def test_two_threads_write(handler, tmp_path):
    """The threads of Snakemake's messages and of the steps do not wait for each other."""
    handler._steps = Timed(ALIGN)
    handler._steps.begin(1, ALIGN)
    record = logging.makeLogRecord({"msg": "said", "levelno": logging.INFO})

    def repeat(work, *arguments):
        for _ in range(2000):
            work(*arguments)

    works = (handler.handle, record), (handler._write_line,)
    threads = [threading.Thread(target=repeat, args=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    handler.close()
    assert (tmp_path / "console").read_text().count("said\n") == 2000
