"""Which system a run has found to be the best, by how much, and whether the difference is significant."""

from __future__ import annotations

from typing import NamedTuple

from itersel.evaluate.names import title_of
from itersel.report.baseline import baseline_and_best
from itersel.report.p_values import describe_p
from itersel.report.table import ALL_TEST_SETS
from itersel.report.table_content import Table


class Answer(NamedTuple):
    """The best system on devtest, and its difference from the baseline on test."""

    best: str
    score: float
    title: str  # of the metric
    where: str  # the test set
    baseline: str | None = None  # `None` if there is no other system
    baseline_score: float = 0.0
    p: float = 1.0
    described_p: str = ""
    is_significant: bool = False

    @property
    def difference(self) -> float:
        """The difference from the baseline."""
        return self.score - self.baseline_score

    @property
    def described_difference(self) -> str:
        """The size of the difference as it is shown, which is not 0 unless the scores are equal."""
        return describe_size(self.difference)


def answer(table: Table) -> Answer:
    """Compare the best system on devtest with the baseline, on test or on all test sets together.

    They are compared by BLEU of detokenised text or, if that was not scored, of tokenised text.
    """
    test_set = table.all_sentences
    metric = test_set.main_metric
    scores = {system.name: system.scores[metric] for system in test_set.systems}
    baseline, best = baseline_and_best(table)

    where = ALL_TEST_SETS if test_set.is_pooled else test_set.name
    found = Answer(best, scores[best].mean, title_of(metric), where)
    if baseline is None:
        return found

    p = scores[best].p[baseline]
    alpha = table.significance.alpha
    return found._replace(
        baseline=baseline,
        baseline_score=scores[baseline].mean,
        p=p,
        described_p=describe_p(p, alpha),
        is_significant=p < alpha,
    )


def describe_size(difference: float) -> str:
    """Return the size of a difference as it is shown, which is not 0 unless there is none."""
    text = f"{abs(difference):.2f}"
    return "less than 0.01" if difference and float(text) == 0 else text
