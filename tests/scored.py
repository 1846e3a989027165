"""Systems with made-up settings and scores; scores and p-values to compare with."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from tests.steps import settings

from itersel.corpus.prepare import Preparation, write_preparation
from itersel.corpus.recase import Recaser, RecaserCounts
from itersel.corpus.settings import Words
from itersel.evaluate.epochs import index_of_best
from itersel.evaluate.metrics import TextMetric
from itersel.evaluate.significance import Randomization, differences
from itersel.report.table_content import Table
from itersel.storage.files import write_lines
from itersel.storage.json_files import as_content
from itersel.system.chosen import ChosenSystem, write_system


def make_system(
    name: str, bleu: Sequence[float] = (30.0, 31.0), repeat: int = 1, **changes: Any
) -> ChosenSystem:
    """Return the description of a system with these scores on devtest after its epochs."""
    scores = tuple(bleu)
    settings = {"learner": "perceptron", "mixing": "selection", "tune_on": "train", "features": "all"}
    settings |= {"tasks": "random", "shards": 4, "chosen_by": "tokenized-bleu", "devtest": "devtest"}
    found = {
        "devtest_tokenized_bleu": scores,
        "devtest_scores": scores,
        "devtest_brevity_penalty": (1.0,) * len(scores),
    }
    found |= {
        "epoch": 1 + index_of_best(scores, "tokenized-bleu"),
        "signature": "nrefs:1|x",
        "active_features": 12,
        "untrained_epochs": 0,
        "settings": {},
    }
    return ChosenSystem(**{"name": name, "repeat": repeat, **settings, **found, **changes})


def tokenized_bleu(system: Mapping[str, Any]) -> Any:
    """Return the BLEU of tokenised text of a row of table.json."""
    return system["scores"]["tokenized-bleu"]


def content_of(table: Table) -> dict[str, Any]:
    """Return a table as its file contains it."""
    content: dict[str, Any] = json.loads(json.dumps(as_content(table)))
    return content


def sacrebleu(translations: Sequence[str], *references: Sequence[str | None]) -> float:
    metric = BLEU(lowercase=True, smooth_method="none", force=True)
    return float(metric.corpus_score(translations, list(references)).score)


def learn_recaser(lines: Iterable[Sequence[str]], language: str = "") -> Recaser:
    counts = RecaserCounts(language)
    counts.add(lines)
    return counts.recaser()


def write_detokenizer(folder: Path, lines: Sequence[str], **keys: Any) -> list[str]:
    """Write a preparation and a recaser learned from tokenised lines; returns the options that name them."""
    write_preparation(folder, Preparation(Words("de", "en"), **keys), learn_recaser(map(str.split, lines)))
    return [f"--{name}={folder / name}.json" for name in ("preparation", "recaser")]


def write_test_set(
    folder: Path,
    systems: Sequence[ChosenSystem],
    translations: Sequence[Sequence[str]],
    reference: Sequence[str],
) -> dict[str, Any]:
    """Write the files of a test set; returns them as `itersel step table` reads them."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}" for number in range(len(systems))]
    for path, system, lines in zip(paths, systems, translations, strict=True):
        write_system(path.with_suffix(".json"), system)
        write_lines(path, lines)
    write_lines(folder / "reference", reference)
    described = [f"{path}.json" for path in paths]
    files = {"systems": described, "translations": list(map(str, paths))}
    return {"references": [str(folder / "reference")], **files}


def table_command(test_sets: Mapping[str, Any], *outputs: str | Path, **comparison: Any) -> list[str]:
    """Return the command that makes the table of these test sets."""
    how = settings(test_sets=test_sets, comparison=comparison)
    return ["step", "table", *how, "--output", *map(str, outputs)]


def count_command(
    translation: str | Path,
    references: Sequence[str | Path],
    restoring: Sequence[str],
    outputs: Sequence[str | Path],
    tokenizer: str = "13a",
) -> list[str]:
    """Return the command that counts for scores; `outputs` are the plain text and the counts.

    `restoring` are the options for the preparation and, for text of our own systems, the recaser.
    """
    text, counts = map(str, outputs)
    files = ["--translation", str(translation), "--reference", *map(str, references)]
    written = ["--output-text", text, "--output", counts]
    return ["step", "count", *settings(tokenizer=tokenizer), *restoring, *files, *written]


def p_values(
    metric: TextMetric,
    baseline: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    trials: int = 10_000,
    seed: int = 1,
) -> dict[str, float]:
    """Test whether each system differs from a baseline; return p-values by name (see `Differences.p`)."""
    exchanges = Randomization(len(baseline), trials, seed)
    first = exchanges.exchange(metric.counts(baseline))
    return {
        name: differences(metric, first, exchanges.exchange(metric.counts(lines))).p
        for name, lines in systems.items()
    }
