"""Batch MIRA on k-best lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from itersel.config.conditions import TUNE_ON_TRAIN
from itersel.config.tuners import Batch, Tuned
from itersel.keys import documented, key

if TYPE_CHECKING:
    from itersel.tune.problem import ListProblem


@documented
@dataclass(frozen=True)
class KBestMira(Batch):
    """Batch MIRA on k-best lists (Cherry & Foster 2012)."""

    c: float = key("Maximum step size C.", 0.01, above=0, on={TUNE_ON_TRAIN: 0.001})
    passes: int = key("Number of passes over the lists; the best is used.", 60, minimum=1, maximum=10_000)
    decay: float = key(
        "Factor by which the background of BLEU decays after each sentence.", 0.999, above=0, maximum=1
    )

    def tune(self, problem: ListProblem) -> Tuned:
        """Tune; features that are in no list keep their weights.

        The result is the averaged weights of the pass whose best translations have the highest quality
        (`ListTable.quality_of_best`), the first if several are equally good.
        """
        import numpy as np

        from itersel.run.progress import progress
        from itersel.tune.mira_kernels import mean_weights, mira_lists, mira_pass, score_rows, start_state

        table = problem.table
        sparse = table.sparse.take(np.arange(table.translation_count))
        start = problem.start_with(sparse)
        lists = mira_lists(table)
        state = start_state(start)
        bits = np.random.PCG64(list(problem.seed))
        best = start
        highest = -np.inf

        for _ in progress(range(self.passes), "k-best MIRA, passes"):
            order = np.argsort(bits.random_raw(table.sentence_count), kind="stable")
            mira_pass(lists, sparse, state, order, self.c, self.decay)

            weights = mean_weights(state)
            quality = table.quality_of_best(score_rows(table.dense, sparse, weights))
            if quality > highest:
                best = weights
                highest = quality

        return problem.tuned(problem.weights(best, sparse, 1.0), highest)
