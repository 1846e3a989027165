"""A trained system: what it is, and how it did on devtest after each epoch."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from itersel.errors import InputError
from itersel.evaluate.bleu import make_bleu, read_references, read_translations, score_corpus, signature
from itersel.report.labels import check_occurs, lines_of, pick, read_labels
from itersel.storage.files import atomic_path, write_lines
from itersel.storage.json_files import from_json, read_json
from itersel.vectors.weights import read_weights

# What the runs of one experiment have in common.
OF_ALL_RUNS = ("name", "learner", "mixing", "tune_on", "features", "tasks", "shards")


@dataclass(frozen=True)
class System:
    """An experiment at its best epoch.

    Attributes
    ----------
    name, learner, mixing, tune_on, features, tasks, shards
        As in the config.
    repeat
        Which of the runs of the experiment it is, from 1.
    epoch
        The best on devtest, from 1; of equal ones the earliest.
    devtest_bleu
        After each epoch.
    devtest
        The split that the epoch was chosen on: ``devtest``, or that of a test set.
    signature
        sacrebleu's signature of these scores.
    active_features
        Features whose weight is not zero at that epoch.
    """

    name: str
    repeat: int
    learner: str
    mixing: str
    tune_on: str
    features: str
    tasks: str
    shards: int
    epoch: int
    devtest_bleu: tuple[float, ...]
    devtest: str
    signature: str
    active_features: int


def first_difference(one: System, other: System) -> str | None:
    """Return what two runs of an experiment ought to have in common, and have not."""
    for key in (*OF_ALL_RUNS, "signature"):
        if getattr(one, key) != getattr(other, key):
            return key
    return None if len(one.devtest_bleu) == len(other.devtest_bleu) else "epochs"


def choose_epoch(bleu: Sequence[float]) -> int:
    """Return the epoch (from 1) of the highest score, the earliest of equal ones."""
    return max(range(len(bleu)), key=lambda epoch: (bleu[epoch], -epoch)) + 1


def score_epochs(
    reference: Sequence[str | os.PathLike[str]],
    translations: Sequence[str],
    tokenize: str,
    labels: str | None = None,
    task: str | None = None,
) -> tuple[tuple[float, ...], str]:
    """Return BLEU of the translations of each epoch, and sacrebleu's signature.

    With `task`, and `labels` as the file with the label of each line, only the lines of the task are scored.

    Raises
    ------
    InputError
        If the files differ in their number of lines, or no line is of the task.
    """
    references = read_references(reference)
    lines: Sequence[int] = range(len(references[0]))
    if labels is not None and task is not None:
        found = read_labels(labels, [task], len(references[0]), reference[0])
        check_occurs(labels, found, [task])
        lines = lines_of(found, [task])
    metric = make_bleu([pick(one, lines) for one in references], tokenize)
    texts = (read_translations(path, references, reference[0]) for path in translations)
    bleu = tuple(score_corpus(metric, pick(text, lines)).bleu for text in texts)
    return bleu, signature(metric)


def keep_weights(weights: str, output: str) -> int:
    """Copy the weights of an epoch to be those of the system; returns the number of nonzero ones."""
    active = int(np.count_nonzero(read_weights(weights).value))
    with atomic_path(output) as temporary:
        shutil.copyfile(weights, temporary)
    return active


def write_system(path: str | os.PathLike[str], system: System) -> None:
    """Write the description of a system as JSON."""
    write_lines(path, [json.dumps(asdict(system), indent=2, ensure_ascii=False)])


def read_system(path: str | os.PathLike[str]) -> System:
    """Read what `write_system` wrote.

    Raises
    ------
    InputError
        If the file is something else.
    """
    try:
        system = from_json(System, read_json(path))
        if not 1 <= system.epoch <= len(system.devtest_bleu):
            raise ValueError("no such epoch")
    except (ValueError, OverflowError):
        raise InputError(
            "is not the description of a system; make it with 'itersel report choose'", path
        ) from None
    return system
