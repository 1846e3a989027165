"""Corpus statistics, with what was dropped and why, as JSON and as a table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from itersel.corpus.split import Overlap, describe_overlap
from itersel.corpus.text import Bitext, split_words
from itersel.errors import InputError
from itersel.limits import MAX_INTEGER
from itersel.storage.json_files import read_json
from itersel.storage.text_table import aligned

Statistics = dict[str, Any]

# Reasons for dropping paragraphs of the LibreOffice Help.
COLLECTION_REASONS = ("no counterpart", "untranslated", "duplicates")


def count_words(sentences: Sequence[str]) -> dict[str, int]:
    """Return the number of tokens and of types (distinct tokens)."""
    words = Counter(word for sentence in sentences for word in split_words(sentence))
    return {"tokens": words.total(), "types": len(words)}


def describe(bitext: Bitext, dropped: Mapping[str, int]) -> Statistics:
    """Return the statistics of one split; `dropped` counts dropped pairs by reason."""
    tasks = {} if bitext.task is None else {"tasks": dict(sorted(Counter(bitext.task).items()))}
    return {
        "sentences": bitext.size,
        "source": count_words(bitext.source),
        "target": count_words(bitext.target),
        "dropped": dict(dropped),
        **tasks,
    }


def read_statistics(paths: Sequence[str | os.PathLike[str]]) -> dict[str, Statistics]:
    """Return the splits of one or more statistics files of ``itersel corpus prepare``, by name."""
    splits: dict[str, Statistics] = {}
    for path in paths:
        try:
            found = read_json(path)["splits"]
            for split in found.values():
                _check_numbers(split["dropped"])
                _check_numbers({"sentences": split["sentences"]})
                for side in ("source", "target"):
                    _check_numbers({kind: split[side][kind] for kind in ("tokens", "types")})
            splits.update(found)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError("is not a statistics file of itersel corpus prepare", path) from None
    return splits


def _check_numbers(counts: Mapping[str, int]) -> Mapping[str, int]:
    if not all(type(count) is int and 0 <= count <= MAX_INTEGER for count in counts.values()):
        raise ValueError
    return counts


def read_left_out(
    preparation: Sequence[str | os.PathLike[str]], collection: str | os.PathLike[str] | None = None
) -> list[tuple[str, str, int]]:
    """Return what was dropped: from where, why, and how many pairs (lines, for monolingual text).

    Parameters
    ----------
    preparation
        Statistics files of ``itersel corpus prepare``.
    collection
        The statistics file of ``itersel corpus libreoffice-help``.
    """
    found: list[tuple[str, Mapping[str, int]]] = []
    try:
        for path in (collection,) if collection is not None else ():
            counts = read_json(path)
            found.append(
                ("collection", _check_numbers({reason: counts[reason] for reason in COLLECTION_REASONS}))
            )
        for path in preparation:
            document = read_json(path)
            found += [(name, _check_numbers(split["dropped"])) for name, split in document["splits"].items()]
            if "monolingual" in document:
                found.append(("monolingual", _check_numbers(document["monolingual"]["dropped"])))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError("is not a statistics file of itersel corpus", path) from None
    return [(name, reason, count) for name, counts in found for reason, count in counts.items() if count]


def read_overlaps(paths: Sequence[str | os.PathLike[str]]) -> list[Overlap]:
    """Return the pairs that splits share, from statistics files of ``itersel corpus prepare``."""
    found = []
    for path in paths:
        try:
            for one in read_json(path).get("overlaps", ()):
                _check_numbers({"pairs": one["pairs"]})
                found.append(Overlap(str(one["split"]), str(one["other"]), one["pairs"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError("is not a statistics file of itersel corpus prepare", path) from None
    return found


def format_table(splits: Mapping[str, Statistics], overlaps: Sequence[Overlap] = ()) -> str:
    """Return a printable table: a line per split, one for each with dropped pairs, and the overlaps."""
    header = ("split", "sentences", "source tokens", "source types", "target tokens", "target types")
    rows = []
    for name, split in splits.items():
        numbers = [split["sentences"]]
        numbers += [split[side][kind] for side in ("source", "target") for kind in ("tokens", "types")]
        rows.append([name, *(f"{number:,}" for number in numbers)])
    return "\n".join(
        [*aligned(header, rows, left=(0,)), *_dropped_lines(splits), *map(describe_overlap, overlaps)]
    )


def _dropped_lines(splits: Mapping[str, Statistics]) -> list[str]:
    lines = []
    for name, split in splits.items():
        reasons = [f"{reason} {count:,}" for reason, count in split["dropped"].items() if count]
        if reasons:
            lines.append(f"not in {name}: {', '.join(reasons)}")
    return lines
