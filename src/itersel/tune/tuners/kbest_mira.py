"""Batch MIRA on k-best lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from itersel.config.options import documented, option
from itersel.config.tuners import Batch

if TYPE_CHECKING:
    from itersel.tune.problem import Tuned, TuningProblem


@documented
@dataclass(frozen=True)
class KBestMira(Batch):
    """Batch MIRA on k-best lists (Cherry & Foster 2012)."""

    c: float = option("Maximum step size C.", 0.01, above=0, on={"train": 0.001})
    passes: int = option("Number of passes over the lists; the best is used.", 60, minimum=1, maximum=10_000)
    decay: float = option(
        "Factor by which the background of BLEU decays after each sentence.", 0.999, above=0, maximum=1
    )

    def tune(self, problem: TuningProblem) -> Tuned:
        """Tune; features that are in no list keep their weights."""
        import numpy as np

        from itersel.tune.mira import tune_mira

        table = problem.table
        sparse = table.sparse.take(np.arange(table.translation_count))
        value, quality = tune_mira(table, sparse, problem.start_with(sparse), self, problem.seed)
        return problem.tuned(problem.weights(value, sparse, 1.0), quality)
