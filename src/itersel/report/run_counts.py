"""The references of a finished run, and the counts from which its scores are computed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from itersel.corpus.prepare import read_preparation
from itersel.corpus.text_names import split_of_test_set
from itersel.errors import InputError
from itersel.evaluate.counts import pool_counts, read_counts
from itersel.evaluate.formulas import Sums
from itersel.evaluate.metrics import Metric, make_tokenized_bleu
from itersel.evaluate.names import TOKENIZED_BLEU
from itersel.evaluate.texts import read_references, read_translations
from itersel.report.finished import FinishedRun
from itersel.report.folder import references_of, translation_of
from itersel.report.table_content import Score
from itersel.results import CORPUS, EXPERIMENTS, PREPARATION, TABLE, counts_file, detokenized_text
from itersel.storage.files import read_lines

# Scores that are recomputed from the counts differ from those in the table by rounding at most.
ROUNDING = 1e-6


def digest_of_references(run: FinishedRun) -> bytes:
    """Return a digest of the references of all test sets, however they were tokenised."""
    digest = hashlib.sha256()
    for name in run.test_set_names:
        for path in _references(run, name):
            for line in read_lines(path):
                digest.update(f"{''.join(line.split()).lower()}\n".encode())
            digest.update(b"\0")
    return digest.digest()


def _references(run: FinishedRun, test_set: str) -> list[Path]:
    found = references_of(run.folder / CORPUS, split_of_test_set(test_set))
    if not found:
        raise InputError(f"has no references of '{test_set}'; run snakemake again", run.folder)
    return found


def counts_of_scores(
    run: FinishedRun, scores: Mapping[str, Score], metric_name: str
) -> tuple[Metric, dict[str, list[Sums]]]:
    """Return a metric, and for each system the counts of its repeats, which must give its scores."""
    repeats = {name: run.repeat_folders(name) for name in scores}
    every = [repeat for names in repeats.values() for repeat in names]
    metric, counts = (
        _count_tokens(run, every) if metric_name == TOKENIZED_BLEU else _read_counts(run, every, metric_name)
    )

    for name, score in scores.items():
        for repeat, expected in zip(repeats[name], score.repeats, strict=True):
            if abs(metric.score(counts[repeat]) - expected) > ROUNDING:
                why = f"the score of {repeat} differs from the table; run snakemake again"
                raise InputError(why, run.folder / TABLE)
    return metric, {name: [counts[repeat] for repeat in names] for name, names in repeats.items()}


def _read_counts(
    run: FinishedRun, repeats: Sequence[str], metric_name: str
) -> tuple[Metric, dict[str, Sums]]:
    """Return a metric of detokenised text, and the counts of all test sets by folder of the repeat."""
    counts = {}
    for repeat in repeats:
        paths = [run.folder / counts_file(name, repeat) for name in run.test_set_names]
        pooled = pool_counts([read_counts(path).counts for path in paths])
        [metric] = (one for one in pooled if one.name == metric_name)
        counts[repeat] = pooled[metric]
    return metric, counts


def _count_tokens(run: FinishedRun, repeats: Sequence[str]) -> tuple[Metric, dict[str, Sums]]:
    """Return BLEU of tokenised text, and the counts of all test sets by folder of the repeat."""
    counts: dict[str, list[Sums]] = {repeat: [] for repeat in repeats}
    for name in run.test_set_names:
        paths = _references(run, name)
        references = read_references(paths)
        # tokenised once for all systems
        metric = make_tokenized_bleu(references, run.settings["evaluation"]["retokenize"])

        for repeat in repeats:
            text = read_translations(_translation(run, repeat, name), references, paths[0])
            if _is_output(run, repeat):
                # it is plain text
                text = read_preparation(run.folder / PREPARATION).prepare_cleaned_target(text)
            counts[repeat].append(metric.counts(text))

    # the formula does not depend on the references
    return metric, {repeat: np.vstack(parts) for repeat, parts in counts.items()}


def _translation(run: FinishedRun, repeat: str, test_set: str) -> Path:
    """Return the file of translations of a test set by a repeat or by another system."""
    if _is_output(run, repeat):
        return run.folder / detokenized_text(test_set, repeat)

    folder = run.folder / EXPERIMENTS / repeat
    path = translation_of(folder, test_set)
    if path is None:
        raise InputError(f"has no translations of '{test_set}'; run snakemake again", folder)
    return path


def _is_output(run: FinishedRun, name: str) -> bool:
    return name in run.systems and not run.systems[name].is_experiment
