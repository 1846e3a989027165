"""Sparse features of a rule in plain Python, with strings."""

from __future__ import annotations

import itertools
import re
from collections import Counter

Symbol = str | int  # a terminal, or -1 and -2 for the nonterminals


ALL_X = ("X", "X", "X")
GLUE_START_CATEGORIES, GLUE_CATEGORIES = ("S", "X", "X"), ("S", "S", "X")


def sparse_features(
    source: tuple[Symbol, ...], target: tuple[Symbol, ...], rule_categories: tuple[str, str, str] = ALL_X
) -> dict[str, int]:
    """Return the features of a rule by name; its categories are left-hand side, [.,1] and [.,2]."""
    lhs, first, second = rule_categories
    categories = {-1: first, -2: second}
    source_names = [categories.get(symbol, symbol) for symbol in source]
    target_names = [f"{categories[s]}{-s}" if isinstance(s, int) else s for s in target]
    identity_source = [f"N{categories[s]}" if isinstance(s, int) else s for s in source]
    identity_target = [f"N{-s}" if isinstance(s, int) else s for s in target]
    names = [
        f"R:{lhs}:{'_'.join(identity_source)}:{'_'.join(identity_target)}",
        *(f"RBS:{a}_{b}" for a, b in _bigrams(source_names)),
        *(f"RBT:{a}_{b}" for a, b in _bigrams(target_names)),
        f"Shape_S{_shape(source)}_T{_shape(target)}",
    ]
    return dict(Counter(name.replace("=", "_").replace(";", "_") for name in names))


def _bigrams(symbols: list[str]) -> list[tuple[str, str]]:
    padded = ["<r>", *symbols, "</r>"]
    return list(itertools.pairwise(padded))


def _shape(symbols: tuple[Symbol, ...]) -> str:
    letters = "".join("n" if isinstance(symbol, int) else "t" for symbol in symbols)
    match = re.fullmatch("(t*)(n?)(t*)(n?)(t*)", letters)
    assert match is not None
    return "".join("1" if part else "0" for part in match.groups())
