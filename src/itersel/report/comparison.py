"""The tables of all experiments: one per test set and, if there are several, one for all of them together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from itersel.errors import InputError
from itersel.evaluate.bleu import References, read_references, read_translations
from itersel.evaluate.counts import Counts, pool_counts, read_counts, require_counts_of, require_same_text
from itersel.limits import POOLED, TEXT_SCORES, is_test_set_name
from itersel.report.evaluation import SPREADSHEET_COLUMNS
from itersel.report.layout import tab_separated
from itersel.report.scores import REPEATED, describe_test
from itersel.report.system import System, first_difference, read_system
from itersel.report.table import COLUMNS, DEVIATIONS, Table, make_table

DEVTEST = "devtest"
# Notes on the scores of detokenised text.
DETOKENIZED = (
    "test BLEU is of tokenised lowercased text, as the papers report it. All other scores are of detokenised",
    "translations against the references as they were given.",
)
TOKENIZED = (
    "All scores are of tokenised text, as the corpus was given tokenised: compare them only with scores that",
    "were computed on the same tokens. Case has been restored.",
)
MARKS = ("In brackets: 95 % intervals (bootstrap). In parentheses: systems that are significantly worse.",)


class Translations(NamedTuple):
    """The translations of a test set by all systems.

    Attributes
    ----------
    name
        Name of the test set.
    systems
        Systems at the epochs chosen for this test set.
    translations
        Translations by each system.
    references
        One or more references, each with one line per sentence.
    counts
        Counts of the detokenised translations of each system; empty if these are not scored.
    """

    name: str
    systems: Sequence[System]
    translations: Sequence[Sequence[str]]
    references: Sequence[References]
    counts: Sequence[Counts] = ()


@dataclass(frozen=True)
class Comparison:
    """Tables of one or more test sets, and how the systems were compared.

    Attributes
    ----------
    tables
        One table per test set.
    pooled
        Table of the sentences of all test sets, if there are several.
    trials, seed, alpha
        Settings of approximate randomization.
    stays_tokenized
        Whether the corpus was given tokenised, so that there is no detokenised text.
    """

    tables: tuple[Table, ...]
    pooled: Table | None
    trials: int
    seed: int
    alpha: float
    stays_tokenized: bool = False

    def text(self) -> list[str]:
        """Return the tables as aligned text, with notes."""
        lines: list[str] = []
        for table in self._all():
            if self.pooled is not None:
                lines.append(f"{_title(table)}:")
            lines += [*table.text(), ""]
            if table.evaluation is not None:
                lines += table.evaluation.text(self.alpha)
        lines += [
            f"differs from: systems whose test BLEU differs significantly (p < {self.alpha:g}, approximate",
            f"randomization, {self.trials} trials, seed {self.seed}). Epochs are chosen on devtest"
            f"{_chosen_by(self.tables[0].rows[0].runs[0].chosen_by)}.",
        ]
        if self._has_text():
            lines += TOKENIZED if self.stays_tokenized else DETOKENIZED
            lines += MARKS
        own = [one.name for one in self.tables if any(run.devtest != DEVTEST for run in one.rows[0].runs)]
        if own:
            lines.append(f"With their own devtest: {', '.join(own)}.")
        if any(len(row.runs) > 1 for row in self.tables[0].rows):
            lines += REPEATED
        return [*lines, *self._signatures()]

    def tsv(self) -> list[str]:
        """Return the tables as TSV, one below the other."""
        columns = ("test set", *COLUMNS, *DEVIATIONS, *(SPREADSHEET_COLUMNS if self._has_text() else ()))
        names = [column.replace(" ", "_").lower() for column in columns]
        return tab_separated(names, [row for table in self._all() for row in table.spreadsheet_rows()])

    def json(self) -> list[str]:
        """Return the tables as JSON, with p-values and unrounded scores."""
        document: dict[str, Any] = {
            "significance": describe_test(self.trials, self.seed, self.alpha),
            "test_sets": [table.document() for table in self.tables],
            "pooled": None if self.pooled is None else self.pooled.document(),
        }
        return [json.dumps(document, indent=2, ensure_ascii=False)]

    def _has_text(self) -> bool:
        return any(table.evaluation is not None for table in self.tables)

    def _signatures(self) -> list[str]:
        """Return the signatures of all scores, only once if they are the same for all test sets."""
        found = {table.name: [f"test BLEU: sacrebleu {table.signature}"] for table in self._all()}
        for table in self._all():
            if table.evaluation is not None:
                found[table.name] += table.evaluation.signatures()
        first, *others = found.values()
        if all(other == first for other in others):
            return first
        return [f"{name}, {line}" for name, lines in found.items() for line in lines]

    def _all(self) -> tuple[Table, ...]:
        return self.tables if self.pooled is None else (*self.tables, self.pooled)


def run_of(system: System) -> tuple[str, int]:
    """Return the run that a system belongs to: the name of the experiment and the number of the repeat."""
    return system.name, system.repeat


def read_test_set(
    named: Sequence[str],
    descriptions: Sequence[str],
    translations: Sequence[str],
    counts: Sequence[str] = (),
) -> Translations:
    """Read a test set and its translations.

    Parameters
    ----------
    named
        Name of the test set, followed by the files of its references.
    descriptions, translations, counts
        Files of the systems, in the same order.

    Raises
    ------
    InputError
        If the files do not match, or systems with the same name are not runs of one experiment.
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
    if counts and len(descriptions) != len(counts):
        raise InputError(f"{len(descriptions)} systems, but {len(counts)} counts; give one of each")
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
    counted = [read_counts(path) for path in counts]
    for path, of_text, text, translated in zip(counts, counted, texts, translations, strict=bool(counts)):
        require_counts_of(path, of_text, text, references, translated)
    if counted:
        require_same_text(counts, counted)
    return Translations(name, systems, texts, references, [one.counts for one in counted])


