"""Minimum error rate training on k-best lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from itersel.config.tuners import Batch, Tuned
from itersel.keys import documented, key

if TYPE_CHECKING:
    from itersel.tune.problem import ListProblem


@documented
@dataclass(frozen=True)
class Mert(Batch):
    """Minimum error rate training on k-best lists, by exact line searches (Och 2003)."""

    searches_lines: ClassVar[bool] = True

    random_directions: int = key(
        "Number of random directions searched in every round, in addition to the axes.",
        12,
        minimum=0,
        maximum=1000,
    )
    restarts: int = key(
        "Number of random points from which to start the search, in addition to the start weights.",
        5,
        minimum=0,
        maximum=1000,
    )

    def tune(self, problem: ListProblem) -> Tuned:
        """Tune by line searches over the lists."""
        from itersel.tune.mert import ListLineSearch, tune_mert

        line_search = ListLineSearch(problem.table)
        weights, quality = tune_mert(
            line_search, problem.start, self.random_directions, self.restarts, problem.seed
        )
        return problem.tuned(problem.weights(weights), quality)
