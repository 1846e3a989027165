"""Pairwise ranking optimisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from itersel.bleu.names import LIST_BLEUS
from itersel.bleu.points import to_points
from itersel.config.tuners import Batch, Tuned
from itersel.keys import documented, key
from itersel.learn.pro_sampling import PRO_THRESHOLD

if TYPE_CHECKING:
    from itersel.tune.problem import ListProblem


@documented
@dataclass(frozen=True)
class Pro(Batch):
    """Pairwise ranking optimisation: logistic regression on sampled pairs (Hopkins & May 2011)."""

    sentence_bleu: str = key("Sentence-level BLEU used for ranking; lin: BLEU+1.", "lin", choices=LIST_BLEUS)
    strength: float = key("Strength of l2 regularisation.", 1.0, minimum=0)
    interpolation: float = key(
        "Share of the new weights in the result; the rest comes from the start weights.",
        0.1,
        above=0,
        maximum=1,
    )
    max_difference: float = key(
        "Drop pairs with a larger difference in BLEU (0 to 100), to guard against overlong translations "
        "(Nakov et al. 2013); 100 drops none.",
        100.0,
        above=to_points(PRO_THRESHOLD),
        maximum=100,
    )

    def tune(self, problem: ListProblem) -> Tuned:
        """Tune; features that are in no pair get their start weight times 1 - interpolation."""
        import numpy as np

        from itersel.lists.table import dense_scores
        from itersel.tune.ranking import draw_pairs, fit_ranking, pair_matrix

        table = problem.table
        pairs = draw_pairs(table, self, problem.seed)
        rows = np.unique(pairs)
        sparse = table.sparse.take(rows)
        fitted = fit_ranking(pair_matrix(table, sparse, rows, pairs), self.strength)

        # Hopkins and May 2011, figure 2
        rest = 1.0 - self.interpolation
        value = self.interpolation * fitted + rest * problem.start_with(sparse)
        result = problem.weights(value, sparse, rest)

        score = dense_scores(table.dense, value[: table.dense.shape[1]])
        score += table.sparse.scores(result)
        return problem.tuned(result, table.quality_of_best(score))
