"""How kernels are compiled: every use of numba goes through this module, which sets the flags.

fastmath stays off: results must not depend on how the compiler reorders sums. Kernels release the GIL.

A kernel is compiled to LLVM's intermediate code, once for each combination of argument types. If another
kernel calls it, LLVM optimises this code and turns it into machine code as a part of the caller. If Python
calls it, it becomes machine code itself, with everything that it calls and a wrapper that converts the
arguments. numba alone would do all of this for every kernel, and for each of its own functions, such as
``np.empty``: the second half of the module is its compiler, without the steps that repeat others.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, NoReturn, TypeVar, cast

from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, compiler, sigutils, types
from numba.core import config as numba_config
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

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


class _NoEngine:
    """Takes the place of the engine that runs machine code, where numba sets the constants of a function."""

    @staticmethod
    def set_env(name: str, environment: object) -> None:
        """Do nothing: constants are set in the machine code of the callers."""


class Library(JITCodeLibrary):
    """Intermediate code of a function, only simplified; its callers are optimised with it."""

    @property
    def codegen(self) -> Any:
        """Where numba sets the constants of its own functions."""
        return _NoEngine

    def finalize(self) -> None:
        """Add what the function calls; make no machine code, and leave optimisation to the callers."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self.complete()

    def complete(self) -> None:
        """Accept no more code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        return 0


class KernelCompiler(compiler.Compiler):
    """Compiles a kernel to intermediate code."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *further: Any) -> None:
        *_, flags, _ = further
        flags.no_compile = True
        super().__init__(typingctx, targetctx, Library(targetctx.codegen(), "kernel"), *further)


_left_out = False


def leave_out_linear_algebra() -> None:
    """Keep numba from importing scipy's linear algebra for the first kernel, which takes a tenth of a second.

    numba imports it to find out whether `np.dot` can be compiled. Call this only in processes of the command
    line: no kernel uses it, but other programs may compile functions that need it.
    """
    global _left_out
    _left_out = True


def _import_without_linear_algebra() -> None:
    linalg: Any = importlib.import_module("numba.np.linalg")
    check = getattr(linalg, "ensure_blas", None)
    if check is None:  # another version of numba
        return
    linalg.ensure_blas = _refuse
    try:
        # calls the check when it is imported
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = check


def _refuse() -> NoReturn:
    raise ImportError("kernels use no linear algebra")


@contextmanager
def intermediate_code(target: Any) -> Iterator[None]:
    """Let numba's own functions, too, stay intermediate code within the block; negative indices are as in C.

    Kernels never count from the end of an array. Without the code for that, decoding takes a tenth less time.
    """
    # not at the beginning of the module: it takes 50 ms, and most processes compile nothing
    from numba.np import arrayobj

    if _left_out:
        _import_without_linear_algebra()
    target.refresh()  # makes the runtime library of numba, which must be machine code
    codegen = target.codegen()
    before = codegen._library_class, arrayobj.fix_integer_index
    codegen._library_class, arrayobj.fix_integer_index = Library, place_of
    try:
        yield
    finally:
        codegen._library_class, arrayobj.fix_integer_index = before


def place_of(context: Any, builder: Any, index_type: Any, index: Any, size: object) -> Any:
    """Return an index as a place in an array. numba's own function counts negative ones from the end."""
    return context.cast(builder, index, index_type, types.intp if index_type.signed else types.uintp)


class CallTemplate:
    """What numba asks for the signature of a call; numba's own would search all signatures of a kernel."""

    def __init__(self, signature: Any) -> None:
        self._signature = signature

    def __call__(self, context: object) -> CallTemplate:
        """Return itself, as it does not depend on the context."""
        return self

    def apply(self, args: object, kws: object) -> Any:
        """Return the signature."""
        return self._signature


SHORT_INTEGERS = {types.int8, types.int16, types.int32}


def widened(argument: Any) -> Any:
    """Return the type that a kernel takes for an argument: the same for constants and short integers."""
    found = types.unliteral(argument)
    return types.int64 if found in SHORT_INTEGERS else found


class Wrapping(_FunctionCompiler):  # type: ignore[misc]
    """Turns the intermediate code of a kernel, from a function, into machine code that Python can call."""

    def __init__(self, compile_inner: Callable[[tuple[Any, ...]], Any], *settings: Any) -> None:
        super().__init__(*settings)
        self._compile_inner = compile_inner

    def _compile_core(self, args: tuple[Any, ...], return_type: Any) -> Any:
        del return_type  # follows from the arguments
        inner = self._compile_inner(args)
        flags = compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        target = compiler._make_subtarget(self.targetdescr.target_context, flags)
        # The wrapper adds constants. Those of the intermediate code are in the files of all callers, too, and
        # are taken from the first that is read.
        fndesc = copy(inner.fndesc)
        fndesc.env_name += "_python"
        environment = Environment.from_fndesc(fndesc)
        library = JITCodeLibrary(target.codegen(), fndesc.qualname)
        library.enable_object_caching()
        library.add_linking_library(inner.library)
        target.create_cpython_wrapper(library, fndesc, environment, None, release_gil=flags.release_gil)
        return compiler.compile_result(
            typing_context=self.targetdescr.typing_context,
            target_context=target,
            entry_point=target.get_executable(library, fndesc, environment),
            signature=inner.signature,
            objectmode=False,
            lifted=(),
            fndesc=fndesc,
            library=library,
            environment=environment,
            reload_init=inner.reload_init,
        )


def reduce_inner(compiled: Any) -> tuple[Any, ...]:
    """Return what can be pickled of the intermediate code of a kernel."""
    compiled.fndesc.typemap = compiled.fndesc.calltypes = None  # may not be pickled
    code = compiled.library._final_module.as_bitcode()
    return code, compiled.fndesc, compiled.environment, compiled.signature, compiled.reload_init


def rebuild_inner(
    target: Any, code: bytes, fndesc: Any, environment: Any, signature: Any, reload_init: Any
) -> Any:
    """Return the intermediate code of a kernel that was read."""
    for initialize in reload_init:
        initialize()
    library = Library(target.codegen(), "kernel")
    library._final_module = llvm.parse_bitcode(code)
    library.complete()
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
