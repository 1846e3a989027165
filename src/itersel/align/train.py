"""Trains alignment models in both directions in parallel, and aligns the training text with them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from itersel.align.direction import Answer, SentenceLengthError, Task
from itersel.align.pharaoh import Point
from itersel.errors import InputError


def align(
    source: Sequence[Sequence[str]], target: Sequence[Sequence[str]], model: str = "eflomal", seed: int = 1
) -> tuple[list[list[Point]], list[list[Point]]]:
    """Train a model in both directions and return the alignments of both.

    Parameters
    ----------
    source, target
        Tokenised sentences, equally many on both sides. A pair with an empty side gets no points.
    model
        One of `itersel.align.direction.MODELS`.
    seed
        Seed of eflomal's sampler; the other models are deterministic.

    Returns
    -------
    forward, reverse
        Points (source, target) of each pair; see `itersel.align.symmetrize`.

    Raises
    ------
    SentenceLengthError
        If a sentence is longer than the model accepts.
    InputError
        If the aligner is not installed, or a training process failed.
    """
    if importlib.util.find_spec("thot") is None:
        raise InputError(
            "word alignment needs the package sil-thot: pip install 'itersel[align]', or provide your own "
            "alignments (data.train.alignment)"
        )
    full = [index for index in range(len(source)) if source[index] and target[index]]
    left, right = (_numbered([side[index] for index in full]) for side in (source, target))
    # both directions take about the same time
    tasks = [Task(model, seed, left, right, True), Task(model, seed, right, left, False)]
    try:
        with ThreadPoolExecutor() as pool:
            forward_origins, reverse_origins = pool.map(_run, tasks)
    except SentenceLengthError as error:
        raise SentenceLengthError(full[error.pair], error.limit) from None
    forward: list[list[Point]] = [[] for _ in source]
    reverse: list[list[Point]] = [[] for _ in source]
    for index, origins in zip(full, forward_origins, strict=True):
        forward[index] = [(i - 1, j) for j, i in enumerate(origins) if i]
    for index, origins in zip(full, reverse_origins, strict=True):
        reverse[index] = [(i, j - 1) for i, j in enumerate(origins) if j]
    return forward, reverse


def _numbered(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the sentences with words replaced by numbers: thot reserves words such as ``NULL``."""
    numbers: dict[str, str] = {}
    return [[numbers.setdefault(word, str(len(numbers))) for word in sentence] for sentence in sentences]


def _run(task: Task) -> list[list[int]]:
    if not task.given:
        return []
    command = [sys.executable, "-P", "-m", "itersel.align.direction"]
    # Only standard error is shared: a child whose parent was killed stops when it writes its result.
    child = subprocess.run(
        command, input=json.dumps(task._asdict()).encode(), stdout=subprocess.PIPE, check=False
    )
    if child.returncode != 0:
        raise InputError(f"training of {task.model} failed with status {child.returncode}; out of memory?")
    answer = Answer(**json.loads(child.stdout))
    if answer.too_long is not None:
        raise SentenceLengthError(*answer.too_long)
    assert answer.origins is not None
    return answer.origins
