"""Progress of long steps, in a log and on a terminal; functions applied by several processes."""

import contextlib
import fcntl
import io
import itertools
import multiprocessing
import sys
import threading
from functools import partial
from types import SimpleNamespace

import pytest
from tests.mapped import Breaks, double, fail, identity, identity_of, raising, unusable
from tests.refusals import check_facts, input_error

from itersel.cli import warm_up
from itersel.cli.main import main
from itersel.errors import CombinedInputError, InputError
from itersel.run.processes import map_blocks
from itersel.run.progress import Display, count_up, duration, progress, signs_of_life


@pytest.fixture(autouse=True)
def silent_steps(monkeypatch):
    """Instead of the fixture of all unit tests: here, steps speak."""
    monkeypatch.setattr(Display, "last_shown", {})


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now

    def pass_time(self, items, seconds):
        """Yield items that each take some seconds to produce."""
        for item in items:
            self.now += seconds
            yield item


def ending(clock, waits, between=lambda: None):
    """Return an event that occurs after a number of waits, which take no time."""

    def wait(timeout):
        clock.now += timeout
        between()
        return next(has_occurred)

    has_occurred = iter([False] * waits + [True])
    return SimpleNamespace(wait=wait)


def test_a_line_a_minute(capsys):
    clock = Clock()
    items = clock.pass_time("a" * 100, 2.5)
    assert list(progress(items, "decode", 100, clock=clock)) == ["a"] * 100
    assert capsys.readouterr().err.splitlines() == [
        "decode: 24 of 100, 2.5 s each, 3 min left",
        "decode: 48 of 100, 2.5 s each, 2 min left",
        "decode: 72 of 100, 2.5 s each, 70 s left",
        "decode: 96 of 100, 2.5 s each, 10 s left",
    ]


def test_lines_reach_the_log_at_once(monkeypatch):
    clock, raw = Clock(), io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BufferedWriter(raw)))
    items = progress(clock.pass_time("ab", 61), "decode", 2, clock=clock)
    assert next(items) + next(items) == "ab"
    assert raw.getvalue().startswith(b"decode: 1 of 2")


def test_short_jobs_write_nothing(capsys):
    clock = Clock()
    list(progress(clock.pass_time(range(590), 0.1), "decode", 590, clock=clock))
    with signs_of_life("align"):
        pass
    assert capsys.readouterr().err == ""


def test_status_is_current(capsys):
    clock, done = Clock(), []
    items = clock.pass_time([1, 2, 3], 60)
    for item in progress(items, "add", 3, lambda: f"sum {sum(done)}", clock):
        done.append(item)
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition(", ")[2] for line in lines] == ["sum 1", "sum 3", "sum 6"]


def test_count_up(capsys):
    clock = Clock()
    blocks = clock.pass_time([[0] * 1500] * 3, 40)
    assert len(list(count_up(blocks, "pairs prepared", len, clock))) == 3
    assert capsys.readouterr().err == "3,000 pairs prepared\n"


def test_a_terminal_has_one_line(monkeypatch):
    clock, terminal = Clock(), io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    list(progress(clock.pass_time(range(4), 1), "decode", 4, clock=clock))
    shown = terminal.getvalue()
    assert shown.count("\r") == 5
    assert "\n" not in shown
    assert shown.endswith("\r\033[K")


def test_step_without_progress(capsys):
    clock = Clock()
    Display(clock).watch("align", ending(clock, 24))
    assert capsys.readouterr().err.splitlines() == ["align: running for 72 s", "align: running for 2 min"]


def test_what_goes_elsewhere_does_not_replace_it(capsys):
    """Such as the messages of the steps of a warm-up, which run in the same process and are collected."""
    clock = Clock()
    display = Display(clock)
    with contextlib.redirect_stderr(io.StringIO()) as collected:
        inner = Display(clock)
        display.watch("compile", ending(clock, 24, lambda: inner.show("align")))
    assert collected.getvalue().count("align") == 25
    assert capsys.readouterr().err.splitlines() == ["compile: running for 72 s", "compile: running for 2 min"]


