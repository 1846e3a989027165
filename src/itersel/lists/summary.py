"""What n-best lists contain, from parsing every line once: sentences, and features, of which some are dense.

Dense features are the columns of a table; all other features are in sparse rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from itersel.errors import FilePath, InputError
from itersel.lists.lines import Line, LineParser, check_present, value_names
from itersel.storage.arrays import Int32s
from itersel.vectors.feature_names import DENSE_FEATURES, DENSE_NAME, MAX_DENSE


class Summary(NamedTuple):
    """What lists contain."""

    path: FilePath  # of the first file or folder, for messages
    sentence_count: int
    sentence: Int32s  # of each translation, in the order of the files
    names: Sequence[str]  # of all features, in order of first occurrence
    sizes: Mapping[str, int]  # number of values of each name that ended in ``=``

    def dense_names(self, given: Sequence[str] = ()) -> list[str]:
        """Return the dense features: those that are `given`, or else by their form, or by their names.

        An InputError is raised if the lists have none of those that are given, or if too many look dense.
        """
        if given and set(self.names).isdisjoint(given):
            raise InputError(f"has none of the dense features, such as '{given[0]}'", self.path)
        found = list(given) or self._dense_by_form()
        if len(found) > MAX_DENSE:
            raise InputError(
                f"{len(found)} features look dense, such as '{found[-1]}'; name at most "
                f"{MAX_DENSE} with data.dense_names in the config",
                self.path,
            )
        return found

    def _dense_by_form(self) -> list[str]:
        """Return the features whose values follow ``Name=``.

        In lists without such names, itersel's own features are dense, and words that may end in a number,
        such as TM_1.
        """
        blocks = {one for name, count in self.sizes.items() for one in value_names(name, count)}
        if blocks:
            return [name for name in self.names if name in blocks]
        return [name for name in self.names if name in DENSE_FEATURES or DENSE_NAME.fullmatch(name)]


def summarise(lines: Iterable[Line], paths: Sequence[FilePath], sentence_count: int | None = None) -> Summary:
    """Check every line of the lists in `paths`; `sentence_count` is the number of sentences, if known."""
    parser = LineParser()
    sentence = array("i")
    for translation in parser.translations(lines):
        sentence.append(translation.sentence)

    of_translations = np.array(sentence, np.int32)
    count = check_present(np.unique(of_translations), sentence_count, paths[0])
    return Summary(paths[0], count, of_translations, list(parser.feature_ids), parser.sizes)
