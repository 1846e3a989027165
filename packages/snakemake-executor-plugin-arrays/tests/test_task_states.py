"""What becomes of a task, without a scheduler: each transition, and those that are impossible."""

import re
from pathlib import Path

import pytest

from snakemake_executor_plugin_arrays.schedulers import Status
from snakemake_executor_plugin_arrays.task_states import (
    ENDED,
    FINISHED,
    GIVEN_UP,
    LOST,
    OPEN,
    REFUSED,
    REMOVED,
    REPORTED,
    REVOKED,
    RUNNING,
    VANISHED,
    ImpossibleTransitionError,
    TaskState,
)

RUNS = Status("RUNNING", alive=True)
PENDS = Status("PENDING", alive=True, waiting=True)
IS_DELETED = Status("dr", alive=True, cancelled=True)
TIMEOUT = Status("TIMEOUT", alive=False)
NODE_FAIL = Status("NODE_FAIL", alive=False)
CANCELLED = Status("CANCELLED", alive=False, cancelled=True)

NEW = TaskState()
ON = TaskState(RUNNING)
DELETED = TaskState(RUNNING, was_cancelled=True)
GONE = TaskState(VANISHED, missing_since=1)
GONE_DELETED = TaskState(VANISHED, missing_since=1, was_cancelled=True)
OVER = TaskState(ENDED, missing_since=1, status=TIMEOUT)
STOPPING = TaskState(REVOKED, missing_since=1, revoked_since=2)
STOPPING_LISTED = TaskState(REVOKED, revoked_since=2)
STOPPING_OVER = TaskState(REVOKED, missing_since=1, status=NODE_FAIL, revoked_since=2)


