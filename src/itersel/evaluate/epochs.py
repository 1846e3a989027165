"""Choose the best epoch on devtest, and decide when to stop training because devtest scores stagnate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from itersel.errors import FilePath, checked
from itersel.evaluate.names import sign_of
from itersel.storage.json_files import as_content, from_content, read_json, write_json


def index_of_best(scores: Sequence[float], by: str) -> int:
    """Return the index of the best score by a metric, the first in case of ties."""
    sign = sign_of(by)
    return max(range(len(scores)), key=lambda index: (sign * scores[index], -index))


@dataclass(frozen=True)
class ChosenEpoch:
    """The epoch that was chosen on devtest, and the scores by which it was chosen."""

    epoch: int  # the best on devtest, from 1; the earliest in case of ties
    devtest_tokenized_bleu: tuple[float, ...]  # after each epoch
    chosen_by: str  # the score by which the epoch was chosen
    devtest_scores: tuple[float, ...]  # that score after each epoch
    devtest: str  # the split on which it was chosen: ``devtest``, or the devtest of a test set
    signature: str  # of sacrebleu, for `devtest_tokenized_bleu`
    active_features: int  # nonzero weights at that epoch
    devtest_brevity_penalty: tuple[float, ...]  # after each epoch, 0 to 1
    untrained_epochs: int  # the last epochs, which passed on the weights without training


@dataclass(frozen=True)
class Decision:
    """Whether training has stopped, and the scores on devtest after each epoch so far."""

    scores: tuple[float, ...]
    stopped: bool


def next_decision(before: Decision | None, score: float, patience: int, by: str) -> Decision:
    """Return the decision after another epoch.

    Training stops when none of the last `patience` epochs is better than all before, and stays stopped.
    """
    scores = (*(before.scores if before else ()), score)
    stopped = before is not None and before.stopped
    epochs_since = len(scores) - 1 - index_of_best(scores, by)
    return Decision(scores, stopped or epochs_since >= patience)


def write_decision(path: FilePath, decision: Decision) -> None:
    """Write the scores and the decision as JSON."""
    write_json(path, as_content(decision), indent=2)


def read_decision(path: FilePath) -> Decision:
    """Read a file written by `write_decision`."""
    with checked(path, "is not a decision; make it with 'itersel step patience'"):
        return from_content(Decision, read_json(path))
