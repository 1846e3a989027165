"""The compiler of kernels: numba's, without the steps that repeat others.

It compiles a kernel to LLVM's intermediate code, once for each combination of types. This code contains all
that the kernel calls: other kernels, and numba's own functions such as ``np.empty``. Only kernels that Python
calls become machine code, with a wrapper that converts arguments and results.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from typing import Any, NoReturn

from llvmlite import binding as llvm
from numba.core import compiler, ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.environment import Environment
from numba.core.errors import ConstantInferenceError
from numba.core.typed_passes import NopythonTypeInference

from itersel.errors import InputError


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


class _KernelLibrary(Library):
    """Intermediate code of a kernel, in which negative indices are as in C; see `intermediate_code`."""

    def create_ir_module(self, name: str) -> Any:
        """Return an empty module for the code."""
        module = super().create_ir_module(name)
        module.is_kernel = True
        return module


class KernelCompiler(compiler.Compiler):
    """Compiles a kernel to intermediate code."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *further: Any) -> None:
        *_, flags, _ = further
        flags.no_compile = True
        super().__init__(typingctx, targetctx, _KernelLibrary(targetctx.codegen(), "kernel"), *further)

    def define_pipelines(self) -> list[Any]:
        """Return numba's passes, and the one that refuses negative indices."""
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.add_pass_after(_NoNegativeIndices, NopythonTypeInference)
            pipeline.finalize()
        return pipelines


@register_pass(mutates_CFG=False, analysis_only=True)
class _NoNegativeIndices(AnalysisPass):
    """Refuses constants that count from the end of an array; slices and tuples may have them."""

    _name = "no_negative_indices"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Raise an `InputError` for the first negative index of an array."""
        for statement, array, index in _subscripts(state.func_ir):
            kind = state.typemap[array.name]
            kind = kind.type if isinstance(kind, types.Optional) else kind
            if not isinstance(kind, types.Buffer):  # type: ignore[attr-defined]
                continue
            for number in _constants(state.func_ir, index):
                if isinstance(number, int) and number < 0:
                    problem = (
                        f"kernel '{state.func_id.func_qualname}' has the index {number}, but kernels cannot"
                        " count from the end of an array; subtract from its size instead"
                    )
                    raise InputError(problem, statement.loc.filename, statement.loc.line)

        return False


def _subscripts(code: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the statements that read or set an element or a part, with the array and the index."""
    for block in code.blocks.values():
        for statement in block.body:
            value = getattr(statement, "value", None)
            if isinstance(statement, ir.SetItem | ir.StaticSetItem):
                yield statement, statement.target, statement.index
            elif isinstance(value, ir.Expr) and value.op in ("getitem", "static_getitem"):
                yield statement, value.value, value.index


def _constants(code: Any, index: Any) -> Iterator[Any]:
    """Yield the parts of an index that are known: constants of the function or its module."""
    if isinstance(index, tuple):
        for part in index:
            yield from _constants(code, part)
    elif not isinstance(index, ir.Var):
        yield index
    else:
        with suppress(KeyError):  # set in several places
            definition = code.get_definition(index)
            if isinstance(definition, ir.Expr) and definition.op == "build_tuple":
                yield from _constants(code, tuple(definition.items))
            else:
                with suppress(ConstantInferenceError):
                    constant = code.infer_constant(index)
                    yield from constant if isinstance(constant, tuple) else (constant,)


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
    """Let numba's functions, too, stay intermediate code within the block; kernels have indices as in C.

    Kernels never count from the end of an array. Without the code for that, decoding takes a tenth less time.
    numba's functions, such as ``np.linspace``, do count from the end.
    """
    # not at the beginning of the module: it takes 50 ms, and most processes compile nothing
    from numba.np import arrayobj

    if _left_out:
        _import_without_linear_algebra()
    target.refresh()  # makes the runtime library of numba, which must be machine code
    codegen = target.codegen()
    before = codegen._library_class, arrayobj.fix_integer_index

    def place_of(context: Any, builder: Any, index_type: Any, index: Any, size: object) -> Any:
        """Return an index as a place in an array."""
        if not getattr(builder.module, "is_kernel", False):
            return before[1](context, builder, index_type, index, size)
        return context.cast(builder, index, index_type, types.intp if index_type.signed else types.uintp)

    codegen._library_class = Library
    arrayobj.fix_integer_index = place_of
    try:
        yield
    finally:
        codegen._library_class, arrayobj.fix_integer_index = before


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
