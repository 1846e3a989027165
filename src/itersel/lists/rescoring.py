"""n-best lists reordered by weights."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from itersel.corpus.text import FIELD_SEPARATOR
from itersel.errors import FilePath, InputError
from itersel.lists.lines import (
    LineParser,
    check_present,
    features_field,
    listed_translations,
    parse_object,
    score_field,
    split_fields,
)
from itersel.lists.numbers import read_further_features
from itersel.lists.reading import ReadLists, read_lists
from itersel.lists.table import ListTable, Ranking
from itersel.lists.weights import given_weights
from itersel.vectors.weights import Weights


def rescore(
    lists: Sequence[FilePath],
    weights: Weights | Mapping[str, float] | FilePath,
    *,
    features: Mapping[str, FilePath | ArrayLike] | None = None,
) -> list[str]:
    """Return the best translation of each sentence in n-best lists, as ``itersel rescore`` does.

    Parameters
    ----------
    lists, features
        See `tune_nbest`.
    weights
        Feature weights, or a file of them; all other weights are 0.

    Raises
    ------
    InputError
        If the lists cannot be read, if the number of values of a feature function differs from that
        of its weights, or if no feature has a weight.
    """
    found = lists_with_weights(lists, weights, features)
    return list(found.lists.table.best_texts(found.weights))


class WeightedLists(NamedTuple):
    """Lists, and the weights for their features."""

    lists: ReadLists
    weights: Weights
    absent: Sequence[str]  # features with a weight that are in no list


def lists_with_weights(
    paths: Sequence[FilePath],
    weights: Weights | Mapping[str, float] | FilePath,
    features: Mapping[str, FilePath | ArrayLike] | None = None,
    has_lines: bool = False,
) -> WeightedLists:
    """Read lists and weights that fit each other; see `rescore` and `read_lists`."""
    # before the lists, which take longest
    given = given_weights(weights)
    further = read_further_features(features or {})

    read = read_lists(paths, further_features=further, has_lines=has_lines)
    checked = given.checked_against(read.features)
    listed, absent = read.features.split(checked)
    if not listed.key.shape[0]:
        raise InputError(
            "no feature in the lists has a weight; use the weights of their features", given.path
        )
    return WeightedLists(read, checked, sorted(absent.to_dict()))


def first_texts(paths: Sequence[FilePath]) -> list[str]:
    """Return the first translation of each sentence in n-best lists, which their decoder ranked highest."""
    parser = LineParser()
    first = dict[int, str]()
    for translation in parser.translations(listed_translations(paths)):
        first.setdefault(translation.sentence, translation.text)
    check_present(np.array(sorted(first), np.int64), None, paths[0])
    return [first[sentence] for sentence in sorted(first)]


def rescored_lines(
    lists: ReadLists, weights: Weights, k_best: int, ranking: Ranking = ListTable.ranked
) -> Iterator[str]:
    """Yield the lines of the `k_best` best translations of each sentence, with the new scores.

    Features that were added to the lists are not written.
    """
    score = lists.table.scores(weights)
    for rows in ranking(lists.table, score, k_best):
        for row in rows.tolist():
            yield _with_score(lists.line[row], float(score[row]))


def _with_score(line: str, score: float) -> str:
    if line.startswith("{"):
        return json.dumps(parse_object(line) | {"score": score}, ensure_ascii=False)
    fields = split_fields(line)
    field = score_field(fields, features_field(fields))
    end = " " if fields[field + 1 :] else ""
    fields[field : field + 1] = [f" {score:.12g}{end}"]
    fields[field - 1] = f"{fields[field - 1].rstrip()} "
    return FIELD_SEPARATOR.join(fields)
