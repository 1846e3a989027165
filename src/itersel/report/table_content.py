"""The table of the systems, a record whose file is table.json (docs/formats.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from itersel.corpus.text_names import POOLED
from itersel.evaluate.epochs import ChosenEpoch
from itersel.evaluate.names import BLEU, METRICS, TOKENIZED_BLEU
from itersel.evaluate.significance import Interval
from itersel.report.folder import read_optional
from itersel.storage.json_files import from_content


@dataclass(frozen=True)
class MeanScore:
    """The mean of a score over repeats, and its standard deviation; `None` without repeats."""

    mean: float
    deviation: float | None

    def __str__(self) -> str:
        return self.rounded(2)

    def rounded(self, digits: int) -> str:
        """Return the mean and the deviation with the given number of decimals."""
        mean = f"{self.mean:.{digits}f}"
        return mean if self.deviation is None else f"{mean} ±{self.deviation:.{digits}f}"


@dataclass(frozen=True)
class BleuDetails:
    """What BLEU of tokenised text is made of, as in `itersel.evaluate.metrics.CorpusScore`."""

    precisions: tuple[float, ...]
    brevity_penalty: float
    length: int
    reference_length: int


@dataclass(frozen=True)
class Score(MeanScore):
    """A score of a system by one metric, over its repeats, and its significant differences."""

    interval: Interval | None  # 95 %, of the mean; `None` for tokenized BLEU
    repeats: tuple[float, ...]
    p: dict[str, float]  # of the differences from the other systems, by name
    differs_from: tuple[int, ...]  # numbers of the systems from which it differs significantly
    better_than: tuple[int, ...]  # those among them that are worse
    details: tuple[BleuDetails, ...]  # of each repeat, for tokenized BLEU; empty for other metrics


@dataclass(frozen=True)
class EpochOfRepeat:
    """The epoch chosen for a repeat of a system."""

    repeat: int  # from 1
    chosen: ChosenEpoch | None  # `None` where the `devtest` of the system is `None`


@dataclass(frozen=True)
class SystemRow:
    """The row of a system; for outputs of other systems, fields that only experiments have are `None`."""

    number: int
    name: str
    learner: str | None
    mixing: str | None
    tune_on: str | None
    features: str | None
    tasks: str | None
    shards: int | None
    # at the chosen epochs, by metric: tokenized BLEU and the score by which they were chosen; `None` for
    # other systems and, as epochs may differ between test sets, where these are pooled
    devtest: dict[str, MeanScore] | None
    repeats: tuple[EpochOfRepeat, ...]
    scores: dict[str, Score]  # by metric; a system may lack some of the user's own scores

    @property
    def is_experiment(self) -> bool:
        """Whether this is an experiment, not the output of another system."""
        return self.learner is not None

    @property
    def epochs(self) -> list[ChosenEpoch]:
        """The epochs chosen for the repeats; none where `devtest` is `None`."""
        return [one.chosen for one in self.repeats if one.chosen is not None]


@dataclass(frozen=True)
class TestSetTable:
    """The rows of all systems for a test set, or for all of them together."""

    __test__ = False  # for pytest

    name: str
    sentences: int
    references: int
    signatures: dict[str, str]  # by metric; empty for the user's own scores
    systems: tuple[SystemRow, ...]

    @property
    def is_pooled(self) -> bool:
        """Whether these are all test sets together."""
        return self.name == POOLED

    @property
    def experiments(self) -> list[SystemRow]:
        """The systems that are experiments."""
        return [system for system in self.systems if system.is_experiment]

    @property
    def main_metric(self) -> str:
        """The metric by which the systems are compared: BLEU of detokenised text, if it was scored."""
        return BLEU if BLEU in self.signatures else TOKENIZED_BLEU

    @property
    def metrics_of_text(self) -> list[str]:
        """The metrics of detokenised text, and the user's own scores."""
        return [name for name in self.signatures if name != TOKENIZED_BLEU]

    @property
    def user_score_names(self) -> list[str]:
        """The names of the user's own scores."""
        return [name for name in self.signatures if name not in METRICS]

    @property
    def devtest_metrics(self) -> list[str]:
        """The metrics on devtest, if an epoch was chosen for these test sentences."""
        return list(self.experiments[0].devtest or ())


@dataclass(frozen=True)
class SignificanceTest:
    """How differences are tested."""

    test: str
    trials: int
    seed: int
    alpha: float


@dataclass(frozen=True)
class Table:
    """The table of the systems."""

    significance: SignificanceTest
    test_sets: tuple[TestSetTable, ...]
    pooled: TestSetTable | None  # `None` if there is one test set

    @property
    def all_test_sets(self) -> list[TestSetTable]:
        """The test sets and, if there are several, all of them together."""
        return [*self.test_sets, *([self.pooled] if self.pooled else [])]

    @property
    def all_sentences(self) -> TestSetTable:
        """All test sets together, or the only one."""
        return self.pooled or self.test_sets[0]


def read_table(path: Path) -> Table | None:
    """Read table.json; `None` if it does not exist yet."""
    otherwise = "is not a table of systems, or one of an earlier version; run snakemake again"
    table: Table | None = read_optional(path, parse_table, otherwise)
    return table


def parse_table(content: object) -> Table:
    """Return the table in the content of table.json; an error of Python if it is damaged."""
    table = from_content(Table, content)
    if not table.test_sets or (table.pooled is None) != (len(table.test_sets) == 1):
        raise ValueError("wrong number of test sets")
    if 0 in (table.significance.alpha, table.significance.trials):
        raise ValueError("no significance test")
    for test_set in table.all_test_sets:
        _check(test_set)
        if [one.name for one in test_set.systems] != [one.name for one in table.test_sets[0].systems]:
            raise ValueError("different systems")
    return table


def _check(test_set: TestSetTable) -> None:
    """Raise an error of Python unless what belongs together in a test set agrees."""
    if not test_set.experiments or TOKENIZED_BLEU not in test_set.signatures:
        raise ValueError("nothing to compare")

    for metric in test_set.signatures:
        scored = {system.name for system in test_set.systems if metric in system.scores}
        if not scored or (metric in METRICS and len(scored) < len(test_set.systems)):
            raise ValueError(f"no score by {metric}")
        for name, score in ((one.name, one.scores[metric]) for one in test_set.systems if one.name in scored):
            if not scored - {name} <= score.p.keys():
                raise ValueError("no p-value")

    for system in test_set.systems:
        if not system.repeats or any(
            len(score.repeats) != len(system.repeats) for score in system.scores.values()
        ):
            raise ValueError("a score of another number of repeats")
        if system.is_experiment and not test_set.is_pooled:
            _check_epochs(system)


def _check_epochs(system: SystemRow) -> None:
    if TOKENIZED_BLEU not in (system.devtest or ()):
        raise ValueError("no score on devtest")
    if len(system.epochs) < len(system.repeats):
        raise ValueError("no chosen epoch")
    for one in system.epochs:
        if not 1 <= one.epoch <= min(len(one.devtest_scores), len(one.devtest_tokenized_bleu)):
            raise ValueError("no such epoch")
