"""n-best lists read in blocks of sentences, so that memory hardly grows with their number.

Lists are read twice, as when they are divided into files: the first time, every line is parsed, which tells
the features and the sentences; the second time, the lines of each block are read into a table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np

from itersel.errors import FilePath, InputError
from itersel.lists.folders import find_lists
from itersel.lists.lines import Line, ListBlock, listed_translations, translation_lines
from itersel.lists.summary import summarise
from itersel.storage.files import STANDARD_STREAM

# Translations of a block, unless a single list has more.
TRANSLATIONS = 1 << 14


class ListBlocks:
    """Lists whose lines have been parsed once.

    Attributes
    ----------
    summary
        What the lists contain.

    Raises
    ------
    InputError
        If the lists cannot be read, or lack a sentence.
    """

    def __init__(self, paths: Sequence[FilePath]) -> None:
        self._paths = paths
        # pipes can be read only once
        self._kept: dict[str, list[tuple[int, str]]] = {
            path: list(translation_lines(path)) for path in _files_of(paths) if not _can_be_read_again(path)
        }
        self.summary = summarise(self._lines(), paths)

    def __iter__(self) -> Iterator[ListBlock]:
        """Yield all sentences in blocks of about `TRANSLATIONS`.

        Lines wait until all earlier blocks are complete. If the files are in the order of their sentences, no
        line waits.
        """
        sentences = self.summary.sentence
        size = np.bincount(sentences)
        block_of = (np.cumsum(size) - size) // TRANSLATIONS
        # a list that is larger than a block leaves out numbers
        block_of = np.unique(block_of, return_inverse=True)[1]
        begins = np.searchsorted(block_of, np.arange(block_of[-1] + 2))
        missing = np.bincount(block_of, size).astype(np.int64)

        waiting: list[list[Line]] = [[] for _ in missing]
        complete = 0
        for line, sentence in zip(self._lines(), sentences, strict=False):
            block = int(block_of[sentence])
            waiting[block].append(line)
            missing[block] -= 1
            while complete < len(waiting) and not missing[complete]:
                lines = waiting[complete]
                waiting[complete] = []
                yield ListBlock(np.arange(begins[complete], begins[complete + 1]), lines)
                complete += 1

        if complete < len(waiting):
            raise InputError("has changed while it was read", self._paths[0])

    def _lines(self) -> Iterator[Line]:
        """Yield all lines; see `listed_translations`."""
        if not self._kept:
            yield from listed_translations(self._paths)
            return
        for path in _files_of(self._paths):
            lines = self._kept[path] if path in self._kept else translation_lines(path)
            yield from ((path, number, line) for number, line in lines)


def _files_of(paths: Sequence[FilePath]) -> list[str]:
    """Return the files of lists; none for what `listed_translations` refuses."""
    return [] if isinstance(paths, str) else find_lists(paths)


def _can_be_read_again(path: str) -> bool:
    return path != STANDARD_STREAM and (os.path.isfile(path) or not os.path.exists(path))
