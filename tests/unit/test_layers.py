"""Imports only point down, at import time and inside functions; docs/architecture.md lists the layers."""

import ast
import re

import pytest


def layers(root):
    """Return the number of the line of each package or module, from the top."""
    page = (root / "docs/architecture.md").read_text()
    lines = page.partition("## Layers")[2].split("```")[1].strip().splitlines()
    return {name: number for number, line in enumerate(lines) for name in re.split(" {2,}", line)[0].split()}


def imported(tree):
    """Yield the names below `itersel` that code imports, except those imported only for types."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.removeprefix("itersel.") for name in names if name.startswith("itersel."))
        waiting += ast.iter_child_nodes(node)


@pytest.fixture(scope="module")
def needs(root):
    """Return what each module of the package imports from it."""
    top = root / "src/itersel"
    paths = {".".join(path.relative_to(top).with_suffix("").parts): path for path in top.rglob("*.py")}
    return {
        name: {other for other in imported(ast.parse(path.read_text())) if other in paths} - {name}
        for name, path in paths.items()
    }


def test_imports_point_down(root, needs):
    layer = layers(root)
    assert {name.split(".")[0] for name in needs} - {"__init__"} == layer.keys()
    upwards = [
        f"{name} imports {other}"
        for name, others in needs.items()
        for other in others
        if (room := name.split(".")[0]) != (used := other.split(".")[0])
        if layer.get(room, -1) >= layer[used]
    ]
    assert upwards == []


def test_no_modules_import_each_other(needs):
    done = set()
    while ready := {name for name in needs if name not in done and needs[name] <= done}:
        done |= ready
    assert needs.keys() - done == set()


def test_logarithms_are_the_same_on_all_processors(root):
    """numpy computes those of float64 with AVX-512 where there is some, and rounds differently then."""
    call = re.compile(r"\bnp\.(exp|log)(?!add|space)\w*\((?!.*longdouble)")
    paths = (path for path in (root / "src/itersel").rglob("*.py") if "kernels" not in path.name)
    assert [path for path in paths if call.search(path.read_text())] == []
