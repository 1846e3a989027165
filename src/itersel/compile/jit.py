"""How kernels are compiled: all of them go through this module, which sets numba's flags.

fastmath stays off: results must not depend on how the compiler reorders sums. Kernels release the GIL.

A kernel is compiled to LLVM's intermediate code, once for each combination of argument types. If another
kernel calls it, LLVM optimises this code and turns it into machine code as a part of the caller. If Python
calls it, it becomes machine code itself, with everything that it calls and a wrapper that converts the
arguments. numba alone would do all of this for every kernel, and for each of its own functions. See
`itersel.compile.compiler`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba.core import cgutils, compiler, sigutils, types
from numba.core import config as numba_config
from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

from itersel.compile.compiler import (
    CallTemplate,
    KernelCompiler,
    Wrapping,
    intermediate_code,
    rebuild_inner,
    reduce_inner,
    widened,
)
from itersel.compile.kernel_cache import PACKAGE, KernelCache, Rebuild, Reduce
from itersel.plugins import code_of

Function = TypeVar("Function", bound=Callable[..., object])

FLAGS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "fastmath": False,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers to machine code, cached on disk."""
    return _compiled(function)


def leaf_kernel(function: Function) -> Function:
    """Compile a function that neither makes, slices nor returns arrays: without reference counting.

    numba counts references to every array of an argument, with atomic instructions, in every function
    that is not inlined. Small functions of many arrays spend most of their time on that: a composition of
    language-model states that is in the table takes 50 ns without, 150 to 200 ns with it.
    """
    return _compiled(function, _nrt=False)


def inline_kernel(function: Function) -> Function:
    """Compile a leaf kernel into every place that calls it: for what is called in the innermost loops.

    A call hands over some eight machine words of every array in the arguments, hundreds for the tables of the
    decoder; inlined it costs nothing. The search takes 0.6 of the time for it. Call it from few places: the
    code is repeated in each.
    """
    return _compiled(function, _nrt=False, forceinline=True)


def _compiled(function: Function, **flags: bool) -> Function:
    if numba_config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return cast(Function, _Kernel(function, {**FLAGS, **flags}))


def _prefetch(typing: object, array: Any, place: object) -> Any:
    """Return the signature of `prefetch`, and the function that generates its code."""

    def generate(context: Any, builder: Any, _: object, arguments: Any) -> Any:
        view = context.make_array(array)(context, builder, arguments[0])
        further = [context.get_constant(types.intp, 0)] * (array.ndim - 1)
        pointer = cgutils.get_item_pointer(context, builder, array, view, [arguments[1], *further])
        number = ir.IntType(32)
        signature = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0")
        # for reading (0), into all levels of the cache (3), data (1)
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _not_prefetched(array: object, place: int) -> None:
    """Do nothing, in interpreted kernels."""


# prefetch(array, place): begin to load what is at a place of an array, or at the beginning of a row, into the
# processor's caches. Results cannot depend on it, but the place must exist.
prefetch: Any = _not_prefetched if numba_config.DISABLE_JIT else intrinsic(_prefetch)  # type: ignore[attr-defined]


class _InnerKernel(CPUDispatcher):
    """A kernel as other kernels call it."""

    def __init__(self, function: Callable[..., object], flags: dict[str, Any]) -> None:
        flags = {**flags, "no_cpython_wrapper": True}
        self._templates: dict[tuple[int, ...], CallTemplate] = {}
        super().__init__(function, targetoptions=flags, pipeline_class=KernelCompiler)
        self._cache = _cache(function, "inner", reduce_inner, rebuild_inner)

    def get_call_template(self, args: Any, kws: Any) -> tuple[Any, ...]:
        """Return what numba infers the types of a call from, with the folded arguments.

        numba asks for each call many times.
        """
        pysig, folded = self.fold_argument_types(args, kws)
        key = tuple(argument._code for argument in folded)
        if key not in self._templates:
            compiled = self.compiled(tuple(map(widened, folded)))
            self._templates[key] = CallTemplate(compiled.signature)
        return self._templates[key], pysig, folded, {}

    def compiled(self, args: tuple[Any, ...]) -> Any:
        """Return the intermediate code for arguments of some types."""
        if args not in self.overloads:
            with intermediate_code(self.targetctx):
                self.compile(args)
        return self.overloads[args]

    def add_overload(self, compiled: Any) -> None:
        """Tell numba how kernels call this one; there is no code that Python could call."""
        self.overloads[tuple(compiled.signature.args)] = compiled
        self.targetctx.insert_user_function(compiled.fndesc, compiled.fndesc, [compiled.library])

    def get_overload(self, signature: Any) -> Any:
        """Return the descriptor of the kernel compiled for these types."""
        arguments, _ = sigutils.normalize_signature(signature)
        compiled: Any = self.overloads[tuple(arguments)]
        return compiled.fndesc


class _Kernel(CPUDispatcher):
    """A kernel as Python calls it."""

    def __init__(self, function: Callable[..., object], flags: dict[str, Any]) -> None:
        self._inner = _InnerKernel(function, flags)
        super().__init__(function, targetoptions=flags)
        self._compiler = Wrapping(self._inner.compiled, function, self.targetdescr, flags, {}, None)
        result = compiler.CompileResult
        self._cache = _cache(function, "outer", result._reduce, result._rebuild)

    def compile(self, signature: Any) -> Any:
        """Compile the kernel for some types, without garbage collection, a tenth of the time."""
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile(signature)
        finally:
            if was_enabled:
                gc.enable()

    def add_overload(self, compiled: Any) -> None:
        """Make machine code callable, and give the constants of all kernels in it their values."""
        super().add_overload(compiled)
        for environment in compiled._find_referenced_environments():
            compiled.library.codegen.set_env(environment.env_name, environment)

    @property
    def _numba_type_(self) -> types.Dispatcher:
        return self._inner._numba_type_


def _cache(function: Callable[..., object], use: str, reduce: Reduce, rebuild: Rebuild) -> Any:
    """Return the cache of a kernel; only those of the package and of plugins have one."""
    module = function.__module__
    is_known = module.split(".")[0] == PACKAGE.name or code_of(module) is not None
    return KernelCache(function, use, reduce, rebuild) if is_known else NullCache()