@pytest.mark.parametrize(
    ("before", "transition", "arguments", "after"),
    [
        # what the list says
        (NEW, "listed", [PENDS], NEW),
        (NEW, "listed", [RUNS], ON),
        (ON, "listed", [RUNS], ON),
        (ON, "listed", [PENDS], NEW),
        (ON, "listed", [IS_DELETED], DELETED),
        (DELETED, "listed", [RUNS], ON),
        (GONE, "listed", [RUNS], ON),
        (GONE_DELETED, "listed", [PENDS], NEW),
        (OVER, "listed", [PENDS], NEW),
        (NEW, "unlisted", [None, 1], GONE),
        (ON, "unlisted", [None, 1], GONE),
        (DELETED, "unlisted", [None, 1], GONE_DELETED),
        (ON, "unlisted", [TIMEOUT, 1], OVER),
        (GONE, "unlisted", [None, 5], GONE),
        # a status that comes later or is forgotten does not start the wait again
        (GONE, "unlisted", [TIMEOUT, 5], OVER),
        (OVER, "unlisted", [None, 5], OVER),
        (OVER, "unlisted", [NODE_FAIL, 5], TaskState(ENDED, 1, NODE_FAIL)),
        # a revoked task is being cancelled by this run
        (STOPPING, "listed", [RUNS], STOPPING_LISTED),
        (STOPPING_OVER, "listed", [IS_DELETED], STOPPING_LISTED),
        (TaskState(REVOKED, 1, None, 2, True), "listed", [RUNS], STOPPING_LISTED),
        (STOPPING_LISTED, "unlisted", [None, 1], STOPPING),
        (STOPPING, "unlisted", [NODE_FAIL, 5], STOPPING_OVER),
        # what the scheduler says when it is asked for an array
        (GONE, "found_alive", [5], TaskState(VANISHED, 5)),
        (OVER, "found_alive", [5], TaskState(ENDED, 5, TIMEOUT)),
        (STOPPING, "found_alive", [5], TaskState(REVOKED, 5, None, 2)),
        (GONE, "found_ended", [TIMEOUT, 5], TaskState(ENDED, 5, TIMEOUT)),
        (STOPPING, "found_ended", [TIMEOUT, 5], TaskState(REVOKED, 5, TIMEOUT, 2)),
        # what this run does
        (GONE, "revoked", [2], STOPPING),
        (TaskState(ENDED, 1, NODE_FAIL), "revoked", [2], STOPPING_OVER),
        (GONE, "revoked", [2, True], TaskState(REVOKED, 1, None, 2, True)),
        (GONE_DELETED, "revoked", [2, False], TaskState(REVOKED, 1, None, 2, True)),
        (STOPPING, "not_revoked", [], GONE),
        (STOPPING_OVER, "not_revoked", [], TaskState(ENDED, 1, NODE_FAIL)),
        (TaskState(REVOKED, 1, None, 2, True), "not_revoked", [], GONE_DELETED),
        # what is reported
        (GONE, "lost", [TIMEOUT], TaskState(LOST, 1, TIMEOUT)),
        (GONE, "lost", [CANCELLED], TaskState(LOST, 1, CANCELLED)),
        (STOPPING, "lost", [CANCELLED], TaskState(LOST, 1, None, 2)),
        (STOPPING, "lost", [NODE_FAIL], TaskState(LOST, 1, NODE_FAIL, 2)),
        (GONE_DELETED, "lost", [None], TaskState(LOST, 1, None, None, True)),
        (STOPPING_OVER, "stopped", [], TaskState(LOST, 1, NODE_FAIL, 2)),
        (STOPPING_LISTED, "stopped", [], TaskState(LOST, None, None, 2)),
        # it was revoked, although that seemed to fail
        (TaskState(ENDED, 1, CANCELLED), "stopped", [], TaskState(LOST, 1)),
        (ON, "stopped", [], TaskState(LOST)),
        (TaskState(LOST, 1, CANCELLED), "removed", [], TaskState(REMOVED, 1, CANCELLED)),
        (NEW, "given_up", [], TaskState(GIVEN_UP)),
        (ON, "given_up", [], TaskState(GIVEN_UP)),
        (STOPPING_LISTED, "given_up", [], TaskState(GIVEN_UP, revoked_since=2)),
        # an exit status counts at any time
        *[(TaskState(word), "finished", [], TaskState(FINISHED)) for word in OPEN],
        *[(TaskState(word), "refused", [], TaskState(REFUSED)) for word in OPEN],
    ],
)
def test_transition(before, transition, arguments, after):
    assert getattr(before, transition)(*arguments) == after


TRANSITIONS = {
    "listed": [RUNS],
    "unlisted": [None, 5],
    "found_alive": [5],
    "found_ended": [TIMEOUT, 5],
    "judged": [TIMEOUT, 5, 0, lambda: True, True],
    "revoked": [5],
    "not_revoked": [],
    "finished": [],
    "refused": [],
    "lost": [None],
    "stopped": [],
    "removed": [],
    "given_up": [],
}
IMPOSSIBLE = [
    # what is reported once is not reported again; only what is lost turns out to be removed
    *[
        (TaskState(word, missing_since=1), name)
        for word in sorted(REPORTED)
        for name in TRANSITIONS
        if (word, name) != (LOST, "removed")
    ],
    # only what is missing is asked for, judged and revoked
    *[
        (state, name)
        for state in (NEW, ON, STOPPING_LISTED)
        for name in ("found_alive", "found_ended", "judged", "revoked")
    ],
    *[(state, "not_revoked") for state in (NEW, ON, GONE, OVER)],
    # nor twice
    (STOPPING, "revoked"),
    *[(state, "removed") for state in (NEW, ON, GONE, OVER, STOPPING)],
    # it may have ended
    *[(state, "given_up") for state in (GONE, OVER, STOPPING)],
]


@pytest.mark.parametrize(("state", "name"), IMPOSSIBLE)
def test_impossible_transition(state, name):
    with pytest.raises(ImpossibleTransitionError):
        getattr(state, name)(*TRANSITIONS[name])


