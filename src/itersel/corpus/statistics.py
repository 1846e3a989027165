"""Corpus statistics, with what was dropped and why, as JSON and as a table."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

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


class Prepared(NamedTuple):
    """What ``itersel corpus prepare`` has counted."""

    splits: dict[str, Statistics]
    overlaps: list[Overlap]
    # from where pairs (lines, for monolingual text) were dropped, why, and how many
    left_out: list[tuple[str, str, int]]


def read_statistics(paths: Sequence[StrPath]) -> Prepared:
    """Read one or more statistics files of ``itersel corpus prepare``."""
    found = Prepared({}, [], [])
    for path in paths:
        with _damage(path, "itersel corpus prepare"):
            document = read_json(path)
            for name, split in document["splits"].items():
                _check_numbers({"sentences": split["sentences"]})
                for side in ("source", "target"):
                    _check_numbers({kind: split[side][kind] for kind in ("tokens", "types")})
                found.left_out.extend(_dropped(name, split["dropped"]))
            found.splits.update(document["splits"])
            if "monolingual" in document:
                found.left_out.extend(_dropped("monolingual", document["monolingual"]["dropped"]))
            for one in document.get("overlaps", ()):
                _check_numbers({"pairs": one["pairs"]})
                found.overlaps.append(Overlap(str(one["split"]), str(one["other"]), one["pairs"]))
    return found


def read_collection(path: StrPath) -> list[tuple[str, str, int]]:
    """Return what was left out according to a statistics file of ``itersel corpus libreoffice-help``."""
    with _damage(path, "itersel corpus"):
        counts = read_json(path)
        return _dropped("collection", {reason: counts[reason] for reason in COLLECTION_REASONS})


@contextlib.contextmanager
def _damage(path: StrPath, command: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"is not a statistics file of {command}", path) from None


def _check_numbers(counts: Mapping[str, int]) -> None:
    if not all(type(count) is int and 0 <= count <= MAX_INTEGER for count in counts.values()):
        raise ValueError


def _dropped(name: str, counts: Mapping[str, int]) -> list[tuple[str, str, int]]:
    _check_numbers(counts)
    return [(name, reason, count) for reason, count in counts.items() if count]


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
