"""Feature groups: dense features, and sparse features by template."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.limits import DENSE_FEATURES, TEMPLATES
from itersel.storage.strings import StringTable, string_table
from itersel.vectors.features import feature_keys

DENSE, OTHER = "dense", "other"
# By number. Features in "other" come from imported grammars.
GROUPS = (DENSE, *TEMPLATES, OTHER)


def find_groups(key: NDArray[np.uint64], name: StringTable) -> NDArray[np.int8]:
    """Return the group of each feature, as its position in `GROUPS`.

    Parameters
    ----------
    key, name
        uint64 (D), and the D names.
    """
    group = np.full(key.shape[0], GROUPS.index(OTHER), np.int8)
    group[np.isin(key, feature_keys(string_table(DENSE_FEATURES)))] = GROUPS.index(DENSE)
    begin, length = name.offset[:-1], np.diff(name.offset)
    for template, prefix in TEMPLATES.items():
        found = np.flatnonzero(length >= len(prefix))
        for place, letter in enumerate(prefix.encode()):
            found = found[name.data[begin[found] + place] == letter]
        group[found] = GROUPS.index(template)
    return group
