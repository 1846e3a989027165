"""The sentences of the test sets with all translations, packed for the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sacrebleu.metrics.chrf import CHRF

from itersel.errors import InputError
from itersel.limits import test_split
from itersel.report.page.folder import Run
from itersel.storage.files import read_lines


def read_test_set(results: Path, name: str, runs: Sequence[Run]) -> dict[str, Any] | None:
    """Return a test set with the translations of all runs that have some; None if there are none yet.

    Detokenised text (``evaluation/<name>``) is preferred; tokenised text is the fallback. ``rows`` has, for
    each sentence: source, references, its different translations (systems often agree), for each of
    ``systems`` an index into these, and the chrF of each (in tenths). Everything about a sentence is
    adjacent, which compresses well.
    """
    split = _split(name)
    corpus, folder = results / "corpus", results / "evaluation" / name
    raw = sorted(folder.glob("reference.[0-9]*.txt"), key=lambda path: int(path.name.split(".")[1]))
    plain = {run.name: path for run in runs if (path := translation_of(run, name)) is not None}
    texts = {run: folder / f"{run}.txt" for run in plain}
    is_raw = bool(raw) and all(path.is_file() for path in texts.values())
    chosen, files = (texts, raw) if is_raw else (plain, references_of(corpus, split))
    if not chosen or not files:
        return None
    source, first = corpus / f"{split}.source.gz", read_lines(files[0])
    # translations in n-best lists may come without their sources
    sources = read_lines(source) if source.is_file() else [""] * len(first)
    references = [_parallel(path, len(sources)) for path in files]
    translations = [_parallel(path, len(sources)) for path in chosen.values()]
    metric = CHRF()
    rows = []
    for number, line in enumerate(sources):
        own = [lines[number] for lines in references]
        found: dict[str, int] = {}
        which = [found.setdefault(lines[number], len(found)) for lines in translations]
        # empty lines are not references, unless all are empty
        scored = [one for one in own if one] or [""]
        chrf = [round(float(metric.sentence_score(one, scored).score) * 10) for one in found]
        rows.append([line, own, list(found), which, chrf])
    return {
        "name": name,
        "systems": list(chosen),
        "rows": rows,
        "raw": is_raw,
        "chrf": metric.get_signature().format() if rows else "",
    }


def _split(name: str) -> str:
    return name if name == "test" else test_split(name)


def translation_of(run: Run, name: str) -> Path | None:
    """Return the file of translations of a test set at the epoch chosen for it; None if not written yet."""
    split = _split(name)
    for stage in (f"best-{name}", "best"):
        if (path := run.folder / stage / f"{split}.txt").is_file():
            return path
    return None


def references_of(corpus: Path, split: str) -> list[Path]:
    """Return the files of the references of a split, the first one without a number."""
    further = sorted(corpus.glob(f"{split}.target.[0-9]*.gz"), key=lambda path: int(path.name.split(".")[-2]))
    first = corpus / f"{split}.target.gz"
    return [first, *further] if first.is_file() else []


def _parallel(path: Path, count: int) -> list[str]:
    lines = read_lines(path)
    if len(lines) != count:
        raise InputError(f"has {len(lines)} lines, the source text has {count}; run snakemake again", path)
    return lines
