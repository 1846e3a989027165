"""Run a batch tuner: check its input, and write its weights.

A tuner reads lists or forests. The next iteration decodes with its weights and adds new lists to the existing
ones, unless the lists are another decoder's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import itersel
from itersel.config.options import name_in
from itersel.config.plain import recorded
from itersel.config.steps import TuneSettings
from itersel.config.tuners import HELD_OUT_TUNERS, Batch
from itersel.errors import FilePath, InputError, located
from itersel.lists.files import FORMAT as LISTS
from itersel.lists.joining import find_files, join_files
from itersel.lists.reading import short_name
from itersel.lists.table import ListTable
from itersel.tune.forests import FORMAT as FORESTS
from itersel.tune.generate import START, SUM, start_weights
from itersel.tune.task import ForestFiles, Task, Tuned, elsewhere, with_sums
from itersel.vectors.weights import Weights, check_magnitude, make_weights, write_weights


def _check_task(tuner: Batch, task: Task) -> None:
    """Raise an InputError if the tuner cannot tune the sparse features of lists, forests or start weights."""
    lists, only_dense = task.lists, f"{name_in(HELD_OUT_TUNERS, tuner)} tunes only dense features"

    if isinstance(lists, ForestFiles):
        if (SUM in lists.dense_names) != bool(task.sums):
            wanted = "all" if task.sums else "dense"
            raise InputError(f"recreate these forests with features: {wanted}", lists.files[0].path)
    elif tuner.searches and not lists.sparse.is_empty:
        raise InputError(
            f"{only_dense}, but the lists have sparse ones; set features: dense, or choose another tuner"
        )

    if not tuner.searches or task.sums:
        return
    others = elsewhere(task.before, make_weights(dict.fromkeys((*lists.dense_names, *START), 0.0)))
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
    before: Weights | None = None,
    last: Weights | None = None,
) -> Tuned:
    """Tune on the lists or forests of all shards and iterations so far, and write the weights.

    There must be one file for each of the shards 0 to `shards` - 1 and the iterations 1 to `iteration`; of
    another decoder's lists, one for each shard. With forests and `sum_sparse`, there is only `iteration`,
    because they contain the sums for the weights that they were decoded with.

    `before` are the weights that the newest lists were decoded with (default: the start weights
    of the first iteration), `last` the weights of the previous epoch; see `Task`.
    """
    name, iteration = name_in(HELD_OUT_TUNERS, settings.tuner), settings.iteration
    if before is None and iteration > 1:
        raise InputError(f"iteration {iteration} needs --previous, the weights used to decode its lists")

    reads_forests = settings.tuner.reads_forests
    first = iteration if settings.sum_sparse and reads_forests else 1
    kind = FORESTS if reads_forests else LISTS
    files = find_files(paths, settings.shards, range(first, iteration + 1), kind)

    before = start_weights(files[0].dense_names) if before is None else before
    sums = tuple(one for one in (before, last) if one is not None) if settings.sum_sparse else ()
    lists: ListTable | ForestFiles
    lists = ForestFiles(files) if reads_forests else with_sums(join_files(files, settings.features), sums)

    task = Task(lists, before, sums, (settings.seed, iteration))
    result = tune_task(settings.tuner, task, short_name([file.path for file in files]))

    tuned_with = {"tuner": name, "seed": settings.seed, **recorded(settings.tuner)}
    tuned_with["lists"] = json.loads(files[0].settings)
    attributes = {
        "kind": "mixed-weights",
        "version": itersel.__version__,
        "settings": json.dumps(tuned_with, sort_keys=True),
        "tuner": name,
        "iteration": iteration,
        "shards": settings.shards,
        "sentences": result.sentences,
        "translations": result.translations,
        "bleu": result.score,
    }

    write_weights(output, result.weights, attributes)
    return result


def tune_task(settings: Batch, task: Task, source: str) -> Tuned:
    """Tune; errors name the source of the lists."""
    check_magnitude(task.before, " at the start", "start from smaller weights")
    has_quality = isinstance(task.lists, ListTable) and task.lists.quality.shape[0] > 0

    with located(source):
        _check_task(settings, task)
        result = settings.tune(task)
        if settings.searches and result.score == 0.0 and not has_quality:
            raise InputError(
                "BLEU is 0 for all weights tried; decode with better weights, larger lists or denser forests"
            )

    name = name_in(HELD_OUT_TUNERS, settings)
    check_magnitude(result.weights, f" from tuner {name}", "regularise more, or choose smaller steps")
    return result
