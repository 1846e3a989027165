"""Corpus statistics, with what was dropped and why, as JSON and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from itersel.corpus.overlaps import Overlap
from itersel.corpus.text import Bitext, split_words
from itersel.errors import FilePath, checked
from itersel.storage.json_files import check_counts, read_json
from itersel.storage.text_table import aligned

CorpusStatistics = dict[str, Any]

# Reasons for dropping paragraphs of the LibreOffice Help.
COLLECTION_REASONS = ("no counterpart", "untranslated", "duplicates")


def count_words(sentences: Sequence[str]) -> dict[str, int]:
    """Return the number of tokens and of types (distinct tokens)."""
    words = Counter(word for sentence in sentences for word in split_words(sentence))
    return {"tokens": words.total(), "types": len(words)}


def describe(bitext: Bitext, dropped: Mapping[str, int]) -> CorpusStatistics:
    """Return the statistics of one split; `dropped` counts dropped pairs by reason."""
    labels = {} if bitext.labels is None else {"labels": dict(sorted(Counter(bitext.labels).items()))}
    return {
        "sentences": bitext.size,
        "source": count_words(bitext.source),
        "target": count_words(bitext.target),
        "dropped": dict(dropped),
        **labels,
    }


class PreparationCounts(NamedTuple):
    """What ``itersel corpus prepare`` has counted."""

    splits: dict[str, CorpusStatistics]
    overlaps: list[Overlap]
    # from where pairs (lines, for monolingual text) were dropped, why, and how many
    left_out: list[tuple[str, str, int]]


def read_statistics(paths: Sequence[FilePath]) -> PreparationCounts:
    """Read one or more statistics files of ``itersel corpus prepare``."""
    found = PreparationCounts({}, [], [])
    for path in paths:
        with checked(path, "is not a statistics file of itersel corpus prepare"):
            document = read_json(path)
            if not document["splits"]:
                raise ValueError("no splits")

            for name, split in document["splits"].items():
                check_counts({"sentences": split["sentences"]}, 0)
                for side in ("source", "target"):
                    check_counts({kind: split[side][kind] for kind in ("tokens", "types")}, 0)
                found.left_out.extend(_dropped(name, split["dropped"]))
            found.splits.update(document["splits"])

            if "monolingual" in document:
                found.left_out.extend(_dropped("monolingual", document["monolingual"]["dropped"]))
            for one in document.get("overlaps", ()):
                check_counts({"pairs": one["pairs"]}, 0)
                found.overlaps.append(Overlap(str(one["split"]), str(one["other"]), one["pairs"]))

    return found


def read_collection(path: FilePath) -> list[tuple[str, str, int]]:
    """Return what was left out according to a statistics file of ``itersel corpus libreoffice-help``."""
    with checked(path, "is not a statistics file of itersel corpus"):
        counts = read_json(path)
        return _dropped("collection", {reason: counts[reason] for reason in COLLECTION_REASONS})


def _dropped(name: str, counts: Mapping[str, int]) -> list[tuple[str, str, int]]:
    check_counts(counts, 0)
    return [(name, reason, count) for reason, count in counts.items() if count]


def format_table(splits: Mapping[str, CorpusStatistics], overlaps: Sequence[Overlap] = ()) -> str:
    """Return a printable table: a line per split, one for each with dropped pairs, and the overlaps."""
    rows, dropped = [], []
    for name, split in splits.items():
        row = {"split": name, "sentences": f"{split['sentences']:,}"}
        for side, kind in product(("source", "target"), ("tokens", "types")):
            row[f"{side} {kind}"] = f"{split[side][kind]:,}"
        rows.append(row)
        reasons = [f"{reason} {count:,}" for reason, count in split["dropped"].items() if count]
        if reasons:
            dropped.append(f"not in {name}: {', '.join(reasons)}")
    return "\n".join([*aligned(rows, left=("split",)), *dropped, *map(str, overlaps)])
