"""What the n-best lists of a text contain: sentences and dense features."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itersel.errors import FilePath
from itersel.lists.dense import dense_features
from itersel.lists.folders import listed_translations
from itersel.lists.lines import LineParser, check_present
from itersel.storage.arrays import Int32s


class Summary(NamedTuple):
    """What the lists of a text contain."""

    sentence_count: int
    sentence: Int32s  # of each translation, in the order of the files
    dense_names: list[str]


def summarise(
    paths: Sequence[FilePath], sentence_count: int | None = None, dense_names: Sequence[str] = ()
) -> Summary:
    """Check every line of lists; `sentence_count` is the number of sentences, if known.

    For `dense_names`, see what is given to `dense_features`.
    """
    parser = LineParser()
    sentence = array("i")
    for translation in parser.translations(listed_translations(paths)):
        sentence.append(translation.sentence)

    found = dense_features(list(parser.feature_ids), parser.sizes, dense_names, paths[0])
    of_translations = np.array(sentence, np.int32)
    return Summary(
        check_present(np.unique(of_translations), sentence_count, paths[0]), of_translations, found
    )
