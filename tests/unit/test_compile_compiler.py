"""The compiler of kernels: what is compiled, and for which types; what kernels must not contain."""

import ast
import re

import numpy as np
import pytest
from numba.core import config, types
from numba.core.codegen import JITCodeLibrary
from numba.core.errors import TypingError

from itersel.compile.jit import kernel, leaf_kernel
from itersel.compile.kernel_cache import PACKAGE

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


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*kernels*.py")), ids=lambda path: path.stem)
def test_no_kernel_counts_from_the_end_of_an_array(path):
    """Compiled kernels would read the memory before the array.

    Indices that are computed are checked by running any tests with NUMBA_BOUNDSCHECK=1, with an ITERSEL_CACHE
    of its own.
    """
    found = [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Subscript)
        # one index, or one for each dimension
        and any(re.fullmatch(r"-\d+", ast.unparse(one)) for one in getattr(node.slice, "elts", [node.slice]))
    ]
    assert not found
