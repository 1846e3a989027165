"""An iteration of tuning in a run, on the lists or forests of all sentences and iterations so far.

The next iteration decodes with the new weights and adds its lists to the existing ones; given lists are the
same in all iterations.
"""

from __future__ import annotations

from collections.abc import Sequence

from itersel.bleu.points import to_points
from itersel.config.learning_steps import TuneSettings
from itersel.config.tuners import Tuned
from itersel.errors import FilePath, short_name
from itersel.lists.files import FORMAT as LISTS
from itersel.lists.joining import find_tuning_files, join_files
from itersel.tune.forest_files import FORMAT as FORESTS
from itersel.tune.problem import ForestProblem, ListProblem, run_tuner, tuned_with
from itersel.tune.start_weights import start_weights_of_iteration
from itersel.tune.sums import sparse_sums
from itersel.vectors.weights import Weights, write_itersel_weights


def tune(
    settings: TuneSettings,
    paths: Sequence[FilePath],
    output: FilePath,
    *,
    start_weights: Weights | None = None,
    epoch_start: Weights | None = None,
) -> Tuned:
    """Tune on the lists or forests of all sentences and iterations so far, and write the weights.

    There must be one tuning file for each file of sentences, 0 to `files` - 1, and each of the iterations 1
    to `iteration`; of given lists, one for each file of sentences. With forests and `retune`,
    there is only `iteration`, because they contain the sums for the weights that they were decoded with.

    `start_weights` are those that decoded the newest lists, unless these are given lists (default: see
    `start_weights_of_iteration`); `epoch_start` are those that the epoch started from; see `TuningProblem`.
    """
    iteration = settings.iteration
    reads_forests = settings.tuner.reads_forests
    first = iteration if settings.retune and reads_forests else 1
    kind = FORESTS if reads_forests else LISTS
    files = find_tuning_files(paths, settings.files, range(first, iteration + 1), kind)

    start_weights = start_weights_of_iteration(start_weights, iteration, files[0].dense_names)
    sums = sparse_sums(start_weights, epoch_start) if settings.retune else ()
    seed = settings.seed, iteration
    problem: ListProblem | ForestProblem
    if reads_forests:
        problem = ForestProblem(files=files, start_weights=start_weights, sums=sums, seed=seed)
    else:
        table = join_files(files, settings.uses_sparse, settings.left_out_templates)
        problem = ListProblem.of_table(table, start_weights, sums, seed)

    result = run_tuner(settings.tuner, problem, short_name([file.path for file in files]))

    attributes = tuned_with(
        settings.tuner,
        settings.seed,
        {"lists": files[0].settings},
        iteration=iteration,
        files=settings.files,
        sentences=result.sentences,
        translations=result.translations,
        quality=to_points(result.quality),
    )
    write_itersel_weights(output, result.weights, attributes)
    return result
