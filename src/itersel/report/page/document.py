"""Everything that the page shows of a folder of results, as one plain value.

This includes, for each run, measures of each epoch and the features of the best one.
"""

from __future__ import annotations

import csv
import datetime
import math
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from itersel.config.experiments import with_independent_tasks
from itersel.config.reading import read_config
from itersel.config.splits import kind_of_text
from itersel.config.tasks import IndependentTask
from itersel.config.values import Config, Experiment
from itersel.report.page.curves import read_curves
from itersel.report.page.features import read_features
from itersel.report.page.folder import Run, describe_config, find_runs, read_optional, read_run
from itersel.report.page.groups import read_frequencies
from itersel.report.page.sentences import pack, read_translated, references_of
from itersel.report.page.table import best_on_devtest, read_table
from itersel.report.table import NOTES, is_experiment
from itersel.storage.files import read_bytes, read_lines
from itersel.system.chosen import read_system

# Errors are at the end of long logs.
LOG_BYTES = 1 << 16
# Steps with a folder of benchmark files per experiment.
OF_EXPERIMENTS = ("train", "mix", "write_lists", "tune")
NO_CORPUS = "is not a table of corpora; make it with 'itersel step corpora'"
NO_DERIVATIONS = "contains no derivations; make them with 'itersel step explain'"
_ERROR = re.compile(r"itersel(?: [a-z_-]+)?: .+")


def read_document(results: Path) -> dict[str, Any]:
    """Return what the page shows of a run, ``<output>/<name>``; what does not exist yet is None or empty.

    If `results` is not such a folder, or a file in it is damaged, it is an InputError.
    """
    description, report = read_run(results), results / "report"
    config = description.get("config") or {}
    table = read_table(report / "table.json")
    systems = table["test_sets"][0]["systems"] if table else []
    compared, others = (
        [one["name"] for one in systems if is_experiment(one) == is_own] for is_own in (True, False)
    )
    settings = read_config(config) if config else Config(experiments={})
    planned = with_independent_tasks(settings).experiments
    runs = find_runs(results, list(planned) or compared)
    names = [one["name"] for one in table["test_sets"]] if table else ["test"]
    found = [one for name in names if (one := read_translated(results, name, runs, others)) is not None]
    frequencies = read_frequencies(results / "grammar" / "index") if found else None
    # for the epochs of unfinished runs
    references = references_of(results / "corpus", "devtest")
    return {
        "text": NOTES[kind_of_text(settings)],
        "name": str(config.get("name", results.resolve().name)),
        # by which browsers choose fonts and voices
        "languages": {"source": settings.data.source_language, "target": settings.data.target_language},
        "date": _date(report / "table.json"),
        "best": _best(table) if table else None,
        "compared": compared_systems(table, runs),
        "table": table,
        "runs": [
            _describe_run(results, run, planned.get(run.experiment), references, settings.evaluation.tokenize)
            for run in runs
        ],
        "costs": _read_costs(results, {run.name for run in runs}),
        "corpus": read_optional(report / "corpus.json", _use_corpus, NO_CORPUS),
        "test_sets": [pack(one, frequencies) for one in found],
        "derivations": read_optional(report / "derivations.json", _use_derivations, NO_DERIVATIONS),
        "config": describe_config(config) if config else None,
        "versions": description.get("versions", {}),
        "earlier": description.get("earlier", []),
    }


def compared_systems(table: dict[str, Any] | None, runs: Sequence[Run]) -> list[str]:
    """Return a baseline (the first system that is not the best), and the best system on devtest."""
    if not table:
        return [runs[0].name, runs[-1].name]
    first = table["test_sets"][0]
    best = best_on_devtest(first["systems"])["name"]
    names = [one["name"] for one in first["systems"] if is_experiment(one)]
    baseline = next((name for name in names if name != best), best)
    return [baseline, best]


def _best(table: dict[str, Any]) -> dict[str, Any]:
    """Return the best system on devtest, with its main score on the first test set."""
    best = best_on_devtest(table["test_sets"][0]["systems"])
    title, score = (
        ("cased BLEU", best["scores"]["BLEU"]["cased"]) if best["scores"] else ("BLEU", best["test"])
    )
    return {"name": best["name"], "title": title, "score": score["mean"]}


def _date(table: Path) -> str | None:
    """Return the day on which the table was written (UTC); None before that."""
    if not table.is_file():
        return None
    return datetime.datetime.fromtimestamp(table.stat().st_mtime, datetime.UTC).date().isoformat()


def _read_costs(results: Path, runs: Collection[str]) -> dict[str, Any]:
    """Return the costs of each run by name, and of each step that serves all experiments (``shared``).

    They are ``hours`` of processor time, ``memory`` (MB) of the largest job, and number of ``jobs``.
    """
    folder = results / "benchmarks"
    found: dict[str, dict[str, list[Path]]] = {"runs": {}, "shared": {}}
    for path in sorted(folder.rglob("*.tsv")):
        parts = path.relative_to(folder).with_suffix("").parts
        is_own = parts[0] in OF_EXPERIMENTS and len(parts) > 1 and parts[1] in runs
        kind, name = ("runs", parts[1]) if is_own else ("shared", parts[0])
        found[kind].setdefault(name, []).append(path)
    return {kind: {name: _total(paths) for name, paths in by_name.items()} for kind, by_name in found.items()}


def _total(paths: Iterable[Path]) -> dict[str, float | int | None]:
    rows = [row for path in paths for row in csv.DictReader(read_lines(path), delimiter="\t")]
    seconds, memory = (
        [value for row in rows if (value := _number(row.get(column))) is not None]
        for column in ("cpu_time", "max_rss")
    )
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


def _use_corpus(corpus: Any) -> None:
    for split in corpus["splits"].values():
        counts = (split["sentences"], split["rules"], *split["dropped"].values())
        sides = (split[side]["tokens"] for side in ("source", "target"))
        sum(number or 0 for number in (*counts, *sides))
    for one in corpus["left_out"]:
        str(one["of"]) + str(one["why"]) + str(one["count"] + 0)


def _use_derivations(found: Any) -> None:
    first, second = found["systems"]
    if not all(isinstance(text, str) for text in (found["test_set"], first, second)):
        raise TypeError
    for sentence in found["sentences"]:
        sentence["sentence"] + len(sentence["derivations"])


def _describe_run(
    results: Path, run: Run, planned: Experiment | None, references: Sequence[Path], tokenize: str
) -> dict[str, Any]:
    best = run.folder / "best" / "system.json"
    system = read_system(best) if best.is_file() else None
    # independent tasks are scored only on the sentences with their label
    scored = [] if planned and isinstance(planned.tasks, IndependentTask) else references
    return {
        "run": run.name,
        "experiment": run.experiment,
        "repeat": run.repeat,
        "planned": planned.epochs if planned else None,
        "finished": system is not None,
        "errors": [] if system else _errors(results, run),
        "epochs": read_curves(run, system, scored, tokenize),
        "features": read_features(run, system),
    }


def _errors(results: Path, run: Run) -> list[dict[str, str]]:
    """Return the last error in each log of a run."""
    logs = results / "logs"
    found = []
    for path in sorted([*logs.glob(f"*/{run.name}/**/*.log"), *logs.glob(f"*/{run.name}.log")]):
        lines = read_bytes(path)[-LOG_BYTES:].decode("utf-8", "replace").splitlines()
        errors = [line for line in lines if _ERROR.fullmatch(line)]
        if errors:
            found.append({"log": str(path.relative_to(results)), "error": errors[-1]})
    return found
