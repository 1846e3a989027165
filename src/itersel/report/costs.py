"""What a run cost: processor time, memory and jobs, from the benchmark files of its steps."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TypedDict

from itersel.results import BENCHMARKS
from itersel.run.processor_time import hours_of
from itersel.storage.files import read_lines

# Steps with a folder of benchmark files per experiment.
OF_EXPERIMENTS = ("train", "mix", "write_tuning_files", "tune")


class Cost(TypedDict):
    """What the jobs of a repeat or of a step cost."""

    hours: float | None  # of processor time, summed over the jobs; `None` if none of these was measured
    memory: float | None  # of the largest job, in MB; `None` if none was measured
    jobs: int


class RunCosts(TypedDict):
    """The costs of a run, as the page has them."""

    repeats: dict[str, Cost]  # by the folder of the repeat
    shared: dict[str, Cost]  # of steps that serve all experiments, by name


def read_costs(results: Path, repeats: Collection[str]) -> RunCosts:
    """Return the costs of each of the `repeats`, which are names of folders, and of the shared steps."""
    folder = results / BENCHMARKS
    of_repeats: dict[str, list[Path]] = {}
    of_steps: dict[str, list[Path]] = {}

    for path in sorted(folder.rglob("*.tsv")):
        parts = path.relative_to(folder).with_suffix("").parts
        if parts[0] in OF_EXPERIMENTS and len(parts) > 1 and parts[1] in repeats:
            of_repeats.setdefault(parts[1], []).append(path)
        else:
            of_steps.setdefault(parts[0], []).append(path)

    return {
        "repeats": {name: _total(paths) for name, paths in of_repeats.items()},
        "shared": {name: _total(paths) for name, paths in of_steps.items()},
    }


def _total(paths: Iterable[Path]) -> Cost:
    rows = [row for path in paths for row in csv.DictReader(read_lines(path), delimiter="\t")]
    seconds, memory = (
        [value for row in rows if (value := _number(row.get(column))) is not None]
        for column in ("cpu_time", "max_rss")
    )
    return {
        "hours": round(hours_of(sum(seconds)), 6) if seconds else None,
        "memory": max(memory) if memory else None,
        "jobs": len(rows),
    }


def _number(text: str | None) -> float | None:
    """Return a measured number; Snakemake writes - or NA if it could not measure."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
