"""The compiler of kernels: what is compiled, and for which types; what kernels must not contain."""

import inspect
import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest
from numba.core import config, types
from numba.core.codegen import JITCodeLibrary
from numba.core.errors import TypingError

from itersel.compile import interpreted
from itersel.compile.jit import kernel, leaf_kernel
from itersel.errors import InputError

ROOT = Path(__file__).parents[2]
compiled = pytest.mark.skipif(config.DISABLE_JIT, reason="kernels are interpreted")


@leaf_kernel
def successor(number):
    return number + 1


@kernel
def successors(values):
    """Call a kernel with a short integer, a constant and a long integer."""
    return successor(values[0]), successor(7), successor(values.shape[0])


def test_one_version_for_all_signed_integers():
    assert successors(np.array([4], np.int32)) == (5, 8, 2)
    if not config.DISABLE_JIT:
        assert list(successor._inner.overloads) == [(types.int64,)]
        # nothing that Python could call
        assert not successor.overloads


@kernel
def first(values):
    return values[0].nothing


@compiled
def test_numba_is_as_before():
    """Also after an error: what others compile in the same process becomes machine code."""
    with pytest.raises(TypingError):
        first(np.zeros(1))
    assert first.targetctx.codegen()._library_class is JITCodeLibrary


@kernel
def pair(size):
    return np.zeros(size), np.arange(size)


@kernel
def both(size):
    return pair(size), pair(size + 1)


def test_a_kernel_that_kernels_and_python_call():
    """The constants that convert results do not belong to the code that they share."""
    (zeros, numbers), _ = both(1)
    assert [zeros.tolist(), numbers.tolist()] == [[0.0], [0]]
    assert [one.tolist() for one in pair(2)] == [[0.0, 0.0], [0, 1]]
    if not config.DISABLE_JIT:
        environments = [next(iter(one.overloads.values())).environment for one in (pair, both, pair._inner)]
        assert [len(one.consts) > 0 for one in environments] == [True, True, False]


LAST = -1


@kernel
def last(values):
    return values[-1]


@kernel
def last_column(values, row):
    return values[row, -1]


@kernel
def last_row(values):
    return values[-1, :].sum()


@kernel
def last_of_any(values):
    return values[..., -1].sum()


@kernel
def by_constant(values):
    return values[LAST]


@kernel
def by_name(values):
    place = -1
    return values[place]


@kernel
def put(values):
    made = values + 1
    made[-1] = 2


@kernel
def add(values):
    values[0, -1] += 2


@kernel
def of_part(values):
    return values[1:][-1].sum()


@kernel
def of_caller(values):
    return 1 + last(values)


@kernel
def of_array_or_none(values, row):
    chosen = values if row else None
    return 0.0 if chosen is None else chosen[0, -1]


@kernel
def put_into_array_or_none(values, row):
    chosen = values if row else None
    if chosen is not None:
        chosen[-1, 0] = 2.0


CONSTANTS = [last, last_column, last_row, last_of_any, by_constant, by_name, put, add, of_part, of_caller]
CONSTANTS += [of_array_or_none, put_into_array_or_none]


@kernel
def by_argument(values, row):
    return values[row - 3]


@kernel
def put_by_argument(values, row):
    made = np.zeros(4)
    made[row - 3] = values.size


@kernel
def add_by_argument(values, row):
    values[row - 3, 0] += 1


@kernel
def of_made(values, row):
    return np.cumsum(values)[row - 3]


@kernel
def by_array(values, row):
    return values[np.array([0, row - 3])].sum()


@kernel
def in_comprehension(values, row):
    return [values[place, 0] for place in range(row - 3, row)]


COMPUTED = [by_argument, put_by_argument, add_by_argument, of_made, by_array, in_comprehension]


def values_for(function):
    """Return rows that have others before them, and the number of one."""
    values = np.arange(12.0).reshape(4, 3)[2:]
    return (values, 1)[: function.__code__.co_argcount]


def first_line(function):
    return function.__code__.co_firstlineno


