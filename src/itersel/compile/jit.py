"""How kernels are compiled: all of them go through this package, which sets numba's flags.

fastmath stays off: results must not depend on how the compiler reorders sums. Kernels release the GIL.

There are three ways, with the same results. Kernels are compiled by `itersel.compile.compiler`, which relies
on numba's internals and is used only with tested versions of numba; or by plain numba
(`itersel.compile.plain`); or they are interpreted, for tests (`itersel.compile.interpreted`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from itersel.compile.numba_versions import is_plain, numba_config

Function = TypeVar("Function", bound=Callable[..., object])

FLAGS: dict[str, Any] = {"nogil": True, "fastmath": False, "error_model": "numpy"}


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers to machine code, cached on disk."""
    return _compiled(function)


def leaf_kernel(function: Function) -> Function:
    """Compile a function that neither makes, slices nor returns arrays: without reference counting.

    numba counts references to every array of an argument, with atomic instructions, in every function
    that is not inlined. Small functions of many arrays spend most of their time on that: a composition of
    language-model states that is in the table takes 50 ns without, 150 to 200 ns with it.
    """
    return _compiled(function, is_leaf=True)


def inline_kernel(function: Function) -> Function:
    """Compile a leaf kernel into every place that calls it: for what is called in the innermost loops.

    A call hands over some eight machine words of every array in the arguments, hundreds for the tables of the
    decoder; inlined it costs nothing. The search takes 0.6 of the time for it. Call it from few places: the
    code is repeated in each.
    """
    return _compiled(function, is_leaf=True, forceinline=True)


def _compiled(function: Function, is_leaf: bool = False, **flags: bool) -> Function:
    made: Callable[..., object]
    # each way is imported only if it is used: untested versions of numba may lack what the others need
    if numba_config.DISABLE_JIT:
        from itersel.compile.interpreted import with_checked_indices

        made = with_checked_indices(function)
    elif is_plain():
        from itersel.compile.plain import plain_kernel

        made = plain_kernel(function, {**FLAGS, **flags})
    else:
        from itersel.compile.dispatchers import Kernel

        made = Kernel(function, {**FLAGS, **flags, **({"_nrt": False} if is_leaf else {})})
    return cast(Function, made)


def _not_prefetched(array: object, place: int) -> None:
    """Do nothing: without numba's internals, nothing can be loaded in advance."""


def _make_prefetch() -> Any:
    if numba_config.DISABLE_JIT:
        return _not_prefetched
    if is_plain():
        return numba.njit(_not_prefetched)
    from itersel.compile.dispatchers import prefetch

    return prefetch


# prefetch(array, place): begin to load what is at a place of an array, or at the beginning of a row, into the
# processor's caches. Results cannot depend on it, but the place must exist.
prefetch = _make_prefetch()
