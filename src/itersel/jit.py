"""How kernels are compiled: every use of numba goes through this module, which sets all flags.

fastmath stays off: results must not depend on how the compiler reorders sums. Kernels release the GIL.

A kernel is compiled in two ways, each on first use. When called from Python, it becomes machine code together
with everything that it calls and a wrapper that unpacks Python arguments. When called from another kernel, it
stays intermediate code, which LLVM optimises and compiles as part of its callers. numba would do both for
every kernel: twice the work for LLVM, and a fifth more for wrappers that Python never calls.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import binding as llvm
from numba.core import compiler, sigutils, types
from numba.core import config as numba_config
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import CPUDispatcher

from itersel.kernel_cache import PACKAGE, KernelCache, Rebuild, Reduce

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
    """Compile a function that neither allocates, slices nor returns arrays, without reference counting.

    In every function that is not inlined, numba counts references to each array argument with atomic
    instructions. Small functions of many arrays spend most of their time on this: a memoised composition of
    language-model states takes 50 ns without it, and 150 to 200 ns with it.
    """
    return _compiled(function, _nrt=False)


def inline_kernel(function: Function) -> Function:
    """Compile a leaf kernel that is inlined into its callers, for use in the innermost loops.

    A call passes about eight machine words per array argument, hundreds for the tables of the decoder;
    inlining avoids that and reduces search time by 40 %. Call such kernels from few places, since each call
    repeats the code.
    """
    return _compiled(function, _nrt=False, forceinline=True)


def _compiled(function: Function, **flags: bool) -> Function:
    if numba_config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return cast(Function, _Kernel(function, {**FLAGS, **flags}))


class _Library(JITCodeLibrary):
    """Intermediate code of a kernel, simplified to keep it short, and optimised as part of its callers."""

    def _optimize_final_module(self) -> None:
        """Leave optimisation to the callers."""

    def _finalize_final_module(self) -> None:
        """Generate no machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True


class _Compiler(compiler.Compiler):
    """Compiles a kernel to intermediate code."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *further: Any) -> None:
        *_, flags, _ = further
        flags.no_compile = True
        super().__init__(typingctx, targetctx, _Library(targetctx.codegen(), "kernel"), *further)


class _InnerKernel(CPUDispatcher):
    """A kernel to be called by other kernels."""

    def __init__(self, function: Callable[..., object], flags: dict[str, Any]) -> None:
        flags = {**flags, "no_cpython_wrapper": True}
        super().__init__(function, targetoptions=flags, pipeline_class=_Compiler)
        self._cache = _cache(function, "inner", _reduce_inner, _rebuild_inner)

    def add_overload(self, compiled: Any) -> None:
        """Register how kernels call this one; there is no code that Python could call."""
        self.overloads[tuple(compiled.signature.args)] = compiled
        self.targetctx.insert_user_function(compiled.fndesc, compiled.fndesc, [compiled.library])

    def get_overload(self, signature: Any) -> Any:
        """Return the identifier of the kernel compiled for these types."""
        arguments, _ = sigutils.normalize_signature(signature)
        compiled: Any = self.overloads[tuple(arguments)]
        return compiled.fndesc


class _Kernel(CPUDispatcher):
    """A kernel to be called from Python."""

    def __init__(self, function: Callable[..., object], flags: dict[str, Any]) -> None:
        self._inner = _InnerKernel(function, flags)
        super().__init__(function, targetoptions=flags)
        self._cache = _cache(function, "outer", compiler.CompileResult._reduce, _rebuild_outer)

    def compile(self, signature: Any) -> Any:
        """Compile the kernel for some types, with garbage collection off, which takes a tenth of the time."""
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile(signature)
        finally:
            if was_enabled:
                gc.enable()

    def add_overload(self, compiled: Any) -> None:
        """Make machine code callable, and set the constants of all kernels in it."""
        super().add_overload(compiled)
        for environment in compiled._find_referenced_environments():
            compiled.library.codegen.set_env(environment.env_name, environment)

    @property
    def _numba_type_(self) -> types.Dispatcher:
        return self._inner._numba_type_


def _cache(function: Callable[..., object], use: str, reduce: Reduce, rebuild: Rebuild) -> Any:
    """Return the cache of a kernel; the folder's name says nothing about kernels outside the package."""
    is_known = function.__module__.split(".")[0] == PACKAGE.name
    return KernelCache(function, use, reduce, rebuild) if is_known else NullCache()


def _rebuild_outer(target: Any, reduced: tuple[Any, ...]) -> Any:
    """Rebuild the machine code of a kernel from the cache."""
    return compiler.CompileResult._rebuild(target, *reduced)


def _reduce_inner(compiled: Any) -> tuple[Any, ...]:
    """Reduce the intermediate code of a kernel to what can be pickled."""
    compiled.fndesc.typemap = compiled.fndesc.calltypes = None  # may not be pickled
    code = compiled.library._final_module.as_bitcode()
    return code, compiled.fndesc, compiled.environment, compiled.signature, compiled.reload_init


def _rebuild_inner(target: Any, reduced: tuple[Any, ...]) -> Any:
    """Rebuild the intermediate code of a kernel from the cache."""
    code, fndesc, environment, signature, reload_init = reduced
    for initialize in reload_init:
        initialize()
    library = _Library(target.codegen(), "kernel")
    library._final_module = llvm.parse_bitcode(code)
    library._finalize_final_module()
    return compiler.compile_result(
        typing_context=target.typing_context,
        target_context=target,
        library=library,
        environment=environment,
        fndesc=fndesc,
        signature=signature,
        objectmode=False,
        lifted=(),
        reload_init=reload_init,
    )
