"""Measure what the unit tests guard: change the code in one place at a time, and count what they catch.

`python -m tests.mutants --seed 1 --count 200` (in the environment of `make coverage`; an hour on two cores)
draws places in the packages below, the same ones for the same seed and code. Each change is tested, with
interpreted kernels, by the unit tests that execute the changed line, the quickest first. A change is caught
if a test fails or hangs. With `--map`, the lines that each test executes are stored in a file, or taken from
it if it exists.
"""

import argparse
import ast
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from xml.etree import ElementTree

import coverage

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("bleu", "learn", "select", "tune", "decode", "grammar", "lm", "evaluate", "config")
OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub,
    ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
# Tests of one change run no longer than this when nothing is changed, in seconds.
BUDGET = 30.0
HANGS = 600.0


@dataclass(frozen=True)
class Mutant:
    """A changed piece of a file: the bytes from `begin` to `end`, in line `line`."""

    file: str
    line: int
    begin: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        return source[: self.begin] + self.text.encode() + source[self.end :]


def mutants(file: str, source: bytes) -> Iterator[Mutant]:
    """Yield all changes of a file: operators, comparisons, numbers, and dropped statements."""
    starts = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]

    def whole(node: ast.expr | ast.stmt, text: str) -> Mutant:
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        return Mutant(file, node.lineno, begin, end, text)

    for node in _executed(ast.parse(source)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            other = ast.Compare(node.left, [OTHER[type(node.ops[0])]()], node.comparators)
            yield whole(node, f"({ast.unparse(other)})")
        elif isinstance(node, ast.BinOp) and type(node.op) in OTHER:
            other = ast.BinOp(node.left, OTHER[type(node.op)](), node.right)
            yield whole(node, f"({ast.unparse(other)})")
        elif isinstance(node, ast.BoolOp):
            yield whole(node, f"({ast.unparse(ast.BoolOp(OTHER[type(node.op)](), node.values))})")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield whole(node, str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield whole(node, repr(node.value + 1))
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.Raise | ast.Continue | ast.Break) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            yield whole(node, "pass")


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes in order, without annotations and the text of messages."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from _executed(child)


def draw(count: int, seed: int) -> list[Mutant]:
    """Return `count` changes that are valid Python, equally many of each package."""
    drawn = []
    for number, package in enumerate(PACKAGES):
        found = []
        for path in sorted((ROOT / "src/itersel" / package).rglob("*.py")):
            file = path.relative_to(ROOT / "src").as_posix()
            found += list(mutants(file, path.read_bytes()))
        wanted = count * (number + 1) // len(PACKAGES) - count * number // len(PACKAGES)
        drawn += random.Random(f"{seed} {package}").sample(found, wanted)
    return drawn


def environment(source: Path) -> dict[str, str]:
    """Return the environment in which tests use a copy of the source, interpreted."""
    quiet = "ignore:overflow encountered:RuntimeWarning"
    path = f"{source}{os.pathsep}{ROOT}"
    return {**os.environ, "PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": quiet}


@dataclass
class Map:
    """What unit tests execute: the seconds that each takes, and the tests of each line of each file."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, list[str]]]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that execute the line, those of its package first, then the quickest."""
        package = mutant.file.split("/")[1]
        names = set(self.lines.get(mutant.file, {}).get(str(mutant.line), [])) & set(self.seconds)
        if not names:  # executed on import
            names = {name for name in self.seconds if f"/test_{package}" in name}
        chosen, spent = [], 0.0
        order = [(f"/test_{package}" not in name, self.seconds[name], name) for name in names]
        for *_, name in sorted(order):
            spent += self.seconds[name]
            if chosen and spent > BUDGET:
                break
            chosen.append(name)
        return chosen


def function(name: str) -> str:
    """Return the name of a test without its parameters and group."""
    return name.partition("[")[0].partition("@")[0]


def make_map(source: Path, scratch: Path) -> Map:
    """Run all unit tests, and record what each of those that pass executes."""
    report = scratch / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "tests/unit", f"--junitxml={report}"]
    # coverage cannot write while a test is another user
    command += ["-m", "not slow", "--deselect=tests/unit/test_hdf5.py::test_permissions"]
    command += ["--hypothesis-profile=quick", f"--cov={source / 'itersel'}", "--cov-context=test"]
    command += ["--cov-report=", f"--basetemp={scratch / 'pytest'}"]
    settings = environment(source) | {"COVERAGE_FILE": str(scratch / "coverage")}
    subprocess.run(command, cwd=ROOT, env=settings, check=False, stdout=sys.stderr)
    seconds: dict[str, float] = defaultdict(float)
    failed = set()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.attrib['classname'].replace('.', '/')}.py::{function(case.attrib['name'])}"
        seconds[name] += float(case.attrib["time"])
        if len(case):  # failed or skipped
            failed.add(name)
    data = coverage.CoverageData(str(scratch / "coverage"))
    data.read()
    lines: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for file in data.measured_files():
        for line, contexts in data.contexts_by_lineno(file).items():
            tests = sorted({function(context.partition("|")[0]) for context in contexts})
            lines[Path(file).relative_to(source).as_posix()][str(line)] = tests
    return Map({name: time for name, time in seconds.items() if name not in failed}, dict(lines))