@compiled
@pytest.mark.parametrize("function", CONSTANTS, ids=lambda function: function.__name__)
def test_a_constant_cannot_count_from_the_end_of_an_array(function):
    """The code would read the memory before the array."""
    with pytest.raises(InputError) as caught:
        function(*values_for(function))
    wrong = last if function is of_caller else function
    # the last line of each
    line = first_line(wrong) + len(inspect.getsource(wrong.py_func).splitlines()) - 1
    assert str(caught.value).startswith(f"{__file__}:{line}: kernel '{wrong.__name__}' ")
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not config.DISABLE_JIT, reason="kernels are compiled")
@pytest.mark.parametrize("function", [*CONSTANTS, *COMPUTED], ids=lambda function: function.__name__)
def test_no_index_counts_from_the_end_of_an_array(function):
    """Also if it is computed, and the array an argument, made in the kernel, or a part of another."""
    with pytest.raises(IndexError) as caught:
        function(*values_for(function))
    wrong = last if function is of_caller else function
    # where the source has it
    place = [entry for entry in traceback.extract_tb(caught.tb) if entry.filename == __file__][-1]
    assert place.lineno == first_line(wrong) + len(inspect.getsource(wrong).splitlines()) - 1


def test_interpreted_kernels_in_any_process():
    """So that `make test` checks them, too."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        __file__,
        "-k",
        "no_index_counts",
    ]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    assert f"{len(CONSTANTS) + len(COMPUTED)} passed" in done.stdout


@kernel
def parts(values):
    """What may have negative numbers."""
    pair, numbers = (values.size, 2.5), [3, 4]
    ends = values[-2:].sum(), values[:-1].sum(), values[::-1][0], values[-2:-1][0]
    return ends, pair[-1], numbers[-1], values.shape[-1], "ab"[-1]


def test_slices_and_tuples_count_from_the_end():
    values = np.array([5.0, 6.0, 8.0])
    expected = (14.0, 11.0, 8.0, 6.0), 2.5, 4, 3, "b"
    assert parts(values) == parts(values[:]) == parts.__wrapped__(values) == expected


@kernel
def evenly(memory):
    """Make an array by a function of numba that sets its last element by -1."""
    return np.linspace(0.0, memory.size, 3), np.roll(memory, 1), np.unique(memory)


def test_functions_of_numba_count_from_the_end():
    found = [one.tolist() for one in evenly(np.array([5.0, 7.0]))]
    assert found == [[0.0, 1.0, 2.0], [7.0, 5.0], [5.0, 7.0]]


def test_few_indices_need_numpy(monkeypatch):
    """Interpreted kernels mostly have integers, for which functions of numpy would take most of the time."""
    calls = []

    def count(found):
        calls.append(found)
        return np.count_nonzero(found) > 0

    monkeypatch.setattr(interpreted.np, "any", count)
    values = np.zeros((3, 3))
    for index in (2, (1, 2), (np.int32(1), np.uint8(2)), (slice(-1, None), 1), (..., None)):
        assert interpreted.checked(values, index) is index
    for index in (-1, (1, np.int64(-1)), (slice(None), -1)):
        with pytest.raises(IndexError):
            interpreted.checked(values, index)
    assert not calls
    with pytest.raises(IndexError):
        interpreted.checked(values, (0, np.array([0, -2])))
    assert len(calls) == 1


def made_kernel(offset):
    """Return a kernel with values from outside."""

    @kernel
    def shifted(values, place=1):
        return values[place + offset]

    return shifted


def test_a_kernel_with_values_from_outside():
    values = np.array([5.0, 7.0, 9.0])
    assert [made_kernel(1)(values), made_kernel(0)(values), made_kernel(0)(values, 2)] == [9.0, 7.0, 9.0]


TWO = kernel(lambda values: values[0]), kernel(lambda values: values[1])


def test_kernels_in_the_same_line():
    assert [function(np.array([5.0, 7.0])) for function in TWO] == [5.0, 7.0]
