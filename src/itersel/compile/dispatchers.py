"""Kernels as Python and other kernels call them, compiled by `itersel.compile.compiler`.

A kernel is compiled to LLVM's intermediate code, once for each combination of argument types. If another
kernel calls it, LLVM optimises this code and turns it into machine code as a part of the caller. If Python
calls it, it becomes machine code itself, with everything that it calls and a wrapper that converts the
arguments. numba alone would do all of this for every kernel, and for each of its own functions.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, compiler, sigutils, types
from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

from itersel.compile.cache_folder import is_kept
from itersel.compile.compiler import (
    CallTemplate,
    KernelCompiler,
    Wrapping,
    intermediate_code,
    rebuild_inner,
    reduce_inner,
    widened,
)
from itersel.compile.kernel_cache import KernelCache, Rebuild, Reduce
from itersel.errors import InputError


@intrinsic
def prefetch(typing: object, array: Any, place: object) -> Any:
    """Return the signature of `itersel.compile.jit.prefetch`, and the function that generates its code."""

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


class Kernel(CPUDispatcher):
    """A kernel as Python calls it."""

    def __init__(self, function: Callable[..., object], flags: dict[str, Any]) -> None:
        flags = {"nopython": True, "no_cfunc_wrapper": True, **flags}
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
        except InputError as error:
            # numba puts the name of the step of each kernel before the message
            raise InputError(str(error).splitlines()[-1]) from None
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
    """Return the cache of a kernel; only kernels of the package and of plugins have one."""
    return KernelCache(function, use, reduce, rebuild) if is_kept(function) else NullCache()
