"""The table of the systems, and its file, table.json (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from itersel.corpus.text_names import POOLED
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

    interval: Interval | None  # 95 %, of the mean; `None` for tokenised BLEU
    repeats: tuple[float, ...]
    p: dict[str, float]  # of the differences from the other systems, by name
    differs_from: tuple[int, ...]  # numbers of the systems from which it differs significantly
    better_than: tuple[int, ...]  # those among them that are worse
    details: tuple[BleuDetails, ...]  # of each repeat, for tokenised BLEU; empty for other metrics

    @property
    def summary(self) -> MeanScore:
        """The mean and the deviation alone."""
        return MeanScore(self.mean, self.deviation)


@dataclass(frozen=True)
class ChosenEpoch:
    """The epoch that was chosen for a repeat of an experiment, as in `itersel.system.chosen.ChosenSystem`."""

    epoch: int
    devtest_tokenized_bleu: tuple[float, ...]
    chosen_by: str
    devtest_scores: tuple[float, ...]
    devtest: str
    signature: str
    active_features: int
    devtest_brevity_penalty: tuple[float, ...]
    untrained_epochs: int


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
    # at the chosen epochs, by metric: tokenised BLEU and the score by which they were chosen; `None` for
    # other systems and, as epochs may differ between test sets, where these are pooled
    devtest: dict[str, MeanScore] | None
    repeats: tuple[int, ...]  # their numbers
    epochs: tuple[ChosenEpoch, ...]  # of each repeat; empty where `devtest` is `None`
    scores: dict[str, Score]  # by metric; a system may lack some of the user's own scores

    @property
    def is_experiment(self) -> bool:
        """Whether this is an experiment, not the output of another system."""
        return self.learner is not None


@dataclass(frozen=True)
class TestSet:
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
    def user_metrics(self) -> list[str]:
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
    test_sets: tuple[TestSet, ...]
    pooled: TestSet | None  # `None` if there is one test set

    @property
    def all_test_sets(self) -> list[TestSet]:
        """The test sets and, if there are several, all of them together."""
        return [*self.test_sets, *([self.pooled] if self.pooled else [])]

    @property
    def all_sentences(self) -> TestSet:
        """All test sets together, or the only one."""
        return self.pooled or self.test_sets[0]


def table_content(table: Table) -> dict[str, Any]:
    """Return the content of table.json."""
    content = asdict(table)
    for test_set in (*content["test_sets"], content["pooled"]):
        for system in test_set["systems"] if test_set else ():
            epochs = system.pop("epochs") or [{} for _ in system["repeats"]]
            system["repeats"] = [
                {"repeat": number, **epoch} for number, epoch in zip(system["repeats"], epochs, strict=True)
            ]
            if test_set["name"] == POOLED:
                del system["devtest"]
    return content


def read_table(path: Path) -> Table | None:
    """Read table.json; `None` if it does not exist yet."""
    otherwise = "is not a table of systems, or one of an earlier version; run snakemake again"
    table: Table | None = read_optional(path, parse_table, otherwise)
    return table


def parse_table(content: Any) -> Table:
    """Return the table that `table_content` described; an error of Python if it is damaged."""
    pooled = content["pooled"]
    table = from_content(
        Table,
        {
            "significance": content["significance"],
            "test_sets": [_with_epochs(one) for one in content["test_sets"]],
            "pooled": None if pooled is None else _with_epochs(pooled),
        },
    )

    if not table.test_sets or (table.pooled is None) != (len(table.test_sets) == 1):
        raise ValueError("wrong number of test sets")
    if 0 in (table.significance.alpha, table.significance.trials):
        raise ValueError("no significance test")
    for test_set in table.all_test_sets:
        _check(test_set)
        if [one.name for one in test_set.systems] != [one.name for one in table.test_sets[0].systems]:
            raise ValueError("different systems")
    return table


def _with_epochs(test_set: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a test set with the numbers of repeats apart from what describes them."""
    systems = []
    for system in test_set["systems"]:
        devtest = system.get("devtest")
        repeats = system["repeats"]
        apart = {
            "devtest": devtest,
            "repeats": [one["repeat"] for one in repeats],
            "epochs": repeats if devtest else [],
        }
        systems.append({**system, **apart})
    return {**test_set, "systems": systems}


def _check(test_set: TestSet) -> None:
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
    for one in system.epochs:
        if not 1 <= one.epoch <= min(len(one.devtest_scores), len(one.devtest_tokenized_bleu)):
            raise ValueError("no such epoch")
