"""The sentences of the test sets with all translations, packed for the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sacrebleu.metrics.chrf import CHRF

from itersel.errors import InputError
from itersel.limits import test_split
from itersel.report.page.folder import Run
from itersel.storage.files import read_lines

SCALE = 10  # chrF is stored in tenths


class TestSet(NamedTuple):
    """A test set, named as in the table, with the translations by each run (`systems`).

    `is_raw`: references and translations are detokenised.
    """

    name: str
    source: list[str]
    references: list[list[str]]
    systems: list[str]
    translations: list[list[str]]
    is_raw: bool


def read_test_set(results: Path, name: str, runs: Sequence[Run]) -> TestSet | None:
    """Return a test set with the translations of all runs that have some; None if there are none yet.

    Detokenised text (``evaluation/<name>``) is preferred; tokenised text is the fallback.
    """
    split = _split(name)
    corpus = results / "corpus"
    source = corpus / f"{split}.source.gz"
    if not source.is_file():
        return None
    folder, references = results / "evaluation" / name, references_of(corpus, split)
    raw = sorted(folder.glob("reference.[0-9]*.txt"), key=lambda path: int(path.name.split(".")[1]))
    plain = {run.name: path for run in runs if (path := translation_of(run, name)) is not None}
    texts = {run: folder / f"{run}.txt" for run in plain}
    is_raw = bool(raw) and all(path.is_file() for path in texts.values())
    chosen, files = (texts, raw) if is_raw else (plain, references)
    if not chosen or not files:
        return None
    lines = read_lines(source)
    return TestSet(
        name,
        lines,
        [_parallel(path, len(lines)) for path in files],
        list(chosen),
        [_parallel(path, len(lines)) for path in chosen.values()],
        is_raw,
    )


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


def pack(test_set: TestSet) -> dict[str, Any]:
    """Return a test set as plain values.

    Systems often agree, so each sentence has a list of its different translations and, for each system, an
    index into that list. Everything about a sentence is adjacent, which compresses well.
    """
    metric = CHRF()
    rows = []
    for number, source in enumerate(test_set.source):
        references = [lines[number] for lines in test_set.references]
        found: dict[str, int] = {}
        which = [found.setdefault(lines[number], len(found)) for lines in test_set.translations]
        # empty lines are not references, unless all are empty
        scored = [one for one in references if one] or [""]
        rows.append([source, references, list(found), which, [_chrf(metric, one, scored) for one in found]])
    return {
        "name": test_set.name,
        "systems": test_set.systems,
        "rows": rows,
        "raw": test_set.is_raw,
        "chrf": metric.get_signature().format() if rows else "",
    }


def _chrf(metric: CHRF, text: str, references: Sequence[str]) -> int:
    return round(float(metric.sentence_score(text, references).score) * SCALE)
