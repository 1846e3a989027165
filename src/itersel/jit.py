"""How kernels are compiled: every use of numba goes through this module, which sets all flags.

fastmath stays off: results must not depend on how the compiler reorders sums. Kernels release the GIL.

A kernel is compiled in two ways, each when it is first needed. Called from Python, it becomes machine code
with everything that it calls, and code that takes the arguments out of Python's objects. Called from another
kernel, it stays intermediate code, which LLVM optimises and turns into machine code as a part of its callers.
numba would do all of it for every kernel: twice the work of LLVM, and a fifth more for arguments that no
Python code ever passes.
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


class _Library(JITCodeLibrary):
    """Intermediate code of a kernel, for its callers to optimise; only simplified, so that it is short."""

    def _optimize_final_module(self) -> None:
        """Leave it to the callers."""

    def _finalize_final_module(self) -> None:
        """Make no machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True


class _Compiler(compiler.Compiler):
    """Compiles a kernel to intermediate code."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *further: Any) -> None:
        *_, flags, _ = further
        flags.no_compile = True
        super().__init__(typingctx, targetctx, _Library(targetctx.codegen(), "kernel"), *further)


class _InnerKernel(CPUDispatcher):
    """A kernel as other kernels call it."""

    def __init__(self, function: Callable[..., object], flags: dict[str, Any]) -> None:
        flags = {**flags, "no_cpython_wrapper": True}
        super().__init__(function, targetoptions=flags, pipeline_class=_Compiler)
        self._cache = _cache(function, "inner", _reduce_inner, _rebuild_inner)

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
        self._cache = _cache(function, "outer", compiler.CompileResult._reduce, _rebuild_outer)

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
    """Return the cache of a kernel; kernels outside the package have none, as no folder depends on them."""
    is_known = function.__module__.split(".")[0] == PACKAGE.name
    return KernelCache(function, use, reduce, rebuild) if is_known else NullCache()


def _rebuild_outer(target: Any, reduced: tuple[Any, ...]) -> Any:
    """Return the machine code of a kernel that was read."""
    return compiler.CompileResult._rebuild(target, *reduced)


def _reduce_inner(compiled: Any) -> tuple[Any, ...]:
    """Return what can be pickled of the intermediate code of a kernel."""
    compiled.fndesc.typemap = compiled.fndesc.calltypes = None  # may not be pickled
    code = compiled.library._final_module.as_bitcode()
    return code, compiled.fndesc, compiled.environment, compiled.signature, compiled.reload_init


def _rebuild_inner(target: Any, reduced: tuple[Any, ...]) -> Any:
    """Return the intermediate code of a kernel that was read."""
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
