"""The tables of all experiments: one for each test set and, of several, one for all of them together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from itersel.errors import InputError
from itersel.evaluate.bleu import References, read_references, read_translations
from itersel.limits import POOLED, is_test_set_name
from itersel.report.layout import tab_separated
from itersel.report.scores import REPEATED, describe_test
from itersel.report.system import System, first_difference, read_system
from itersel.report.table import COLUMNS, DEVIATIONS, Table, make_table

DEVTEST = "devtest"


class Translations(NamedTuple):
    """The translations of a test set by all systems.

    Attributes
    ----------
    name
        Of the test set.
    systems
        At the epochs chosen for this test set.
    translations
        Of each system.
    references
        One or more, with a line a sentence.
    """

    name: str
    systems: Sequence[System]
    translations: Sequence[Sequence[str]]
    references: Sequence[References]


@dataclass(frozen=True)
class Comparison:
    """Tables of one or more test sets, and how the systems were compared.

    Attributes
    ----------
    tables
        One for each test set.
    pooled
        Of several test sets, the table of all their sentences.
    trials, seed, alpha
        Of approximate randomization.
    """

    tables: tuple[Table, ...]
    pooled: Table | None
    trials: int
    seed: int
    alpha: float

    def text(self) -> list[str]:
        """Return the tables for people."""
        lines: list[str] = []
        for table in self._all():
            if self.pooled is not None:
                lines.append(f"{_title(table)}:")
            lines += [*table.text(), ""]
        lines += [
            f"differs from: systems whose test BLEU differs significantly (p < {self.alpha:g}, approximate",
            f"randomization, {self.trials} trials, seed {self.seed}). Epochs are chosen on devtest.",
        ]
        own = [one.name for one in self.tables if any(run.devtest != DEVTEST for run in one.rows[0].runs)]
        if own:
            lines.append(f"With their own devtest: {', '.join(own)}.")
        if any(len(row.runs) > 1 for row in self.tables[0].rows):
            lines += REPEATED
        signatures = {table.signature: None for table in self._all()}
        if len(signatures) == 1:
            return [*lines, f"BLEU: sacrebleu {self.tables[0].signature}"]
        return [*lines, *(f"BLEU of {table.name}: sacrebleu {table.signature}" for table in self._all())]

    def tsv(self) -> list[str]:
        """Return the tables for spreadsheets, one below the other."""
        columns = ("test set", *COLUMNS, *DEVIATIONS)
        names = [column.replace(" ", "_").lower() for column in columns]
        return tab_separated(names, [row for table in self._all() for row in table.spreadsheet_rows()])

    def json(self) -> list[str]:
        """Return everything, with p-values and scores in full, for programs."""
        document: dict[str, Any] = {
            "significance": describe_test(self.trials, self.seed, self.alpha),
            "test_sets": [table.document() for table in self.tables],
            "pooled": None if self.pooled is None else self.pooled.document(),
        }
        return [json.dumps(document, indent=2, ensure_ascii=False)]

    def _all(self) -> tuple[Table, ...]:
        return self.tables if self.pooled is None else (*self.tables, self.pooled)


def run_of(system: System) -> tuple[str, int]:
    """Return which run a system is: the name of the experiment, and the number of the repeat."""
    return system.name, system.repeat


def read_test_set(
    named: Sequence[str], descriptions: Sequence[str], translations: Sequence[str]
) -> Translations:
    """Read a test set and its translations.

    Parameters
    ----------
    named
        Its name, and the files of its references.
    descriptions, translations
        Files of the systems, in the same order.

    Raises
    ------
    InputError
        If the files do not go together, or systems of one name are not runs of one experiment.
    """
    name, *paths = named
    if not is_test_set_name(name):
        raise InputError(f"'{name}' cannot be the name of a test set; use letters, digits, '_' and '-'")
    if not paths:
        raise InputError(f"test set '{name}' has no reference; name its file after the name")
    if len(descriptions) != len(translations):
        raise InputError(
            f"{len(descriptions)} systems, but {len(translations)} translations; give one of each"
        )
    systems = [read_system(path) for path in descriptions]
    for (experiment, repeat), count in Counter(map(run_of, systems)).items():
        if count > 1:
            raise InputError(f"{count} systems are repeat {repeat} of '{experiment}'; compare different ones")
    first: dict[str, System] = {}
    for system in systems:
        one = first.setdefault(system.name, system)
        if key := first_difference(one, system):
            raise InputError(f"repeats of '{one.name}' differ in {key}; compare runs of one experiment")
    references = read_references(paths)
    texts = [read_translations(path, references, paths[0]) for path in translations]
    return Translations(name, systems, texts, references)


def compare(
    test_sets: Sequence[Translations],
    *,
    tokenize: str = "13a",
    trials: int = 10_000,
    seed: int = 1,
    alpha: float = 0.05,
) -> Comparison:
    """Compare systems on one or more test sets.

    Of several, the sentences of all are scored together, too: every sentence has the same weight, so that a
    large test set has more than a small one. All test sets have the same systems in the same order.
    """
    tables = tuple(
        make_table(*one, tokenize=tokenize, trials=trials, seed=seed, alpha=alpha) for one in test_sets
    )
    pooled = None
    if len(test_sets) > 1:
        pooled = make_table(
            *_pool(test_sets), tokenize=tokenize, trials=trials, seed=seed, alpha=alpha, is_pooled=True
        )
    return Comparison(tables, pooled, trials, seed, alpha)


def _title(table: Table) -> str:
    if table.is_pooled:
        return f"all test sets together, {table.sentences} sentences"
    references = "" if table.references == 1 else f", {table.references} references"
    return f"test set {table.name}, {table.sentences} sentences{references}"


def _pool(test_sets: Sequence[Translations]) -> Translations:
    """Return all test sets as one."""
    most = max(len(one.references) for one in test_sets)
    references: list[list[str | None]] = [[] for _ in range(most)]
    for one in test_sets:
        for number, lines in enumerate(references):
            is_there = number < len(one.references)
            lines += one.references[number] if is_there else [None] * len(one.references[0])
    translations = [
        [line for one in test_sets for line in one.translations[place]]
        for place in range(len(test_sets[0].systems))
    ]
    return Translations(POOLED, test_sets[0].systems, translations, references)
