"""The compiler of kernels: numba's, without the steps that do nothing for kernels or that repeat others.

It compiles a kernel to LLVM's intermediate code, once for each combination of types. This code contains all
that the kernel calls: other kernels, and numba's own functions such as ``np.empty``. Only kernels that Python
calls become machine code, with a wrapper that converts arguments and results.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, NoReturn

from llvmlite import binding as llvm
from numba.core import compiler, ir, transforms, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.environment import Environment
from numba.core.ir_utils import build_definitions
from numba.core.ssa import reconstruct_ssa
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonRewrites,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Canonicalize(IRProcessing):
    """Rearrange loops as numba needs them, without lifetimes of variables, which later passes find anew."""

    _name = "itersel_canonicalize"

    def run_pass(self, state: Any) -> bool:
        state.func_ir.blocks = transforms.canonicalize_cfg(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _PruneForNone(DeadBranchPrune):
    """Remove branches that are never taken because an argument is None."""

    _name = "itersel_prune_for_none"

    def run_pass(self, state: Any) -> bool:
        has_none = any(isinstance(argument, types.NoneType) for argument in state.args)
        return has_none and bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _AssignOnce(ReconstructSSA):
    """Make each variable be assigned once, without the lifetimes of variables."""

    _name = "itersel_assign_once"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _RewriteArrays(NopythonRewrites):
    """Turn arithmetic on whole arrays into loops, if there is any."""

    _name = "itersel_rewrite_arrays"

    def run_pass(self, state: Any) -> bool:
        has_any = any(
            isinstance(node, ir.Expr)
            and node.op in ("unary", "binop")
            and isinstance(call.return_type, types.Array)
            for node, call in state.calltypes.items()
        )
        return has_any and bool(super().run_pass(state))


# Kernels need no others: those are for closures, generators, context managers, exceptions, inlining by numba,
# parallel loops and annotations.
PASSES = (
    TranslateByteCode,
    FixupArgs,
    _Canonicalize,
    _PruneForNone,
    GenericRewrites,
    _AssignOnce,
    NopythonTypeInference,
    PreLowerStripPhis,
    _RewriteArrays,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
)


class Typing:
    """numba's typing context, but it remembers the types of calls of numba's functions.

    Type inference asks for each call many times, and numba then tries all definitions of the function.
    """

    def __init__(self, context: Any, found: dict[Any, Any]) -> None:
        # signatures and implementations, by function and types of the arguments
        self._context, self._found = context, found

    def __getattr__(self, name: str) -> Any:
        """Return whatever else is in the context."""
        return getattr(self._context, name)

    def resolve_function_type(self, func: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """Return the signature of a call."""
        function = func if isinstance(func, types.Type) else self._context._lookup_global(func)
        if kws or not isinstance(function, types.Function):
            # kernels remember their types themselves
            return self._context.resolve_function_type(func, args, kws)
        if func in ARITHMETIC and all(isinstance(argument, types.Number) for argument in args):
            args = tuple(map(types.unliteral, args))
        key = (function, *(argument._code for argument in args))
        # where numba looks for the code, by the types that the arguments are converted to
        codes = function._impl_keys  # type: ignore[attr-defined]
        if key in self._found:
            signature, codes[signature.args] = self._found[key]
            return signature
        signature = self._context.resolve_function_type(function, args, kws)
        if signature is not None and signature.return_type.is_precise():
            self._found[key] = signature, codes[signature.args]
        return signature

    def resolve_getitem(self, obj: Any, index: Any) -> Any:
        """Return the signature of obj[index]."""
        return self.resolve_function_type(operator.getitem, (obj, index), {})

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        """Return the signature of target[index] = value."""
        return self.resolve_function_type(operator.setitem, (target, index, value), {})


# Operators whose result has the same type for a constant as for any other number of its type.
ARITHMETIC = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
    operator.neg, operator.invert,
}  # fmt: skip
# What `Typing` has found, for kernels without and with reference counting.
_FOUND: dict[bool, dict[Any, Any]] = {False: {}, True: {}}


class _NoEngine:
    """Takes the place of the engine that runs machine code, where numba sets the constants of a function."""

    @staticmethod
    def set_env(name: str, environment: object) -> None:
        """Do nothing: constants are set in the machine code of the callers."""


class Library(JITCodeLibrary):
    """Intermediate code of a function, for its callers to optimise; only simplified, so that it is short."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Simplify what has been added (numba makes a new pass manager for each function)."""
        ll_module.data_layout = self._codegen._data_layout
        manager, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                manager.run(function, builder)

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


class CallableLibrary(JITCodeLibrary):
    """Machine code of a kernel that Python calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave the wrapper to the optimisation of the whole."""
        ll_module.data_layout = self._codegen._data_layout


class KernelCompiler(compiler.CompilerBase):
    """Compiles a kernel to intermediate code."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *further: Any) -> None:
        *_, flags, _ = further
        flags.no_compile = True
        typingctx = Typing(typingctx, _FOUND[flags.nrt])
        super().__init__(typingctx, targetctx, Library(targetctx.codegen(), "kernel"), *further)

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes."""
        manager = PassManager("kernel")
        for one in PASSES:
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]


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
        library = CallableLibrary(target.codegen(), fndesc.qualname)
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
