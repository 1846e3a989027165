"""What n-best lists contain, from parsing every line once: sentences and features."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from itersel.errors import FilePath
from itersel.lists.features import ListFeatures
from itersel.lists.lines import Line, LineParser, check_present
from itersel.storage.arrays import Int32s


class Summary(NamedTuple):
    """What lists contain."""

    sentence_count: int
    sentence: Int32s  # of each translation, in the order of the files
    features: ListFeatures


def summarise(lines: Iterable[Line], paths: Sequence[FilePath], sentence_count: int | None = None) -> Summary:
    """Check every line of the lists in `paths`; `sentence_count` is the number of sentences, if known."""
    parser = LineParser()
    sentence = array("i")
    for translation in parser.translations(lines):
        sentence.append(translation.sentence)

    of_translations = np.array(sentence, np.int32)
    count = check_present(np.unique(of_translations), sentence_count, paths[0])
    return Summary(count, of_translations, parser.features)
