"""Pairs of sentences from a file of any format, checked and put into blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from itersel.corpus.corpora import Reading
from itersel.corpus.labels import checked_labels
from itersel.corpus.text import Bitext, check_text, check_tokens
from itersel.errors import InputError

_MAX_PAIRS = 10_000


class Pair(NamedTuple):
    """A pair of sentences: its texts, its line if that is known, and its label."""

    source: str
    target: str
    line: int | None
    task: str | None = None


def pair_blocks(pairs: Iterable[Pair], path: str, reading: Reading) -> Iterator[Bitext]:
    """Yield pairs in blocks.

    Raises
    ------
    InputError
        If a text is too long or contains a control character, ``|||`` or, if tokenised, a reserved word; if a
        label is not one word. Names the line.
    """
    rest = iter(pairs)
    while block := list(islice(rest, _MAX_PAIRS)):
        source, target, lines, tasks = map(list, zip(*block, strict=True))
        for side in (source, target):
            for text, line in zip(side, lines, strict=True):
                if len(text.encode()) > reading.limit:
                    message = f"is longer than {reading.limit:,} bytes{reading.advice}"
                    raise InputError(message, path, line)
            if reading.dropped is None:
                check_text(side, path, lines)
                if reading.tokenized:
                    check_tokens(side, path, lines)
        labels = None if tasks[0] is None else checked_labels(tasks, path, numbers=lines)
        yield Bitext(source, target, labels)
