"""Corpus statistics, with what was dropped and why, as JSON and as a table."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from itersel.corpus.split import Overlap, describe_overlap
from itersel.corpus.text import Bitext, StrPath, split_words
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


def read_statistics(paths: Sequence[StrPath]) -> dict[str, Statistics]:
    """Return the splits of one or more statistics files of ``itersel corpus prepare``, by name."""
    splits: dict[str, Statistics] = {}
    for path in paths:
        with _damage(path, "itersel corpus prepare"):
            found = read_json(path)["splits"]
            for split in found.values():
                _check_numbers(split["dropped"])
                _check_numbers({"sentences": split["sentences"]})
                for side in ("source", "target"):
                    _check_numbers({kind: split[side][kind] for kind in ("tokens", "types")})
            splits.update(found)
    return splits


@contextlib.contextmanager
def _damage(path: StrPath, command: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"is not a statistics file of {command}", path) from None


def _check_numbers(counts: Mapping[str, int]) -> Mapping[str, int]:
    if not all(type(count) is int and 0 <= count <= MAX_INTEGER for count in counts.values()):
        raise ValueError
    return counts


def read_left_out(
    preparation: Sequence[StrPath], collection: StrPath | None = None
) -> list[tuple[str, str, int]]:
    """Return what was dropped: from where, why, and how many pairs (lines, for monolingual text).

    The files are statistics of ``itersel corpus prepare``, and of ``itersel corpus libreoffice-help``.
    """
    found: list[tuple[str, Mapping[str, int]]] = []
    for path in (collection,) if collection is not None else ():
        with _damage(path, "itersel corpus"):
            counts = read_json(path)
            reasons = _check_numbers({reason: counts[reason] for reason in COLLECTION_REASONS})
            found.append(("collection", reasons))
    for path in preparation:
        with _damage(path, "itersel corpus"):
            document = read_json(path)
            found += [(name, _check_numbers(split["dropped"])) for name, split in document["splits"].items()]
            if "monolingual" in document:
                found.append(("monolingual", _check_numbers(document["monolingual"]["dropped"])))
    return [(name, reason, count) for name, counts in found for reason, count in counts.items() if count]


def read_overlaps(paths: Sequence[StrPath]) -> list[Overlap]:
    """Return the pairs that splits share, from statistics files of ``itersel corpus prepare``."""
    found = []
    for path in paths:
        with _damage(path, "itersel corpus prepare"):
            for one in read_json(path).get("overlaps", ()):
                _check_numbers({"pairs": one["pairs"]})
                found.append(Overlap(str(one["split"]), str(one["other"]), one["pairs"]))
    return found


def format_table(splits: Mapping[str, Statistics], overlaps: Sequence[Overlap] = ()) -> str:
    """Return a printable table: a line per split, one for each with dropped pairs, and the overlaps."""
    header = ("split", "sentences", "source tokens", "source types", "target tokens", "target types")
    rows = []
    for name, split in splits.items():
        numbers = [split["sentences"]]
        numbers += [split[side][kind] for side in ("source", "target") for kind in ("tokens", "types")]
        rows.append([name, *(f"{number:,}" for number in numbers)])
    dropped = []
    for name, split in splits.items():
        reasons = [f"{reason} {count:,}" for reason, count in split["dropped"].items() if count]
        if reasons:
            dropped.append(f"not in {name}: {', '.join(reasons)}")
    return "\n".join([*aligned(header, rows, left=(0,)), *dropped, *map(describe_overlap, overlaps)])
