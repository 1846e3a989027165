"""Digests of the source code that each command line step uses, so that steps rerun after an edit.

Imports, including those inside functions, are followed through the whole package without running anything. In
the step's own module, only the function that the step runs and the functions it calls there are followed:
``itersel lm compile`` does not depend on what ``itersel lm estimate`` imports. A step also depends on the
built-in learners or tuners, and on the plugins that the config uses, if it has the module that calls them.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from itersel.code.plugins import imported_code

PACKAGE = Path(__file__).parents[1]
# What can be extended, by group of entry points: the module that uses it, and the package of what is built
# in, whose modules are named only in text.
EXTENDED: dict[str, tuple[str, str | None]] = {
    "itersel.learners": ("itersel.learn.train", "itersel.learn.learners"),
    "itersel.tuners": ("itersel.tune.problem", "itersel.tune.tuners"),
    "itersel.templates": ("itersel.grammar.sparse", None),
}

# Fields of a statement that contain other statements.
BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")

# These affect messages, not results.
WITHOUT_INFLUENCE = frozenset(
    {
        "itersel",
        "itersel.errors",
        "itersel.run.progress",
        "itersel.cli.argument_types",
        "itersel.cli.arguments",
        "itersel.cli.folds",
        "itersel.cli.settings",
        "itersel.cli.shared_options",
        "itersel.code.edits",
        # what they declare reaches the steps as settings or options
        "itersel.config.allowed_values",
        "itersel.config.command_line",
        "itersel.config.conditions",
        "itersel.config.data",
        "itersel.config.division",
        "itersel.config.evaluation",
        "itersel.config.extraction",
        "itersel.config.learning_steps",
        "itersel.config.mbr",
        "itersel.config.messages",
        "itersel.config.names",
        "itersel.config.report_steps",
        "itersel.config.search",
        "itersel.config.section_checks",
        "itersel.config.settings",
        "itersel.config.tasks",
        "itersel.config.text_steps",
        "itersel.config.values",
        "itersel.corpus.settings",
        "itersel.keys",
    }
)


@functools.cache
def step_digest(command: str) -> str:
    """Return a short digest of all modules that a command uses, such as ``train`` or ``grammar extract``."""
    modules = used_modules(command)
    digest = _digest((module, _file(module)) for module in modules)
    called = [group for group, (caller, _) in EXTENDED.items() if caller in modules]
    return "-".join([digest, *(code.digest for group in called for code in imported_code(group))])


@functools.cache
def assets_digest() -> str:
    """Return a short digest of the report page's template, styles and scripts, which nothing imports."""
    return _digest((path.name, path) for path in sorted((PACKAGE / "report/page/assets").iterdir()))


def _digest(files: Iterable[tuple[str, Path]]) -> str:
    digest = hashlib.sha256()
    for name, path in files:
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def used_modules(command: str) -> list[str]:
    """Return the names of all modules that a command uses, sorted.

    The command starts at a function of the module in `itersel.cli` that a table of `itersel.cli.main` names:
    ``train`` at `_train`, ``grammar extract`` at `_extract`, ``step mix`` at `_mix`. Raises a LookupError if
    there is no such function.
    """
    words = command.split()
    function = f"_{words[-1].replace('-', '_')}"
    is_step = words[0] == "step"
    module, _ = _table("STEPS")[words[1]] if is_step else _table("FOR_PEOPLE", "OF_WORKFLOW")[words[0]]
    root = f"itersel.cli.{module}"
    found = {root}
    waiting = [*_imported(_reached(_tree(root), function))]
    while waiting:
        module = waiting.pop()
        if module not in found and module not in WITHOUT_INFLUENCE:
            found.add(module)
            waiting += [*_imports_of(module), *_built_in(module)]
    return sorted(found)


def _built_in(module: str) -> Iterator[str]:
    """Yield the modules of the built-in learners or tuners that a module uses."""
    for caller, package in EXTENDED.values():
        if module == caller and package is not None:
            yield from (f"{package}.{path.stem}" for path in _file(package).parent.glob("[!_]*.py"))


@functools.cache
def _table(*names: str) -> dict[str, tuple[str, str]]:
    """Return tables of commands or steps as one, without importing the command line."""
    found: dict[str, tuple[str, str]] = {}
    for node in _tree("itersel.cli.main").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in names:
            found |= ast.literal_eval(node.value)
    return found


def _reached(tree: ast.Module, function: str) -> list[ast.stmt]:
    """Return the statements that run: everything outside functions, and the functions `function` reaches."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if function not in functions:
        raise LookupError(f"there is no function {function}")
    reached: list[ast.stmt] = [node for node in tree.body if node not in functions.values()]
    waiting = [function]
    while waiting:
        node = functions.pop(waiting.pop(), None)
        if node is not None:
            reached.append(node)
            waiting += [name.id for name in ast.walk(node) if isinstance(name, ast.Name)]
    return reached


def _imported(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the modules of the package that the code imports, except those imported only for types."""
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif not (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"):
            # imports are statements, so expressions can be skipped
            waiting += [child for field in BLOCKS for child in getattr(node, field, ())]

        yield from (name for name in names if name.split(".")[0] == PACKAGE.name and _exists(name))


@functools.cache
def _imports_of(module: str) -> tuple[str, ...]:
    return tuple(_imported(_tree(module).body))


def _file(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_name(f"{path.name}.py")


@functools.cache
def _exists(module: str) -> bool:
    return _file(module).is_file()


def _tree(module: str) -> ast.Module:
    return ast.parse(_file(module).read_bytes())
