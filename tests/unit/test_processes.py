"""Functions applied by several processes: order, errors, processes that die."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial

import pytest

from itersel.errors import CombinedInputError, InputError
from itersel.processes import map_blocks


def double() -> Callable[[int], int]:
    return lambda number: 2 * number


def fail(kind: str) -> Callable[[int], int]:
    """Return a function that fails for 5."""
    errors = {
        "input": InputError("is wrong", "file", 7),
        "several": CombinedInputError([InputError("one", "a", 1), InputError("two", "b", 2)]),
        "bug": ValueError("bug"),
    }

    def function(number: int) -> int:
        if number == 5 and kind == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 5:
            raise errors[kind]
        return number

    return function


def unusable() -> Callable[[int], int]:
    raise InputError("cannot be used")


@pytest.mark.parametrize("processes", [1, 3])
def test_results_are_in_order(processes: int) -> None:
    assert list(map_blocks(double, iter(range(40)), processes)) == list(range(0, 80, 2))
    assert list(map_blocks(double, iter(()), processes)) == []


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("input", InputError, "file:7: is wrong"),
        ("several", CombinedInputError, "1 more"),
        ("bug", ValueError, "bug"),
    ],
)
def test_errors_of_the_function(kind: str, error: type[Exception], message: str, processes: int) -> None:
    """As in one process: with what came before, and with the places of all errors."""
    results = map_blocks(partial(fail, kind), iter(range(9)), processes)
    assert [next(results) for _ in range(5)] == list(range(5))
    with pytest.raises(error, match=message) as raised:
        next(results)
    if isinstance(raised.value, CombinedInputError):
        assert [(one.path, one.line) for one in raised.value.errors] == [("a", 1), ("b", 2)]


def test_a_process_that_dies() -> None:
    with pytest.raises(InputError, match="a process was killed"):
        list(map_blocks(partial(fail, "killed"), iter(range(9)), 2))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_function_that_cannot_be_made(processes: int) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        list(map_blocks(unusable, iter(range(9)), processes))


def test_what_cannot_be_sent_is_an_error() -> None:
    with pytest.raises(Exception, match="pickle"):
        list(map_blocks(lambda: double(), iter(range(9)), 2))
