"""Minimum error rate training on forests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from itersel.config.tuners import Batch, Tuned
from itersel.keys import key_of
from itersel.tune.tuners.mert import Mert

if TYPE_CHECKING:
    from itersel.tune.problem import ForestProblem


@dataclass(frozen=True)
class ForestMert(Batch):
    """Minimum error rate training on forests (Kumar et al. 2009)."""

    reads_forests: ClassVar[bool] = True
    searches_lines: ClassVar[bool] = True

    # A search takes longer than over lists but sees far more translations, so more of them would gain little.
    random_directions: int = key_of(Mert, "random_directions", default=5)
    restarts: int = key_of(Mert, "restarts", default=0)

    def tune(self, problem: ForestProblem) -> Tuned:
        """Tune by line searches over the forests."""
        from itersel.tune.forest_line_search import read_line_search
        from itersel.tune.mert import tune_mert

        line_search = read_line_search(problem.files)
        weights, quality = tune_mert(
            line_search, problem.start, self.random_directions, self.restarts, problem.seed
        )
        return Tuned(problem.weights(weights), quality, line_search.sentence_count, 0)
