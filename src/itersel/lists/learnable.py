"""Lists of another decoder, with what learners and tuners learn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from itersel.lists.counting import with_statistics
from itersel.lists.reading import ReadLists, without_duplicates
from itersel.lists.table import NO_NUMBERS
from itersel.storage.arrays import Float64s


def make_learnable(
    lists: ReadLists,
    tokenize_lines: Callable[[Sequence[str]], Sequence[str]],
    references: Sequence[Sequence[str]],
    quality: Float64s = NO_NUMBERS,
) -> ReadLists:
    """Keep only the first of equal translations, and add what is learned from: matches, and any quality.

    `quality` is that of each translation in the table; for the others see `with_statistics`.
    """
    kept = without_duplicates(lists._replace(table=lists.table._replace(quality=quality)))
    return kept._replace(table=with_statistics(kept.table, tokenize_lines, references))
