"""What a run cost: processor time, memory and jobs, from the benchmark files of its steps."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from itersel.results import BENCHMARKS
from itersel.run.processor_time import hours_of
from itersel.storage.files import read_lines

# Steps with a folder of benchmark files per experiment.
OF_EXPERIMENTS = ("train", "mix", "write_tuning_files", "tune")


def read_costs(results: Path, repeats: Collection[str]) -> dict[str, Any]:
    """Return the costs of each of the ``repeats``, and of each step that serves all experiments (``shared``).

    They are ``hours`` of processor time, ``memory`` (MB) of the largest job, and number of ``jobs``.
    """
    folder = results / BENCHMARKS
    found: dict[str, dict[str, list[Path]]] = {"repeats": {}, "shared": {}}
    for path in sorted(folder.rglob("*.tsv")):
        parts = path.relative_to(folder).with_suffix("").parts
        of_repeat = parts[0] in OF_EXPERIMENTS and len(parts) > 1 and parts[1] in repeats
        by_name = found["repeats"] if of_repeat else found["shared"]
        by_name.setdefault(parts[1] if of_repeat else parts[0], []).append(path)
    return {kind: {name: _total(paths) for name, paths in by_name.items()} for kind, by_name in found.items()}


def _total(paths: Iterable[Path]) -> dict[str, float | int | None]:
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
