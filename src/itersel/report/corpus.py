"""The table of the corpora: sentences, words and rules (table 1 of Simianer, Riezler & Dyer 2012)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from itersel.corpus.overlap import Overlap, describe_overlap
from itersel.corpus.statistics import Statistics, read_statistics
from itersel.errors import InputError
from itersel.grammar.shard import FORMAT
from itersel.grammar.shard_kernels import GRAMMAR_RULE
from itersel.report.layout import aligned, tab_separated
from itersel.storage.hdf5 import read_arrays
from itersel.storage.json_files import read_json

LeftOut = Sequence[tuple[str, str, int]]

COLUMNS = ("split", "sentences", "source words", "target words", "dropped pairs", "rules", "rules a sentence")


@dataclass(frozen=True)
class Split:
    """The size of one split.

    Attributes
    ----------
    name
        train, dev, devtest or test.
    statistics
        Statistics of its preparation, see `itersel.corpus.statistics.describe`.
    rules
        Number of rules in the grammars of all sentences, without glue and pass-through rules; a rule counts
        once for each sentence that has it. `None` if no grammars were needed.
    """

    name: str
    statistics: Statistics
    rules: int | None

    def cells(self) -> list[str]:
        """Return the row as text, in the order of `COLUMNS`."""
        sentences = self.statistics["sentences"]
        words = [self.statistics[side]["tokens"] for side in ("source", "target")]
        numbers = [sentences, *words, sum(self.statistics["dropped"].values())]
        rules = ["-", "-"]
        if self.rules is not None:
            rules = [str(self.rules), f"{self.rules / max(sentences, 1):.0f}"]
        return [self.name, *map(str, numbers), *rules]


def count_rules(shards: Iterable[str]) -> int:
    """Return the number of rules in the grammars of all sentences of some shards."""
    total = 0
    for path in shards:
        arrays, _ = read_arrays(path, FORMAT, ("rule_kind", "grammar_rule"))
        kind, rules = arrays["rule_kind"], arrays["grammar_rule"]
        total += int(np.count_nonzero(kind[rules] == GRAMMAR_RULE))
    return total


def read_rules(path: str | os.PathLike[str]) -> int:
    """Read a count that ``itersel report rules`` wrote."""
    try:
        rules = read_json(path)["rules"]
        # the bound is more than a corpus of 10^9 sentences could have
        if type(rules) is not int or not 0 <= rules < 10**15:
            raise ValueError("not a count")
    except (ValueError, KeyError, TypeError):
        raise InputError("is not a count of rules; make it with 'itersel report rules'", path) from None
    return rules


def describe_splits(
    preparation: Sequence[str | os.PathLike[str]], rules: Mapping[str, str | os.PathLike[str]]
) -> list[Split]:
    """Join the statistics of ``itersel corpus prepare`` with the counts of ``itersel report rules``.

    Raises
    ------
    InputError
        If a file is of another kind, or there are rules for a split that was not prepared.
    """
    statistics = read_statistics(preparation)
    unknown = set(rules) - set(statistics)
    if unknown:
        raise InputError(f"no statistics of {', '.join(sorted(unknown))}; name the file in --preparation")
    counts = {name: read_rules(path) for name, path in rules.items()}
    return [Split(name, split, counts.get(name)) for name, split in statistics.items()]


def text_table(splits: Sequence[Split], left_out: LeftOut, overlaps: Sequence[Overlap] = ()) -> list[str]:
    """Return the table as aligned text, then what was left out and why, and the pairs that splits share."""
    lines = aligned(COLUMNS, [split.cells() for split in splits], left=(0,))
    if left_out:
        rows = [[name, reason, str(count)] for name, reason, count in left_out]
        lines += ["", *aligned(("left out of", "why", "pairs"), rows, left=(0, 1))]
    if overlaps:
        lines += ["", *map(describe_overlap, overlaps)]
    return lines


def tsv_table(splits: Sequence[Split], left_out: LeftOut, overlaps: Sequence[Overlap] = ()) -> list[str]:
    """Return the table as TSV; it has the number of dropped pairs per split, but no reasons."""
    names = [column.replace(" ", "_") for column in COLUMNS]
    return tab_separated(names, [split.cells() for split in splits])


def json_table(splits: Sequence[Split], left_out: LeftOut, overlaps: Sequence[Overlap] = ()) -> list[str]:
    """Return the table as JSON, with everything that was left out and why."""
    document = {
        "splits": {split.name: {**split.statistics, "rules": split.rules} for split in splits},
        "left_out": [{"of": name, "why": reason, "count": count} for name, reason, count in left_out],
        "overlaps": [overlap._asdict() for overlap in overlaps],
    }
    return [json.dumps(document, indent=2, ensure_ascii=False)]
