"""Run a batch tuner: check its input, and write its weights.

A tuner reads lists or forests. The next iteration decodes with its weights and adds new lists to the existing
ones, unless the lists are another decoder's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from itersel.config.options import name_in
from itersel.config.plain import recorded
from itersel.config.steps import TuneSettings
from itersel.config.tuners import RETUNERS, Batch
from itersel.errors import FilePath, InputError, located
from itersel.lists.files import FORMAT as LISTS
from itersel.lists.joining import find_files, join_files
from itersel.lists.reading import short_name
from itersel.storage.provenance import TUNED_WEIGHTS, made_with
from itersel.tune.forest_files import FORMAT as FORESTS
from itersel.tune.problem import ForestProblem, ListProblem, Tuned, elsewhere
from itersel.tune.start_weights import START_WEIGHTS, start_weights
from itersel.tune.sums import SPARSE_SUM, sparse_sums
from itersel.vectors.weights import Weights, check_magnitude, make_weights, write_itersel_weights


def _check_problem(tuner: Batch, problem: ListProblem | ForestProblem) -> None:
    """Raise an InputError if the tuner cannot tune the sparse features of lists, forests or start weights."""
    only_dense = f"{name_in(RETUNERS, tuner)} tunes only dense features"

    if isinstance(problem, ForestProblem):
        if (SPARSE_SUM in problem.dense_names) != bool(problem.sums):
            wanted = "all" if problem.sums else "dense"
            raise InputError(f"recreate these forests with features: {wanted}", problem.files[0].path)
    elif tuner.searches and not problem.table.sparse.is_empty:
        raise InputError(
            f"{only_dense}, but the lists have sparse ones; set features: dense, or choose another tuner"
        )

    if not tuner.searches or problem.sums:
        return
    dense = make_weights(dict.fromkeys((*problem.dense_names, *START_WEIGHTS), 0.0))
    others = elsewhere(problem.decoded_with, dense)
    if others.key.shape[0]:
        raise InputError(
            f"the start weights have a sparse feature, '{others.name.get(0)}', but {only_dense}; set "
            "sum_sparse, or start from dense weights"
        )


def tune(
    settings: TuneSettings,
    paths: Sequence[FilePath],
    output: FilePath,
    *,
    decoded_with: Weights | None = None,
    epoch_start: Weights | None = None,
) -> Tuned:
    """Tune on the lists or forests of all shards and iterations so far, and write the weights.

    There must be one file for each of the shards 0 to `shards` - 1 and the iterations 1 to `iteration`; of
    another decoder's lists, one for each shard. With forests and `sum_sparse`, there is only `iteration`,
    because they contain the sums for the weights that they were decoded with.

    `decoded_with` are the weights that decoded the newest lists (default: the start weights of the
    first iteration), `epoch_start` those that the epoch started from; see `TuningProblem`.
    """
    iteration = settings.iteration
    if decoded_with is None and iteration > 1:
        raise InputError(f"iteration {iteration} needs --decoded-with, the weights that decoded its lists")

    reads_forests = settings.tuner.reads_forests
    first = iteration if settings.sum_sparse and reads_forests else 1
    kind = FORESTS if reads_forests else LISTS
    files = find_files(paths, settings.shards, range(first, iteration + 1), kind)

    decoded_with = start_weights(files[0].dense_names) if decoded_with is None else decoded_with
    sums = sparse_sums(decoded_with, epoch_start) if settings.sum_sparse else ()
    seed = settings.seed, iteration
    problem: ListProblem | ForestProblem
    if reads_forests:
        problem = ForestProblem(files=files, decoded_with=decoded_with, sums=sums, seed=seed)
    else:
        table = join_files(files, settings.features, settings.left_out_templates)
        problem = ListProblem.of_table(table, decoded_with, sums, seed)

    result = run_tuner(settings.tuner, problem, short_name([file.path for file in files]))

    attributes = tuned_with(
        settings.tuner,
        settings.seed,
        {"lists": json.loads(files[0].settings)},
        iteration=iteration,
        shards=settings.shards,
        sentences=result.sentences,
        translations=result.translations,
        quality=100 * result.quality,
    )
    write_itersel_weights(output, result.weights, attributes)
    return result


def tuned_with(
    tuner: Batch, seed: int, other: Mapping[str, Any], **more: str | int | float
) -> dict[str, Any]:
    """Return the attributes of weights that a tuner has found, given its seed and `other` settings."""
    name = name_in(RETUNERS, tuner)
    every = {"tuner": name, "seed": seed, **recorded(tuner), **other}
    return made_with(TUNED_WEIGHTS, every, tuner=name, **more)


def run_tuner(tuner: Batch, problem: ListProblem | ForestProblem, source: str) -> Tuned:
    """Tune; errors name the source of the lists or forests."""
    check_magnitude(problem.decoded_with, " at the start", "start from smaller weights")
    has_quality = isinstance(problem, ListProblem) and problem.table.has_quality

    with located(source):
        _check_problem(tuner, problem)
        result = tuner.tune(problem)
        if tuner.searches and result.quality == 0.0 and not has_quality:
            raise InputError(
                "BLEU is 0 for all weights tried; decode with better weights, larger lists or denser forests"
            )

    name = name_in(RETUNERS, tuner)
    check_magnitude(result.weights, f" from tuner {name}", "regularise more, or choose smaller steps")
    return result
