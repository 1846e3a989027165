"""A trained system: its description, and its scores on devtest after each epoch."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from itersel.atomic import atomic_path
from itersel.corpus.columns import lines_of, pick, read_labels, require_label
from itersel.corpus.prepare import read_preparation, restore
from itersel.corpus.recase import read_recaser
from itersel.errors import FilePath, InputError
from itersel.evaluate.metrics import (
    CorpusScore,
    References,
    make_bleu,
    make_metrics,
    read_references,
    read_translations,
    score_corpus,
    signature,
)
from itersel.limits import TEXT_SCORES
from itersel.storage.json_files import from_json, read_json, write_json
from itersel.vectors.weights import read_weights

# Attributes that all runs of an experiment have in common.
OF_ALL_RUNS = ("name", "learner", "mixing", "tune_on", "features", "tasks", "shards")


@dataclass(frozen=True)
class System:
    """An experiment at its best epoch; settings are named as in the config."""

    name: str
    repeat: int  # from 1
    learner: str
    mixing: str
    tune_on: str
    features: str
    tasks: str
    shards: int
    epoch: int  # the best on devtest, from 1; the earliest in case of ties
    devtest_bleu: tuple[float, ...]  # after each epoch
    chosen_by: str  # the score by which the epoch was chosen
    devtest_scores: tuple[float, ...]  # that score after each epoch
    devtest: str  # the split on which it was chosen: ``devtest``, or that of a test set
    signature: str  # of sacrebleu, for `devtest_bleu`
    active_features: int  # nonzero weights at that epoch
    devtest_brevity_penalty: tuple[float, ...]  # after each epoch, 0 to 1
    passed_on: int  # number of last epochs that passed on the weights without training


def first_difference(one: System, other: System) -> str | None:
    """Return the name of an attribute in which two runs of an experiment wrongly differ, if any."""
    for key in (*OF_ALL_RUNS, "signature", "chosen_by"):
        if getattr(one, key) != getattr(other, key):
            return key
    return None if len(one.devtest_bleu) == len(other.devtest_bleu) else "epochs"


@dataclass(frozen=True)
class AsText:
    """How to score detokenised translations of devtest."""

    by: str  # one of `TEXT_SCORES`
    references: Sequence[str]  # the original ones
    preparation: str
    recaser: str
    tokenizer: str  # of sacrebleu


def score_epochs(
    reference: Sequence[FilePath],
    translations: Sequence[str],
    tokenize: str,
    labels: str | None = None,
    task: str | None = None,
) -> tuple[tuple[CorpusScore, ...], str]:
    """Return the scores of each epoch (on the lines of a task, if given), and their sacrebleu signature."""
    references = read_references(reference)
    lines = _scored_lines(references, reference, labels, task)
    metric = make_bleu([pick(one, lines) for one in references], tokenize)
    texts = (read_translations(path, references, reference[0]) for path in translations)
    scores = tuple(score_corpus(metric, pick(text, lines)) for text in texts)
    return scores, signature(metric)


def score_epochs_as_text(
    text: AsText, translations: Sequence[str], labels: str | None = None, task: str | None = None
) -> tuple[float, ...]:
    """Return the scores of the detokenised translations of each epoch; see `score_epochs`."""
    references = read_references(text.references)
    lines = _scored_lines(references, text.references, labels, task)
    metric = next(
        metric
        for metric in make_metrics([pick(one, lines) for one in references], text.tokenizer)
        if (metric.name, metric.case) == TEXT_SCORES[text.by]
    )
    preparation, recaser = read_preparation(text.preparation), read_recaser(text.recaser)
    scores = []
    for path in translations:
        chosen = pick(read_translations(path, references, text.references[0]), lines)
        scores.append(metric.score(metric.counts(restore(chosen, preparation, recaser))))
    return tuple(scores)


def _scored_lines(
    references: Sequence[References],
    paths: Sequence[FilePath],
    labels: str | None,
    task: str | None,
) -> Sequence[int]:
    """Return the numbers of the lines of a task, or of all lines."""
    count = len(references[0])
    if labels is None or task is None:
        return range(count)
    found = read_labels(labels, count, paths[0])
    require_label(found, task, labels)
    return lines_of(found, [task])


def keep_weights(weights: str, output: str) -> int:
    """Copy the weights of an epoch as those of the system, and return the number of nonzero weights."""
    active = int(np.count_nonzero(read_weights(weights).value))
    with atomic_path(output) as temporary:
        shutil.copyfile(weights, temporary)
    return active


def write_system(path: FilePath, system: System) -> None:
    """Write the description of a system as JSON."""
    write_json(path, asdict(system), indent=2, is_ascii=False)


def read_system(path: FilePath) -> System:
    """Read a description written by `write_system`."""
    try:
        system = from_json(System, read_json(path))
        scores = (system.devtest_bleu, system.devtest_scores, system.devtest_brevity_penalty)
        if not 1 <= system.epoch <= min(map(len, scores)) == max(map(len, scores)):
            raise ValueError("no such epoch")
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            "is not the description of a system; make it with 'itersel report choose'", path
        ) from None
    return system
