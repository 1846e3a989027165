"""Compiled kernels take a negative index for a place before the array, so there must be none.

Indices that are computed are checked by running any tests with NUMBA_BOUNDSCHECK=1, with an ITERSEL_CACHE of
its own.
"""

import ast

import numpy as np
import pytest
from numba import config

from itersel.jit import kernel
from itersel.kernel_cache import PACKAGE

MODULES = sorted(PACKAGE.rglob("*kernels*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_kernel_counts_from_the_end_of_an_array(path):
    found = [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Subscript) and any(map(is_negative, indices(node.slice)))
    ]
    assert not found


def indices(node):
    """Return the indices of all dimensions."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def is_negative(node):
    """Whether an index is a negative constant."""
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    )


@kernel
def read(numbers, place):
    """Read one number."""
    return numbers[place]


@kernel
def write(numbers, place):
    """Write one number."""
    numbers[place] = 0


@pytest.mark.skipif(not hasattr(read, "overloads"), reason="interpreted, there is no compiled code to test")
@pytest.mark.skipif(config.BOUNDSCHECK == 1, reason="with bounds checks, a negative index is an error")
def test_indices_are_places():
    # in the middle of memory of its own, so that nothing else is read or overwritten
    numbers = np.arange(8)
    assert read(numbers[4:], -1) == 3
    write(numbers[4:], -2)
    assert numbers.tolist() == [0, 1, 0, 3, 4, 5, 6, 7]