def compare(
    test_sets: Sequence[Translations],
    *,
    tokenize: str = "13a",
    trials: int = 10_000,
    seed: int = 1,
    alpha: float = 0.05,
    stays_tokenized: bool = False,
) -> Comparison:
    """Compare systems on one or more test sets.

    The sentences of several test sets are also scored together. Every sentence has the same weight, so large
    test sets count more than small ones. All test sets must have the same systems in the same order.
    """
    how: dict[str, Any] = {"tokenize": tokenize, "trials": trials, "seed": seed, "alpha": alpha}
    tables = tuple(make_table(*one, **how) for one in test_sets)
    pooled = None
    if len(test_sets) > 1:
        pooled = make_table(*_pool(test_sets), **how, is_pooled=True)
    return Comparison(tables, pooled, trials, seed, alpha, stays_tokenized)


def _chosen_by(choice: str) -> str:
    """Return how epochs were chosen, if not by the BLEU in the table."""
    return f" by {' '.join(reversed(TEXT_SCORES[choice]))}" if choice in TEXT_SCORES else ""


def _title(table: Table) -> str:
    if table.is_pooled:
        return f"all test sets together, {table.sentences} sentences"
    references = "" if table.references == 1 else f", {table.references} references"
    return f"test set {table.name}, {table.sentences} sentences{references}"


def _pool(test_sets: Sequence[Translations]) -> Translations:
    """Return all test sets as one."""
    has_text = all(one.counts for one in test_sets)
    return Translations(
        POOLED,
        test_sets[0].systems,
        _joined([one.translations for one in test_sets]),
        _joined_references([one.references for one in test_sets]),
        [pool_counts(of_system) for of_system in zip(*(one.counts for one in test_sets), strict=True)]
        if has_text
        else [],
    )


def _joined(texts: Sequence[Sequence[Sequence[str]]]) -> list[list[str]]:
    """Return the translations of all test sets by each system."""
    return [[line for text in of_system for line in text] for of_system in zip(*texts, strict=True)]


def _joined_references(sets: Sequence[Sequence[References]]) -> list[list[str | None]]:
    """Return the references of all test sets; `None` where a test set has fewer than others."""
    joined: list[list[str | None]] = [[] for _ in range(max(map(len, sets)))]
    for references in sets:
        for number, lines in enumerate(joined):
            is_there = number < len(references)
            lines += references[number] if is_there else [None] * len(references[0])
    return joined
