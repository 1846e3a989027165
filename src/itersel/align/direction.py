"""One direction of an alignment model of sil-thot, in a process of its own.

``python -m itersel.align.direction`` reads a `Task` from standard input and writes its `Answer` to standard
output, both as JSON. A process of its own, because thot keeps Python's lock while it
trains, and because its OpenMP threads, whose number is fixed when it is loaded, add up expectations in
whatever order they end: with more than one, the last bits, then the links, would depend on the machine.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from itersel.progress import progress

if TYPE_CHECKING:
    from thot.alignment import AlignmentModel

Model = TypeVar("Model", bound="AlignmentModel")
Sentences = list[list[str]]

MODELS = ("eflomal", "fast_align", "hmm", "ibm4")
# fast_align: Dyer, Chahuneau & Smith 2013. The others: what Moses has GIZA++ do.
FAST_ALIGN_ITERATIONS = 5
IBM1_ITERATIONS = 5
HMM_ITERATIONS = 5
IBM3_ITERATIONS = 3
IBM4_ITERATIONS = 3


class SentenceLengthError(Exception):
    """A sentence pair is too long for the model, which would leave it unaligned without a word.

    Parameters
    ----------
    pair
        Which one, counted from 0.
    limit
        The most tokens a side.
    """

    def __init__(self, pair: int, limit: int) -> None:
        super().__init__(pair, limit)
        self.pair, self.limit = pair, limit


class Task(NamedTuple):
    """What to train, on what.

    Attributes
    ----------
    model
        One of `MODELS`.
    seed
        Of eflomal's sampler.
    given, generated
        Sentences, none empty: every word of `generated` comes from one of `given` or from nowhere.
    report
        Show progress on standard error.
    """

    model: str
    seed: int
    given: Sentences
    generated: Sentences
    report: bool


class Answer(NamedTuple):
    """What became of a task: the result of `generate`, or the arguments of its `SentenceLengthError`."""

    origins: list[list[int]] | None
    too_long: tuple[int, int] | None = None


def generate(task: Task) -> list[list[int]]:
    """Return for each word of `generated` the position + 1 of the word of `given` it comes from, or 0.

    Raises
    ------
    SentenceLengthError
        If a sentence is longer than the model accepts.
    """
    return _eflomal(task) if task.model == "eflomal" else _expectation_maximization(task)


def _eflomal(task: Task) -> list[list[int]]:
    """Sample alignments; the number of sweeps grows as the corpus shrinks (Östling & Tiedemann 2016)."""
    from thot.alignment import EflomalAlignmentModel

    model = EflomalAlignmentModel()
    model.deterministic = True
    model.seed = task.seed
    # The links that the samples of the training text favour, as eflomal prints them, not those of a decoder.
    model.emit_training_alignments = True
    _fill(model, task)
    model.start_training()
    # Only now does the model know the size of its corpus.
    _iterate(model, model.scheduled_iterations, task)
    return [model.get_training_alignment(index)[1].to_list() for index in range(len(task.given))]


def _expectation_maximization(task: Task) -> list[list[int]]:
    """Train the named model, after the simpler ones that it starts from, and take its best alignments."""
    import thot.alignment as thot

    if task.model == "fast_align":
        model: AlignmentModel = _fill(thot.FastAlignModel(), task)
        _train(model, FAST_ALIGN_ITERATIONS, task)
    else:
        ibm1 = _train(_fill(thot.Ibm1AlignmentModel(), task), IBM1_ITERATIONS, task)
        model = hmm = thot.HmmAlignmentModel(ibm1)
        _check_lengths(hmm, task)
        _train(hmm, HMM_ITERATIONS, task)
        if task.model == "ibm4":
            ibm3 = _train(thot.Ibm3AlignmentModel(hmm), IBM3_ITERATIONS, task)
            model = _train(thot.Ibm4AlignmentModel(ibm3), IBM4_ITERATIONS, task)
    return [matrix.to_list() for _, matrix in model.get_best_alignments(task.given, task.generated)]


def _fill(model: Model, task: Task) -> Model:
    _check_lengths(model, task)
    for given, generated in zip(task.given, task.generated, strict=True):
        model.add_sentence_pair(given, generated, 1)
    return model


def _check_lengths(model: AlignmentModel, task: Task) -> None:
    limit = model.max_sentence_length
    for index, pair in enumerate(zip(task.given, task.generated, strict=True)):
        if max(map(len, pair)) > limit:
            raise SentenceLengthError(index, limit)


def _train(model: Model, iterations: int, task: Task) -> Model:
    model.start_training()
    _iterate(model, iterations, task)
    return model


def _iterate(model: AlignmentModel, iterations: int, task: Task) -> None:
    numbers = range(iterations)
    for _ in progress(numbers, f"{type(model).__name__}, iterations") if task.report else numbers:
        model.train()
    model.end_training()


def _main() -> None:
    # Only the result may reach standard output; what a library prints goes to standard error.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Before thot is loaded: its OpenMP library reads this once.
    os.environ["OMP_NUM_THREADS"] = "1"
    task = Task(**json.load(sys.stdin.buffer))
    try:
        answer = Answer(generate(task))
    except SentenceLengthError as error:
        answer = Answer(None, (error.pair, error.limit))
    with output:
        output.write(json.dumps(answer._asdict()).encode())


if __name__ == "__main__":
    _main()
