"""Line searches along given directions, for mixed weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from itersel.config.tuners import Batch, Tuned
from itersel.keys import key

if TYPE_CHECKING:
    from itersel.tune.problem import ListProblem


@dataclass(frozen=True)
class LineSearch(Batch):
    """Exact line searches along given directions, for corpus BLEU (Flanigan et al. 2013)."""

    searches_lines: ClassVar[bool] = True
    only_retunes: ClassVar[bool] = True
    retune_iterations: ClassVar[int] = 1

    directions: tuple[str, ...] = key(
        "Lines to search along, repeatedly, until none improves BLEU: names of dense features; dense: each "
        "of them; step: from the weights that the epoch started from to its mixed weights, from the second "
        "epoch on.",
        ("WordPenalty",),
    )

    @property
    def named_directions(self) -> tuple[str, ...]:
        """The directions of the search."""
        return self.directions

    def tune(self, problem: ListProblem) -> Tuned:
        """Search along the directions, one after another, until none of them improves BLEU."""
        from itersel.tune.directions import named_directions
        from itersel.tune.mert import ListLineSearch, climb

        line_search = ListLineSearch(problem.table)
        directions = named_directions(problem, self.directions, line_search.deviation)
        weights, quality = climb(line_search, problem.start, lambda: directions)
        return problem.tuned(problem.weights(weights), quality)
