"""Looking up translations that were chosen from n-best lists, for their numbers, such as COMET scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xxhash

from itersel.errors import FilePath, InputError
from itersel.lists.lines import LineParser, listed_translations
from itersel.storage.arrays import Int64s


class ListedTexts(NamedTuple):
    """The texts in lists.

    A number belongs to a text: where several translations of a sentence have the same text, it is that of the
    first in the files.
    """

    position: Mapping[bytes, int]  # in the files, of each digest of a sentence and a text
    translation_count: int  # all translations in the files

    def rows(self, path: FilePath, numbers: Iterable[int], lines: Sequence[str]) -> Int64s:
        """Return which translation in the lists each line is; the lines have these `numbers`, from 0."""
        rows = []
        for number, line in zip(numbers, lines, strict=True):
            row = self.position.get(_digest(number, line))
            if row is None:
                raise InputError("is not in the list of its sentence; translate again", path, number + 1)
            rows.append(row)
        return np.array(rows, np.int64)


def find_texts(
    paths: Sequence[FilePath], clean: Callable[[str], str], is_wanted: Callable[[int, str], bool]
) -> ListedTexts:
    """Read the texts of lists; `clean` changes each, `is_wanted` chooses among them by sentence and text."""
    first: dict[bytes, int] = {}
    parser = LineParser()
    row = -1
    for row, translation in enumerate(parser.translations(listed_translations(paths))):
        text = clean(translation.text)
        if is_wanted(translation.sentence, text):
            first.setdefault(_digest(translation.sentence, text), row)
    return ListedTexts(first, row + 1)


def _digest(sentence: int, text: str) -> bytes:
    """Return what stands for a text: lists can have millions, and strings would need more memory."""
    return xxhash.xxh3_128_digest(f"{sentence} {text}".encode())
