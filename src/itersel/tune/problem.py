"""What a batch tuner gets, and running it with checks of its input and its result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from itersel.config.plain import recorded
from itersel.config.tuners import ALL_TUNERS, Batch, Tuned
from itersel.errors import InputError, located
from itersel.keys import name_in
from itersel.lists.headers import TuningFile
from itersel.lists.table import ListTable, rounded
from itersel.storage.arrays import Float64s
from itersel.storage.provenance import TUNED_WEIGHTS, made_with
from itersel.tune.start_weights import START_WEIGHTS
from itersel.tune.sums import EPOCH_START_SUM, SPARSE_SUM, SparseSum, with_sums
from itersel.vectors.feature_names import ALL_FEATURES, DENSE
from itersel.vectors.features import common_features, refuse_shared
from itersel.vectors.sparse_rows import SparseRows
from itersel.vectors.weights import (
    Weights,
    check_magnitude,
    find_named,
    find_weights,
    make_weights,
    nonzero,
    take_weights,
    weighted_sum,
)


@dataclass(frozen=True, kw_only=True)
class TuningProblem(ABC):
    """What all tuners get.

    The C columns are the dense features and, to retune mixed weights, one or two sums of sparse features.
    """

    # they have decoded the newest lists, unless these are given lists
    start_weights: Weights
    # To retune mixed weights, the sums of sparse features: with the start weights and, for the line
    # search between the two, with those that the epoch started from.
    sums: tuple[SparseSum, ...] = ()
    seed: tuple[int, ...] = ()

    @property
    @abstractmethod
    def dense_names(self) -> tuple[str, ...]:
        """Names of the columns that are in lists or forests."""

    @property
    def features(self) -> list[str]:
        """Names of the dense features, the first columns."""
        return [name for name in self.dense_names if name not in (SPARSE_SUM, EPOCH_START_SUM)]

    @property
    def start(self) -> Float64s:
        """Start weights of the columns, float64 (C)."""
        return np.append(find_named(self.start_weights, self.features), [one.start for one in self.sums])

    def weights(self, value: Float64s, sparse: SparseRows | None = None, rest: float = 0.0) -> Weights:
        """Return the weights of individual features, without zeros.

        `value`, float64 (C + F), are the weights of the columns and of the sparse features, whose names are
        in `sparse`; `rest` is the factor of the weights of all other features. If sparse features are summed,
        the weights of the sums are the factors instead.
        """
        columns = len(self.features)
        dense = make_weights(dict(zip(self.features, value[:columns].tolist(), strict=True)))
        tuned = [dense]
        if sparse is not None:
            refuse_shared(dense.key, dense.name, sparse.key, sparse.name)
            sparse_value = value[value.shape[0] - sparse.key.shape[0] :]
            tuned.append(Weights(sparse.key, sparse_value, sparse.name))

        others = [self.start_weights]
        factors = [rest]
        if self.sums:
            others = [one.weights for one in self.sums]
            factors = value[columns : columns + len(self.sums)].tolist()
        for part in tuned:
            others = [elsewhere(one, part) for one in others]

        return nonzero(weighted_sum([*tuned, *others], [1.0] * len(tuned) + factors))


@dataclass(frozen=True, kw_only=True)
class ListProblem(TuningProblem):
    """Tuning on n-best lists.

    Unless they are summed, the F sparse features of the lists are tuned one by one.
    """

    table: ListTable

    @classmethod
    def of_table(
        cls,
        table: ListTable,
        start_weights: Weights,
        sums: Sequence[SparseSum] = (),
        seed: tuple[int, ...] = (),
    ) -> ListProblem:
        """Return the problem of tuning on lists, with a column for each sum instead of sparse features.

        Dense features are rounded to `TUNER_DIGITS`.
        """
        table = with_sums(table, sums)
        table = table._replace(dense=rounded(table.dense))
        return cls(table=table, start_weights=start_weights, sums=tuple(sums), seed=seed)

    @property
    def dense_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.table.dense_names

    def start_with(self, sparse: SparseRows) -> Float64s:
        """Return the start weights of columns and sparse features, float64 (C + F)."""
        return np.append(self.start, find_weights(self.start_weights, sparse.key))

    def tuned(self, weights: Weights, quality: float) -> Tuned:
        """Return the result of tuning on lists; its quality is that of `ListTable.quality_of_best`."""
        return Tuned(weights, quality, self.table.sentence_count, self.table.translation_count)


@dataclass(frozen=True, kw_only=True)
class ForestProblem(TuningProblem):
    """Tuning on the forests of all sentences and iterations."""

    files: Sequence[TuningFile]  # as returned by `itersel.lists.joining.find_tuning_files`

    @property
    def dense_names(self) -> tuple[str, ...]:
        """Names of the dense features, which are the same in all files, and of a sum."""
        return self.files[0].dense_names


def elsewhere(weights: Weights, known: Weights) -> Weights:
    """Return the weights of all features that `known` does not have."""
    is_elsewhere = np.ones(weights.key.shape[0], bool)
    is_elsewhere[common_features(known.key, known.name, weights.key, weights.name)[1]] = False
    return take_weights(weights, is_elsewhere)


def run_tuner(tuner: Batch, problem: ListProblem | ForestProblem, name: str) -> Tuned:
    """Tune; `name` is that of the lists or forests, in messages."""
    check_magnitude(problem.start_weights, " at the start", "start from smaller weights")
    has_quality = isinstance(problem, ListProblem) and problem.table.has_quality

    with located(name):
        _check_problem(tuner, problem)
        result = tuner.tune(problem)
        if tuner.searches_lines and result.quality == 0.0 and not has_quality:
            raise InputError(
                "BLEU is 0 for all weights tried; decode with better weights, larger lists or denser forests"
            )

    tuner_name = name_in(ALL_TUNERS, tuner)
    check_magnitude(result.weights, f" from tuner {tuner_name}", "regularise more, or choose smaller steps")
    return result


def _check_problem(tuner: Batch, problem: ListProblem | ForestProblem) -> None:
    """Raise an InputError if the tuner cannot tune the sparse features of lists, forests or start weights."""
    only_dense = f"{name_in(ALL_TUNERS, tuner)} tunes only dense features"

    if isinstance(problem, ForestProblem):
        if (SPARSE_SUM in problem.dense_names) != bool(problem.sums):
            wanted = ALL_FEATURES if problem.sums else DENSE
            raise InputError(f"recreate these forests with features: {wanted}", problem.files[0].path)
    elif tuner.searches_lines and not problem.table.sparse.is_empty:
        raise InputError(
            f"{only_dense}, but the lists have sparse ones; set features: dense, or choose another tuner"
        )

    if not tuner.searches_lines or problem.sums:
        return
    dense = make_weights(dict.fromkeys((*problem.dense_names, *START_WEIGHTS), 0.0))
    others = elsewhere(problem.start_weights, dense)
    if others.key.shape[0]:
        raise InputError(
            f"the start weights have a sparse feature, '{others.name.get(0)}', but {only_dense}; set "
            "retune, or start from dense weights"
        )


def tuned_with(
    tuner: Batch, seed: int, other: Mapping[str, Any], **more: str | int | float
) -> dict[str, Any]:
    """Return the attributes of weights that a tuner has found, given its seed and `other` settings."""
    name = name_in(ALL_TUNERS, tuner)
    every = {"tuner": name, "seed": seed, **recorded(tuner), **other}
    return made_with(TUNED_WEIGHTS, every, tuner=name, **more)
