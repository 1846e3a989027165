"""Kernels that are interpreted, to test them: a negative index of an array is an error.

Compiled kernels do not count from the end of an array, as numpy does, but would read the memory before it. So
interpreted kernels run from their source with a change: ``a[i]`` becomes ``a[checked(a, i)]``, or
``Checked(a)[i]`` where ``a`` is not just a name.
"""

from __future__ import annotations

import ast
import copy
import functools
import linecache
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, cast

import numpy as np

INTEGERS = (int, np.integer)
WRONG = "compiled kernels cannot count from the end of an array"


def checked(value: Any, index: Any) -> Any:
    """Return the index, unless it is a negative one of an array, which is an IndexError."""
    # the common case first
    if isinstance(index, INTEGERS) and index >= 0:
        return index
    if isinstance(value, np.ndarray):
        for part in index if isinstance(index, tuple) else (index,):
            if _is_negative(part):
                raise IndexError(f"index {np.min(part)}: {WRONG}")
    return index


def _is_negative(part: Any) -> bool:
    """Return whether a part of an index is negative; slices may have negative bounds."""
    if isinstance(part, INTEGERS):
        return bool(part < 0)
    # takes some hundred times as long
    return isinstance(part, np.ndarray) and bool(np.any(part < 0))


class Checked:
    """A value whose elements are read and set by checked indices."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getitem__(self, index: Any) -> Any:
        return self._value[checked(self._value, index)]

    def __setitem__(self, index: Any, element: Any) -> None:
        self._value[checked(self._value, index)] = element


# The names of both in the modules of kernels, which no other code can have.
_NAMES = {"<checked>": checked, "<Checked>": Checked}


class _CheckSubscripts(ast.NodeTransformer):
    """Changes what is read or set by an index, in the same place of the source."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Change one index, and those in it."""
        self.generic_visit(node)
        if _is_name(node.value):
            again = copy.deepcopy(node.value)
            node.slice = _call("<checked>", [again, node.slice], node.slice)
        else:
            node.value = _call("<Checked>", [node.value], node.value)
        return node


def _is_name(node: ast.expr) -> bool:
    """Return whether an expression is a name, or an attribute of one, so that it can be repeated."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_name(node.value))


def _call(name: str, arguments: list[ast.expr], place: ast.expr) -> ast.expr:
    """Return a call that replaces another expression."""
    call = ast.Call(ast.Name(name, ast.Load()), arguments, [])
    return ast.fix_missing_locations(ast.copy_location(call, place))


_is_checked = True


def leave_indices_unchecked() -> None:
    """Let this process interpret the kernels that it loads from now on as they are, which is faster."""
    global _is_checked
    _is_checked = False


def with_checked_indices(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function with its indices checked; one that cannot be found in a file remains as it is."""
    if not _is_checked:
        return function

    own = cast(FunctionType, function)
    code = _changed_code(own.__code__.co_filename).get((own.__qualname__, own.__code__.co_firstlineno))
    if code is None:
        return function

    own.__globals__.update(_NAMES)
    cells = dict(zip(own.__code__.co_freevars, own.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    changed = FunctionType(code, own.__globals__, own.__name__, own.__defaults__, closure)
    changed.__kwdefaults__ = own.__kwdefaults__
    return functools.update_wrapper(changed, own)


@functools.cache
def _changed_code(file: str) -> dict[tuple[str, int], CodeType]:
    """Return the changed code of the functions of a file, by qualified name and first line.

    Those that have both in common, such as two lambdas in a line, are left out.
    """
    tree = _CheckSubscripts().visit(ast.parse("".join(linecache.getlines(file)), file))
    module = compile(tree, file, "exec", dont_inherit=True)
    found: dict[tuple[str, int], list[CodeType]] = {}
    for code in _functions(module):
        found.setdefault((code.co_qualname, code.co_firstlineno), []).append(code)
    return {key: same[0] for key, same in found.items() if len(same) == 1}


def _functions(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all functions within some code."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _functions(constant)
