"""Imports only point down, at import time and inside functions; docs/architecture.md lists the layers.

No modules need each other in a circle, even for types, so each can be read after those that it needs.
"""

import ast
import re

import pytest
from tests.limited import limited


def layers(root):
    """Return the number of the line of each package or module, from the top."""
    page = (root / "docs/architecture.md").read_text()
    lines = page.partition("## Layers")[2].split("```")[1].strip().splitlines()
    return {name: number for number, line in enumerate(lines) for name in re.split(" {2,}", line)[0].split()}


# Imports for types that close a circle: of a module, from another one.
CIRCULAR = {("tune.ranking", "tune.tuners.pro")}


def imported(tree, for_types):
    """Yield the names below `itersel` that code imports, with or without those imported only for types."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        is_guard = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        if is_guard and not for_types:
            continue
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.removeprefix("itersel.") for name in names if name.startswith("itersel."))
        waiting += ast.iter_child_nodes(node)


def needs_of(root, for_types):
    """Return what each module of the package imports from it."""
    top = root / "src/itersel"
    paths = {".".join(path.relative_to(top).with_suffix("").parts): path for path in top.rglob("*.py")}
    paths = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    return {
        name: paths.keys() & {*imported(ast.parse(path.read_text()), for_types)} - {name}
        for name, path in paths.items()
    }


@pytest.fixture(scope="module")
def needs(root):
    """Return what each module imports, except for types."""
    return needs_of(root, for_types=False)


def in_circles(needs):
    """Return the modules that need each other, or stand between such modules."""
    left = {name: {*others} for name, others in needs.items()}
    while True:
        needed = set().union(*left.values())
        ready = {name for name, others in left.items() if not others or name not in needed}
        if not ready:
            return left.keys()
        left = {name: others - ready for name, others in left.items() if name not in ready}


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
    assert in_circles(needs) == set()


def test_tables_do_without_the_page(needs):
    tables = {name: others for name, others in needs.items() if name.startswith("report.")}
    page = {name for name in tables if name.startswith("report.page")}
    assert len(page) > 5
    assert {name: used for name in tables.keys() - page if (used := tables[name] & page)} == {}


def test_types_close_no_circles(root):
    needs = needs_of(root, for_types=True)
    without = {name: {one for one in others if (name, one) not in CIRCULAR} for name, others in needs.items()}
    circle = {name: sorted(without[name] & in_circles(without)) for name in in_circles(without)}
    assert not circle, f"modules import each other's types: open the circle, or add it to CIRCULAR: {circle}"
    # each exception is still one
    for name, other in CIRCULAR:
        assert {name, other} <= in_circles({**without, name: {*without[name], other}})


def test_planning_loads_no_numpy(root):
    """Each job on a cluster makes the plan: importing numpy takes a tenth of a second, numba half of one."""
    rules = "".join(path.read_text() for path in (root / "workflow").rglob("*.smk"))
    modules = re.findall(r"^from (itersel[\w.]*) import", rules, re.MULTILINE)
    assert "itersel.plan" in modules
    loaded = limited(program=["-c", f"import sys, {', '.join(modules)}; print(*sys.modules)"]).stdout.split()
    assert "itersel.plan" in loaded
    assert {*loaded} & {"h5py", "jsonschema", "numba", "numpy"} == set()


def test_declarations_load_no_learners():
    """Steps declare their settings when they start; what uses a learner imports its module."""
    code = "import sys, itersel.config.learning_steps; print(*sys.modules)"
    loaded = limited(program=["-c", code]).stdout.split()
    assert [name for name in loaded if name.startswith(("itersel.learn.", "itersel.tune."))] == []


def test_logarithms_are_the_same_on_all_processors(root):
    """numpy computes those of float64 with AVX-512 where there is some, and rounds differently then."""
    call = re.compile(r"\bnp\.(exp|log)(?!add|space)\w*\((?!.*longdouble)")
    paths = (path for path in (root / "src/itersel").rglob("*.py") if "kernels" not in path.name)
    assert [path for path in paths if call.search(path.read_text())] == []
