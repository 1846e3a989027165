"""``python -m tests.fuzz``: run cases for a given time, count their outcomes, keep those that fail."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count as numbers
from pathlib import Path
from typing import TYPE_CHECKING

from tabulate import tabulate

KEPT = Path("build/fuzz")

if TYPE_CHECKING:
    from tests.fuzz.cases import Case, Result


def main() -> int:
    what = sys.modules["tests.fuzz"].__doc__
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=what)
    add = parser.add_argument
    add("--seed", type=int, default=1, help="of all cases (default: 1)")
    add("--seconds", type=float, default=60, help="how long to run (default: 60)")
    add("--cases", type=int, help="run this many cases of each format and mode, without a time limit")
    add("--formats", help="formats, separated by commas (default: all)")
    add("--first", type=int, default=0, help="number of the first case of each (default: 0)")
    add("--case", help="run only this case: [SEED/]FORMAT/MODE/NUMBER")
    checks = "check array bounds in kernels, which are compiled for this first (takes minutes)"
    add("--bounds-check", action="store_true", help=checks)
    options = parser.parse_args()
    # before importing itersel and numba, which read this once
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if options.bounds_check:
        os.environ["NUMBA_BOUNDSCHECK"] = "1"
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    from tests.fuzz.cases import Case, runner

    results = []
    with runner(KEPT.resolve()) as cases:
        if options.case:
            result = cases.run(Case.parse(options.case, options.seed))
            print(_line(result))
            return int(result.is_bad)
        end = time.monotonic() + options.seconds
        with contextlib.suppress(KeyboardInterrupt):  # still print the table
            for case in _cases(options):
                if options.cases is None and time.monotonic() > end:
                    break
                result = cases.run(case)
                results.append(result)
                if result.is_bad:
                    print(_line(result), flush=True)
    _print_table(results)
    slowest = max(results, key=lambda result: result.seconds)
    print(f"{len(results)} cases; the slowest, {slowest.case}, took {slowest.seconds:.1f} s")
    failed = sum(result.is_bad for result in results)
    if failed:
        print(f"{failed} failed; their files are in {KEPT}")
    return int(failed > 0)


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    """Yield cases endlessly, of all formats in turn."""
    from tests.fuzz.cases import Case
    from tests.fuzz.targets import MODES, TARGETS

    names = options.formats.split(",") if options.formats else list(TARGETS)
    last = None if options.cases is None else options.first + options.cases
    for number in numbers(options.first) if last is None else range(options.first, last):
        for name in names:
            for mode in MODES[TARGETS[name].kind]:
                yield Case(options.seed, name, mode, number)


def _line(result: Result) -> str:
    how = f"{', '.join(result.mutation)}; {' '.join(result.arguments)}"
    return f"{result.verdict.outcome}: {result.verdict.why} [{how}] python -m tests.fuzz --case {result.case}"


def _print_table(results: list[Result]) -> None:
    """Print the number of cases for each outcome, by format and mode, and in total."""
    from tests.fuzz.steps import BAD, GOOD

    columns, rows = (*GOOD, *BAD), []
    for key in ("{0.format} {0.mode}", "all"):
        counts = Counter((key.format(result.case), result.verdict.outcome) for result in results)
        names = sorted({name for name, _ in counts})
        rows += [[name, *(counts[name, column] or "." for column in columns)] for name in names]
    aligned = ("left", *["right"] * len(columns))
    print(tabulate(rows, ["format, mode", *columns], colalign=aligned))


if __name__ == "__main__":
    sys.exit(main())
