"""The table of the corpora: sentences, words and rules (table 1 of Simianer, Riezler & Dyer 2012)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from itersel.corpus.overlaps import Overlap
from itersel.corpus.statistics import read_collection, read_statistics
from itersel.errors import FilePath, InputError, checked
from itersel.grammar.grammar_format import FORMAT
from itersel.grammar.grammar_kernels import GRAMMAR_RULE
from itersel.report.folder import read_optional
from itersel.results import CORPUS_TABLE
from itersel.storage.hdf5 import read_arrays
from itersel.storage.json_files import check_counts, check_numbers, check_texts, read_json
from itersel.storage.text_table import Content, aligned, tab_separated

NO_CORPUS = "is not a table of corpora; make it with 'itersel step corpora'"


def count_rules(paths: Iterable[str]) -> int:
    """Return the number of rules in the grammars of all sentences of some files."""
    total = 0
    for path in paths:
        arrays, _ = read_arrays(path, FORMAT, ("rule_kind", "grammar_rule"))
        total += int(np.count_nonzero(arrays["rule_kind"][arrays["grammar_rule"]] == GRAMMAR_RULE))
    return total


def read_rules(path: FilePath) -> int:
    """Read a count that ``itersel step rules`` wrote."""
    with checked(path, "is not a count of rules; make it with 'itersel step rules'"):
        rules: int = read_json(path)["rules"]
        check_counts({"rules": rules}, 0)
        return rules


def describe_corpus(
    statistics: Sequence[FilePath], rules: Mapping[str, FilePath], collection: FilePath | None
) -> dict[str, Any]:
    """Join the statistics of ``itersel corpus`` with the counts of ``itersel step rules`` of splits.

    Returns the content of corpus.json: ``splits``, the statistics of each (train, dev, devtest, test) with
    the number of ``rules`` in the grammars of all sentences, without glue and pass-through rules, where a
    rule counts once for each sentence that has it (None without grammars); ``left_out``, what was left out
    and why; ``overlaps``, the pairs that splits share.
    """
    found = read_statistics(statistics)
    unknown = set(rules) - set(found.splits)
    if unknown:
        raise InputError(f"no statistics of {', '.join(sorted(unknown))}; name the file in --statistics")

    counts = {name: read_rules(path) for name, path in rules.items()}
    collected = read_collection(collection) if collection is not None else ()
    left_out = [*collected, *found.left_out]
    return {
        "splits": {name: {**split, "rules": counts.get(name)} for name, split in found.splits.items()},
        "left_out": [{"of": name, "why": reason, "count": count} for name, reason, count in left_out],
        "overlaps": [overlap._asdict() for overlap in found.overlaps],
    }


def text_table(corpus: Content) -> list[str]:
    """Return the table as aligned text, then what was left out and why, and the pairs that splits share."""
    lines = aligned(_rows(corpus), left=("split",))
    if corpus["left_out"]:
        rows = [
            {"left out of": row["of"], "why": row["why"], "pairs": str(row["count"])}
            for row in corpus["left_out"]
        ]
        lines += ["", *aligned(rows, left=("left out of", "why"))]
    if corpus["overlaps"]:
        lines += ["", *(str(Overlap(**overlap)) for overlap in corpus["overlaps"])]
    return lines


def tsv_table(corpus: Content) -> list[str]:
    """Return the table as TSV; it has the number of dropped pairs per split, but no reasons."""
    return tab_separated(_rows(corpus))


def _rows(corpus: Content) -> list[dict[str, str]]:
    rows = []
    for name, split in corpus["splits"].items():
        sentences, rules = split["sentences"], split["rules"]
        row = {"split": name, "sentences": str(sentences)}
        # lists of other decoders may come without sources
        row |= {f"{side} words": str(split[side]["tokens"] or "-") for side in ("source", "target")}
        row["dropped pairs"] = str(sum(split["dropped"].values()))
        row["rules"] = "-" if rules is None else str(rules)
        row["rules per sentence"] = "-" if rules is None else f"{rules / max(sentences, 1):.0f}"
        rows.append(row)
    return rows


def read_corpus(results: Path) -> Any:
    """Return the table of the corpora of a run; None if it does not exist yet."""
    return read_optional(results / CORPUS_TABLE, _checked_corpus, NO_CORPUS)


def _checked_corpus(corpus: Any) -> Any:
    """Return this if it is what the page shows of the corpora; otherwise, raise an error of Python."""
    for split in corpus["splits"].values():
        tokens = [split[side]["tokens"] for side in ("source", "target")]
        counts = [split["sentences"], split["rules"], *split["dropped"].values(), *tokens]
        check_numbers(count for count in counts if count is not None)

    for one in corpus["left_out"]:
        check_texts((one["of"], one["why"]))
        check_numbers((one["count"],))

    return corpus
