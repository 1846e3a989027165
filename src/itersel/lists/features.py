"""The features of n-best lists: their names, and which of them are dense.

Dense features are the columns of a list table (`itersel.lists.table`); all others are in its sparse rows. In
runs on given lists and for the rerankers that they train, `ListFeatures.dense` decides. Otherwise, all
features are columns for tuners that search along each of them, and none for everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from itersel.errors import FilePath, InputError
from itersel.storage.strings import string_table
from itersel.vectors.feature_names import MAX_DENSE, is_dense_name
from itersel.vectors.features import feature_keys
from itersel.vectors.weights import Weights, take_weights


class ListFeatures(NamedTuple):
    """The names of the features in lists, and how many values the lines have for each name."""

    names: Sequence[str]  # of all features, in order of first occurrence, those from other files last
    # number of values of each name that ended in ``=``; all other features have one value
    sizes: Mapping[str, int]

    def with_further(self, names: Iterable[str]) -> ListFeatures:
        """Return the features with those from other files, which have one value each."""
        return self._replace(names=[*self.names, *names])

    def dense(self, named: Sequence[str], path: FilePath) -> list[str]:
        """Return the dense features: those that the user has `named`, or else those that look dense.

        Raises an InputError about the lists in `path` if they have none of the features that are named, or if
        too many features look dense.
        """
        if named and set(self.names).isdisjoint(named):
            raise InputError(f"has none of the dense features, such as '{named[0]}'", path)

        found = list(named) or self._dense_by_form()
        if len(found) > MAX_DENSE:
            raise InputError(
                f"{len(found)} features look dense, such as '{found[-1]}'; name at most "
                f"{MAX_DENSE} with data.dense_names in the config",
                path,
            )
        return found

    def _dense_by_form(self) -> list[str]:
        """Return the features whose values follow ``Name=``.

        In lists without such names, the features with `is_dense_name` are dense.
        """
        formed = {one for name, count in self.sizes.items() for one in value_names(name, count)}
        if formed:
            return [name for name in self.names if name in formed]
        return [name for name in self.names if is_dense_name(name)]

    def split(self, weights: Weights) -> tuple[Weights, Weights]:
        """Return the weights of features of the lists, and those of all other features."""
        is_listed = np.isin(weights.key, feature_keys(string_table(self.names)))
        return take_weights(weights, is_listed), take_weights(weights, ~is_listed)


# Chooses the dense features of lists.
DenseChooser: TypeAlias = Callable[[ListFeatures], Sequence[str]]


def none_dense(features: ListFeatures) -> Sequence[str]:
    """Return no dense features, for readers that treat all features alike."""
    return ()


def value_names(name: str, count: int) -> list[str]:
    """Return the names of the features whose values follow ``name=``."""
    return [name] if count == 1 else [f"{name}_{number}" for number in range(count)]
