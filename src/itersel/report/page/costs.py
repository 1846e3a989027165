"""Costs of a run: processor time and memory, from Snakemake's benchmark files."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from itersel.storage.files import read_lines

# Steps with a folder of benchmark files per experiment.
OF_EXPERIMENTS = ("train", "mix", "write_lists", "tune")


def read_costs(results: Path, runs: Collection[str]) -> dict[str, Any]:
    """Return the costs of each run and of the shared steps.

    Returns
    -------
    dict
        ``runs``: by name, ``hours`` of processor time, ``memory`` (MB) of the largest job, and number of
        ``jobs``; ``shared``: the same for each step that serves all experiments.
    """
    folder = results / "benchmarks"
    own: dict[str, list[Path]] = {}
    shared: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.tsv")):
        parts = path.relative_to(folder).with_suffix("").parts
        if parts[0] in OF_EXPERIMENTS and len(parts) > 1 and parts[1] in runs:
            own.setdefault(parts[1], []).append(path)
        else:
            shared.setdefault(parts[0], []).append(path)
    return {
        "runs": {name: _total(paths) for name, paths in own.items()},
        "shared": {step: _total(paths) for step, paths in shared.items()},
    }


def _total(paths: Iterable[Path]) -> dict[str, float | int | None]:
    rows = [row for path in paths for row in csv.DictReader(read_lines(path), delimiter="\t")]
    seconds = [value for row in rows if (value := _number(row.get("cpu_time"))) is not None]
    memory = [value for row in rows if (value := _number(row.get("max_rss"))) is not None]
    return {
        "hours": round(sum(seconds) / 3600, 6) if seconds else None,
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
