"""Lists as runs learn from them and rerank them: with cleaned text, and with features of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from itersel.corpus.prepare import Preparation
from itersel.errors import FilePath
from itersel.lists.lines import Block
from itersel.lists.reading import DenseChooser, ReadLists, read_block, read_lists
from itersel.lists.table import ListTable
from itersel.storage.arrays import Float64s, Int64s

# Adds features to a table, given the source of each sentence, and the decoder's score of each translation.
FeatureAdder = Callable[[ListTable, Sequence[str], Float64s], ListTable]


def read_cleaned(
    paths: Sequence[FilePath], preparation: Preparation, choose_dense: DenseChooser, ids: Int64s | None = None
) -> ReadLists:
    """Read lists with cleaned text; see `read_lists`."""
    return read_lists(paths, ids=ids, choose_dense=choose_dense, prepare=_cleaner(preparation))


def read_cleaned_block(
    block: Block, path: FilePath, preparation: Preparation, choose_dense: DenseChooser, has_lines: bool
) -> ReadLists:
    """Read a block of lists with cleaned text; see `read_block`."""
    return read_block(block, path, choose_dense, _cleaner(preparation), has_lines)


def _cleaner(preparation: Preparation) -> Callable[[str], str]:
    return lambda text: preparation.clean([text])[0]


def with_features(lists: ReadLists, add_features: FeatureAdder, sources: Sequence[str]) -> ReadLists:
    """Return cleaned lists, without duplicates, with further features in their table.

    Duplicates must have been removed, because some features depend on the other translations of a list.
    """
    return lists._replace(table=add_features(lists.table, sources, _scores(lists)))


def _scores(lists: ReadLists) -> Float64s:
    """Return the scores of all translations: 0 for all of a sentence if one of them has none."""
    is_missing = np.isnan(lists.score)
    is_scored = np.bincount(lists.table.sentence[is_missing], minlength=lists.table.sentence_count) == 0
    return np.where(is_scored[lists.table.sentence], lists.score, 0.0)
