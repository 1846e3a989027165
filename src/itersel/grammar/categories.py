"""Categories of nonterminals: names, limits, and the order in which the decoder needs them over one span.

A rule whose source side is a lone nonterminal, such as [NP] -> [NN], derives an NP from an NN over the same
span. The decoder therefore builds the nodes of a span category by category. Cycles of such rules, including
[S] -> [X], are rejected because they could apply without end.
"""

from __future__ import annotations

import re

import numpy as np

from itersel.arrays import Int32s, Int64s, UInt16s
from itersel.grammar.shard_kernels import CATEGORY_S, CATEGORY_X

# By number; every shard that lists categories begins with these.
X, S = "X", "S"
FIXED_CATEGORIES = (X, S)
MAX_CATEGORIES = 1000
# In words. Categories other than X may span a whole sentence, so its forest grows quadratically with its
# length.
MAX_CATEGORY_SENTENCE = 200
CATEGORY = re.compile(r"[^\[\],\s]{1,100}")


class CategorySet:
    """The categories of a shard while its rules are being read, including X and S."""

    def __init__(self) -> None:
        self.numbers = {name: number for number, name in enumerate(FIXED_CATEGORIES)}
        self._made_of: dict[str, set[str]] = {S: {X}}  # by rules with a lone nonterminal

    def add(self, name: str) -> int:
        """Return the number of a category, a new one if needed; a ValueError if there are too many."""
        if name not in self.numbers and len(self.numbers) == MAX_CATEGORIES:
            raise ValueError(f"more than {MAX_CATEGORIES} categories, [{name}] is one too many")
        return self.numbers.setdefault(name, len(self.numbers))

    def add_lone(self, category: str, antecedent: str) -> None:
        """Record a rule [category] -> [antecedent]; a ValueError if it closes a cycle."""
        if antecedent in self._made_of.get(category, ()):
            return
        below, waiting = {antecedent}, [antecedent]  # all that the antecedent can be made of
        while waiting:
            found = self._made_of.get(waiting.pop(), set()) - below
            below |= found
            waiting += found
        if category in below:
            raise ValueError(
                f"the source side is a lone nonterminal; with other such rules, and [{S}] -> [{X}], "
                f"[{category}] can be made of itself without end"
            )
        self._made_of.setdefault(category, set()).add(antecedent)


def category_ranks(source: Int32s, source_offset: Int64s, rule_category: UInt16s, count: int) -> Int32s:
    """Order categories so that each comes after those that it can be derived from by lone nonterminals.

    Returns the rank of every category, int32 (count); -1 if it depends on a cycle.
    """
    single = np.flatnonzero(np.diff(source_offset) == 1)
    lone = single[source[source_offset[single]] < 0]
    below = {category: set[int]() for category in range(count)}
    below[CATEGORY_S].add(CATEGORY_X)
    for category, antecedent in np.unique(rule_category[lone, :2], axis=0).tolist():
        below[category].add(antecedent)
    ranks = np.full(count, -1, np.int32)
    for rank in range(count):
        ready = next((c for c, antecedents in below.items() if not antecedents), None)
        if ready is None:
            break
        ranks[ready] = rank
        del below[ready]
        for antecedents in below.values():
            antecedents.discard(ready)
    return ranks