@pytest.mark.parametrize(("may_fork", "sign"), [(False, warm_up.SIGN), (True, warm_up.PREPARING)])
def test_compilation_has_its_own_sign_of_life(monkeypatch, capsys, tmp_path, may_fork, sign):
    """The log of a job that compiles says so, not that its step is running."""
    ended = multiprocessing.get_context("fork").Event()

    def show(_, text):
        shown.append(text)
        ended.set()

    shown = []
    monkeypatch.setattr("itersel.run.progress.SILENT_SECONDS", 0.01)
    monkeypatch.setattr(Display, "show", show)
    monkeypatch.setattr(warm_up, "_may_fork", lambda: may_fork)
    monkeypatch.setattr(warm_up, "_prepare", lambda *given: ended.wait())
    monkeypatch.setattr(warm_up, "_run_steps", lambda *given: None)
    monkeypatch.setenv(warm_up.WARM_UP_VARIABLE, "1")
    monkeypatch.setenv("ITERSEL_CACHE", str(tmp_path / "cache"))
    missing = str(tmp_path / "missing")
    assert main(["lm", "compile", "--input", missing, "--output", str(tmp_path / "lm.bin")]) == 1
    assert shown[0] == f"{sign}: running for 0 s"


def test_waiting_for_another_job_has_its_own_sign_of_life(monkeypatch, tmp_path):
    ended = threading.Event()

    def lock(stream, operation):
        if operation & fcntl.LOCK_NB:
            raise BlockingIOError
        ended.wait()
        warm_up._marker().touch()

    def show(_, text):
        shown.append(text)
        ended.set()

    shown = []
    monkeypatch.setattr("itersel.run.progress.SILENT_SECONDS", 0.01)
    monkeypatch.setattr(Display, "show", show)
    monkeypatch.setattr(fcntl, "flock", lock)
    monkeypatch.setenv(warm_up.WARM_UP_VARIABLE, "1")
    monkeypatch.setenv("ITERSEL_CACHE", str(tmp_path / "cache"))
    warm_up.warm_up_once(main)
    assert shown[0] == f"{warm_up.WAITING}: running for 0 s"


def test_progress_replaces_the_running_message(capsys):
    clock = Clock()
    other = progress(itertools.repeat(0), "decode", 100, clock=clock)
    Display(clock).watch("align", ending(clock, 40, lambda: next(other)))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 3
    assert all(line.startswith("decode: ") for line in lines)


def test_duration():
    found = [duration(seconds) for seconds in (0, 99.4, 100, 3560, 3600, 11100)]
    assert found == ["0 s", "99 s", "2 min", "59 min", "1 h 0 min", "3 h 5 min"]


@pytest.mark.parametrize("processes", [1, 3])
def test_results_are_in_order(processes):
    for count in (40, 0):
        assert list(map_blocks(double, iter(range(count)), processes)) == list(range(0, 2 * count, 2))


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("error", "facts"),
    [
        (InputError("is wrong", "file", 7), "file:7:"),
        (CombinedInputError([InputError("one", "a", 1), InputError("two", "b", 2)]), "a:1:"),
        (ValueError("bug"), "bug"),
    ],
    ids=["one", "several", "bug"],
)
def test_errors_of_the_function(error, facts, processes):
    """As in one process: with what came before, and with the places of all errors."""
    results = map_blocks(partial(fail, error), iter(range(9)), processes)
    assert [next(results) for _ in range(5)] == list(range(5))
    with pytest.raises(type(error)) as raised:
        next(results)
    check_facts(str(raised.value), facts)
    if isinstance(raised.value, CombinedInputError):
        assert [(one.path, one.line) for one in raised.value.errors] == [("a", 1), ("b", 2)]


def test_a_process_that_dies():
    with input_error():
        list(map_blocks(partial(fail, None), iter(range(9)), 2))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_function_that_cannot_be_made(processes):
    with input_error():
        list(map_blocks(unusable, iter(range(9)), processes))


@pytest.mark.parametrize("name", ["unpackable", "locked", "exit", "breaks"])
def test_errors_that_cannot_be_sent_keep_their_text(name):
    with pytest.raises(Exception, match="file:7: is wrong") as error:
        list(map_blocks(partial(raising, name), iter(range(9)), 2))
    assert not isinstance(error.value, InputError)
    if name != "breaks":  # which only this process notices
        assert "in raising" in "".join(error.value.__notes__).replace("in function", "in raising")


def test_what_cannot_be_sent_is_an_error():
    """A function, results and blocks, whether they cannot be packed or not be unpacked."""
    wrong = Breaks(EOFError("is wrong")), Breaks(OSError("is wrong")), Breaks(ValueError("is wrong"))
    calls = [(lambda: double(), 1), (partial(raising, "lock"), 1), (identity, threading.Lock())]
    calls += [(identity, block) for block in wrong] + [(partial(identity_of, one), 1) for one in wrong]
    for make, block in calls:
        with pytest.raises(Exception, match=r"pickle|is wrong") as error:
            list(map_blocks(make, iter([block] * 9), 2))
        assert not isinstance(error.value, InputError)
