"""Reorder n-best lists by given weights."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from itersel.arrays import Float64s, Int64s
from itersel.corpus.text import FIELD_SEPARATOR
from itersel.errors import FilePath
from itersel.nbest.lists import NBest, parse_object, read_nbest
from itersel.nbest.weights import as_weights
from itersel.storage.strings import sum_rows
from itersel.vectors.features import feature_keys
from itersel.vectors.weights import Weights, find_weights


def score_lists(lists: NBest, weights: Weights) -> Float64s:
    """Return the score of each translation, float64 (H): the dot product of its features and the weights."""
    weighted = find_weights(weights, feature_keys(lists.name))[lists.feature] * lists.value
    return sum_rows(weighted, lists.feature_offset)


def rescore(
    lists: Sequence[FilePath],
    weights: Weights | Mapping[str, float],
    *,
    scores: Mapping[str, FilePath] | None = None,
) -> list[str]:
    """Return the best translation of each sentence in n-best lists, as ``itersel rescore`` does.

    Parameters
    ----------
    lists, scores
        See `tune_nbest`.
    weights
        Feature weights; other features weigh 0.

    Raises
    ------
    InputError
        If the lists cannot be read.
    """
    read = read_nbest(lists, scores=scores)
    return list(best_texts(read, score_lists(read, as_weights(weights))))


def ranked(lists: NBest, score: Float64s, k_best: int) -> Iterator[Int64s]:
    """Yield the `k_best` best translations of each sentence, best first; ties keep the order of the list."""
    for begin, end in pairwise(lists.offset):
        yield begin + np.argsort(-score[begin:end], kind="stable")[:k_best]


def best_texts(lists: NBest, score: Float64s) -> Iterator[str]:
    """Yield the best translation of each sentence."""
    for rows in ranked(lists, score, 1):
        yield lists.text[rows[0]]


def rescored_lines(lists: NBest, score: Float64s, k_best: int) -> Iterator[str]:
    """Yield the lines of the `k_best` best translations of each sentence, with the new scores.

    Features that were added to the lists are not written.
    """
    for rows in ranked(lists, score, k_best):
        for row in rows.tolist():
            yield _with_score(lists.line[row], float(score[row]))


def _with_score(line: str, score: float) -> str:
    if line.startswith("{"):
        return json.dumps(parse_object(line) | {"score": score}, ensure_ascii=False)
    fields = line.split(FIELD_SEPARATOR)
    end = " " if fields[4:] else ""
    fields[3:4] = [f" {score:.12g}{end}"]
    fields[2] = f"{fields[2].rstrip()} "
    return FIELD_SEPARATOR.join(fields)
