"""The table of all experiments: BLEU on devtest and test, and which differences are significant."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from itersel.evaluate.bleu import CorpusScore, make_bleu, score_corpus, signature
from itersel.evaluate.randomization import p_values
from itersel.report.layout import aligned, tab_separated
from itersel.report.system import System

COLUMNS = (
    "system",
    "experiment",
    "learner",
    "mixing",
    "shards",
    "tuned on",
    "features",
    "active features",
    "devtest BLEU",
    "epoch",
    "test BLEU",
    "differs from",
)
LEFT = (1, 2, 3, 5, 6, 11)


@dataclass(frozen=True)
class Row:
    """One experiment.

    Attributes
    ----------
    number
        From 1, in the order of the table.
    system
        What it is, and its scores on devtest.
    test
        Its score on test.
    p
        By name of the other systems, the p-value of the difference on test.
    differs_from
        The numbers of the systems that it differs from significantly.
    """

    number: int
    system: System
    test: CorpusScore
    p: dict[str, float]
    differs_from: tuple[int, ...]

    def cells(self) -> list[str]:
        """Return the row as text, in the order of `COLUMNS`."""
        system = self.system
        return [
            str(self.number),
            system.name,
            system.learner,
            system.mixing,
            str(system.shards),
            system.tune_on,
            system.features,
            str(system.active_features),
            f"{system.devtest_bleu[system.epoch - 1]:.2f}",
            f"{system.epoch} of {len(system.devtest_bleu)}",
            f"{self.test.bleu:.2f}",
            ", ".join(map(str, self.differs_from)) or "-",
        ]


@dataclass(frozen=True)
class Table:
    """All experiments, and how they were compared."""

    rows: tuple[Row, ...]
    signature: str
    trials: int
    seed: int
    alpha: float

    def text(self) -> list[str]:
        """Return the table for people."""
        return [
            *aligned(COLUMNS, [row.cells() for row in self.rows], LEFT),
            "",
            f"differs from: systems whose test BLEU differs significantly (p < {self.alpha:g}, approximate",
            f"randomization, {self.trials} trials, seed {self.seed}). Epochs are chosen on devtest.",
            f"BLEU: sacrebleu {self.signature}",
        ]

    def tsv(self) -> list[str]:
        """Return the table for spreadsheets."""
        names = [column.replace(" ", "_").lower() for column in COLUMNS]
        return tab_separated(names, [row.cells() for row in self.rows])

    def json(self) -> list[str]:
        """Return everything, with p-values and scores in full, for programs."""
        document: dict[str, Any] = {
            "signature": self.signature,
            "significance": {
                "test": "approximate randomization, paired, two-sided",
                "trials": self.trials,
                "seed": self.seed,
                "alpha": self.alpha,
            },
            "systems": [
                {
                    "system": row.number,
                    **asdict(row.system),
                    "test": row.test._asdict(),
                    "p": row.p,
                    "differs_from": row.differs_from,
                }
                for row in self.rows
            ],
        }
        return [json.dumps(document, indent=2, ensure_ascii=False)]


def make_table(
    systems: Sequence[System],
    translations: Sequence[Sequence[str]],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    trials: int = 10_000,
    seed: int = 1,
    alpha: float = 0.05,
) -> Table:
    """Score the translations of test, and test each pair of systems for a difference."""
    metric = make_bleu(references, tokenize)
    scores = [score_corpus(metric, lines) for lines in translations]
    texts = {system.name: lines for system, lines in zip(systems, translations, strict=True)}
    p: dict[str, dict[str, float]] = {name: {} for name in texts}
    names = list(texts)
    for place, baseline in enumerate(names):
        others = {name: texts[name] for name in names[place + 1 :]}
        for name, value in p_values(metric, texts[baseline], others, trials, seed).items():
            p[baseline][name] = p[name][baseline] = value
    rows = tuple(
        Row(number, system, score, p[system.name], _different(p[system.name], names, alpha))
        for number, (system, score) in enumerate(zip(systems, scores, strict=True), 1)
    )
    return Table(rows, signature(metric), trials, seed, alpha)


def _different(p: Mapping[str, float], names: Sequence[str], alpha: float) -> tuple[int, ...]:
    return tuple(number for number, name in enumerate(names, 1) if name in p and p[name] < alpha)
