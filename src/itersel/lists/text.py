"""Lists as runs learn from them and rerank them: with cleaned text, and with features of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from itersel.corpus.prepare import Preparation
from itersel.errors import FilePath
from itersel.lists.reading import DenseChooser, ReadLists, read_lists
from itersel.lists.table import ListTable
from itersel.storage.arrays import Float64s, Int64s

# Adds features to a table, given the source of each sentence, and the decoder's score of each translation.
FeatureAdder = Callable[[ListTable, Sequence[str], Float64s], ListTable]


def read_cleaned(
    paths: Sequence[FilePath],
    preparation: Preparation,
    dense: DenseChooser,
    ids: Int64s | None = None,
    has_lines: bool = False,
) -> ReadLists:
    """Read lists with cleaned text; see `read_lists`."""

    def cleaned(text: str) -> str:
        return preparation.clean([text])[0]

    return read_lists(paths, ids=ids, dense=dense, words=cleaned, has_lines=has_lines)


def with_features(lists: ReadLists, add_features: FeatureAdder, sources: Sequence[str]) -> ReadLists:
    """Return cleaned lists, without duplicates, with further features in their table.

    What others a list has matters to some features, so duplicates must have been removed.
    """
    return lists._replace(table=add_features(lists.table, sources, _scores(lists)))


def _scores(lists: ReadLists) -> Float64s:
    """Return the scores of all translations: 0 for all of a sentence if one of them has none."""
    is_missing = np.isnan(lists.score)
    is_scored = np.bincount(lists.table.sentence[is_missing], minlength=lists.table.sentence_count) == 0
    return np.where(is_scored[lists.table.sentence], lists.score, 0.0)