# The time is 100, and a job must notice within 10 seconds that it is revoked.
NOTICING = TaskState(REVOKED, 1, None, 95)
NOTICED = TaskState(REVOKED, 1, None, 90)
BEGAN, LEAVES = True, True


@pytest.mark.parametrize(
    ("before", "status", "has_begun", "leaves_if_removed", "after"),
    [
        # nothing says that it ended
        (GONE, None, BEGAN, not LEAVES, TaskState(REVOKED, 1, None, 100)),
        (GONE, None, not BEGAN, not LEAVES, TaskState(REVOKED, 1, None, 100)),
        (GONE, None, BEGAN, LEAVES, TaskState(REVOKED, 1, None, 100)),
        (GONE, None, not BEGAN, LEAVES, TaskState(REVOKED, 1, None, 100, True)),
        (NOTICING, None, BEGAN, not LEAVES, NOTICING),
        (NOTICED, None, BEGAN, not LEAVES, TaskState(LOST, 1, None, 90)),
        # another command does: if it began, its exit status may be on its way
        (GONE, TIMEOUT, BEGAN, not LEAVES, TaskState(ENDED, 100, TIMEOUT)),
        (GONE, TIMEOUT, not BEGAN, not LEAVES, TaskState(LOST, 1, TIMEOUT)),
        (NOTICING, TIMEOUT, BEGAN, not LEAVES, TaskState(REVOKED, 100, TIMEOUT, 95)),
        (NOTICING, CANCELLED, not BEGAN, not LEAVES, TaskState(LOST, 1, None, 95)),
        # the list does
        (OVER, TIMEOUT, BEGAN, not LEAVES, TaskState(LOST, 1, TIMEOUT)),
        (TaskState(ENDED, 1, CANCELLED), CANCELLED, BEGAN, not LEAVES, TaskState(LOST, 1, CANCELLED)),
        # processes may outlive the task, if there were any
        *[
            case
            for word in ("FAILED", "NODE_FAIL")
            for failed in [Status(word, alive=False)]
            for case in [
                (TaskState(ENDED, 1, failed), failed, BEGAN, False, TaskState(REVOKED, 1, failed, 100)),
                (TaskState(ENDED, 1, failed), failed, not BEGAN, False, TaskState(LOST, 1, failed)),
                (TaskState(REVOKED, 1, failed, 95), failed, BEGAN, False, TaskState(REVOKED, 1, failed, 95)),
                (TaskState(REVOKED, 1, failed, 90), failed, BEGAN, False, TaskState(LOST, 1, failed, 90)),
            ]
        ],
    ],
)
def test_missing_task_is_judged(before, status, has_begun, leaves_if_removed, after):
    assert before.judged(status, 100, 10, lambda: has_begun, leaves_if_removed) == after


def test_files_are_looked_at_only_if_that_matters():
    def fail():
        raise AssertionError

    assert OVER.judged(TIMEOUT, 100, 10, fail, True).word == LOST
    assert GONE.judged(None, 100, 10, fail, False).word == REVOKED
    assert NOTICING.judged(None, 100, 10, fail, True) is NOTICING


@pytest.mark.parametrize(("state", "is_missing"), [(ON, False), (GONE, True), (STOPPING_LISTED, False)])
def test_missing_for_long(state, is_missing):
    assert state.is_missing_for(9, 10) == is_missing
    assert not state.is_missing_for(10, 10)


def test_nothing_is_made_anew_while_nothing_changes():
    """A poll of many tasks costs no more than a look at each."""
    assert NEW.listed(PENDS) is NEW
    assert DELETED.listed(IS_DELETED) is DELETED
    assert GONE.unlisted(None, 5) is GONE
    assert OVER.unlisted(Status("TIMEOUT", alive=False), 5) is OVER


def test_readme_has_all_states():
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text()
    section = readme.partition("## States of a task\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ]+) \|", section, re.MULTILINE)
    assert [row for row in rows if row != "state"] == [*OPEN, *sorted(REPORTED, key=rows.index)]
