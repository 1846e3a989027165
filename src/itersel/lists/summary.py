"""What the n-best lists of a text contain: sentences and dense features."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itersel.errors import FilePath, InputError
from itersel.lists.dense import find_dense
from itersel.lists.folders import counted_translations
from itersel.lists.lines import LineParser, check_present
from itersel.storage.arrays import Int32s
from itersel.vectors.feature_names import MAX_DENSE


class Summary(NamedTuple):
    """What the lists of a text contain."""

    sentences: int
    sentence: Int32s  # of each translation, in the order of the files
    dense: list[str]  # names of the dense features


def summarise(lists: Sequence[FilePath], sentences: int | None = None, dense: Sequence[str] = ()) -> Summary:
    """Check every line of lists; `sentences` is their number, if known, `dense` by default `find_dense`."""
    parser, sentence = LineParser(), array("i")
    for path, number, line in counted_translations(lists, "read"):
        sentence.append(parser.parse(line, path, number).sentence)

    names = list(parser.numbers)
    if dense and set(names).isdisjoint(dense):
        raise InputError(f"has none of the dense features, such as '{dense[0]}'", lists[0])
    found = list(dense) or find_dense(names, parser.sizes)
    if len(found) > MAX_DENSE:
        raise InputError(
            f"{len(found)} features look dense, such as '{found[-1]}'; name at most "
            f"{MAX_DENSE} with the key 'dense' (in a config: data.dense)",
            lists[0],
        )

    of_translations = np.array(sentence, np.int32)
    return Summary(check_present(np.unique(of_translations), sentences, lists[0]), of_translations, found)