def judge(mutant: Mutant, source: Path, names: list[str]) -> str:
    """Return the first test that catches the change, `hangs`, or an empty string."""
    if not names:
        return ""
    path = source / mutant.file
    original = path.read_bytes()
    arguments = source.parent / f"{source.name}.txt"
    arguments.write_text("\n".join(names), encoding="utf-8")
    path.write_bytes(mutant.apply(original))
    try:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
        command += [f"--basetemp={source.parent / f'pytest-{source.name}'}", f"@{arguments}"]
        how = {"cwd": ROOT, "env": environment(source), "timeout": HANGS}
        done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        path.write_bytes(original)
    if done.returncode == 0:
        return ""
    if "ERROR: not found: " in done.stdout + done.stderr:  # a test that is only in the map
        raise ValueError(done.stdout + done.stderr)
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return failed[0] if failed else f"status {done.returncode}"


def main() -> None:
    """Print one line for each change, and the share caught of each package."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--map", type=Path)
    arguments = parser.parse_args()
    drawn = draw(arguments.count, arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(os.cpu_count() or 1):
            copy = Path(folder, str(number))
            shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
            copies.put(copy)
        if arguments.map and arguments.map.exists():
            executed = Map(**json.loads(arguments.map.read_text()))
        else:
            executed = make_map(Path(folder, "0"), Path(folder))
            if arguments.map:
                arguments.map.write_text(json.dumps(asdict(executed)))
        print(f"{len(executed.seconds)} tests pass, {sum(executed.seconds.values()):.0f} s", flush=True)

        def test(mutant: Mutant) -> tuple[Mutant, str]:
            copy = copies.get()
            try:
                return mutant, judge(mutant, copy, executed.tests_of(mutant))
            finally:
                copies.put(copy)

        caught = dict.fromkeys(PACKAGES, 0)
        with ThreadPoolExecutor(copies.qsize()) as pool:
            for mutant, by in pool.map(test, drawn):
                before = (ROOT / "src" / mutant.file).read_bytes()[mutant.begin : mutant.end].decode()
                change = " ".join(f"{before!r} -> {mutant.text!r}".split())
                print(f"{mutant.file}:{mutant.line}: {change}: {by or 'SURVIVED'}", flush=True)
                caught[mutant.file.split("/")[1]] += bool(by)
    for package in PACKAGES:
        total = sum(mutant.file.split("/")[1] == package for mutant in drawn)
        print(f"{package:10} {caught[package]:3} of {total}")
    print(f"{'all':10} {sum(caught.values()):3} of {len(drawn)}")


if __name__ == "__main__":
    main()
