"""Decide which features of another decoder's lists are dense: columns of a table instead of sparse rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from itersel.errors import FilePath, InputError
from itersel.lists.lines import value_names
from itersel.vectors.feature_names import DENSE_FEATURES, DENSE_NAME, MAX_DENSE


def find_dense(names: Sequence[str], sizes: Mapping[str, int]) -> list[str]:
    """Return the dense features: the features whose values follow ``Name=`` (the names in `sizes`).

    In lists without such names, itersel's own features are dense, and words that may end in a number, such as
    TM_1.
    """
    blocks = {one for name, count in sizes.items() for one in value_names(name, count)}
    if blocks:
        return [name for name in names if name in blocks]
    return [name for name in names if name in DENSE_FEATURES or DENSE_NAME.fullmatch(name)]


def dense_features(
    names: Sequence[str], sizes: Mapping[str, int], given: Sequence[str], path: FilePath
) -> list[str]:
    """Return the dense features of the lists of a text: those that are `given`, or by `find_dense`.

    An InputError names `path` if the lists have none of those that are given, or if too many look dense.
    """
    if given and set(names).isdisjoint(given):
        raise InputError(f"has none of the dense features, such as '{given[0]}'", path)
    found = list(given) or find_dense(names, sizes)
    if len(found) > MAX_DENSE:
        raise InputError(
            f"{len(found)} features look dense, such as '{found[-1]}'; name at most "
            f"{MAX_DENSE} with data.dense_names in the config",
            path,
        )
    return found
