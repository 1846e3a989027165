"""Sparse features of a rule in plain Python, with strings."""

import itertools
import re
from collections import Counter
from collections.abc import Sequence

Symbol = str | int  # a terminal, or -1 and -2 for the nonterminals

ALL_X = ("X", "X", "X")
GLUE_START_CATEGORIES, GLUE_CATEGORIES = ("S", "X", "X"), ("S", "S", "X")


def sparse_features(
    source: tuple[Symbol, ...],
    target: tuple[Symbol, ...],
    rule_categories: tuple[str, str, str] = ALL_X,
    alignment: Sequence[tuple[int, int]] = (),
    count: int = 0,
    templates: Sequence[str] = ("R", "RBS", "RBT", "Shape"),
) -> dict[str, int]:
    """Return the features of a rule by name; its categories are the left-hand side, [.,1] and [.,2].

    `alignment` has positions within the sides, `count` is the rule's count in the sample.
    """
    lhs, first, second = rule_categories
    categories = {-1: first, -2: second}
    source_names = [categories.get(symbol, symbol) for symbol in source]
    target_names = [f"{categories[s]}{-s}" if isinstance(s, int) else s for s in target]
    identity_source = [f"N{categories[s]}" if isinstance(s, int) else s for s in source]
    identity_target = [f"N{-s}" if isinstance(s, int) else s for s in target]
    linked = {i for i, _ in alignment}
    pairs = [(source[i], target[j]) for i, j in alignment]
    deleted = [word for i, word in enumerate(source) if i not in linked] if alignment else []
    by_template = {
        "R": [f"R:{lhs}:{'_'.join(identity_source)}:{'_'.join(identity_target)}"],
        "RBS": [f"RBS:{a}_{b}" for a, b in itertools.pairwise(["<r>", *source_names, "</r>"])],
        "RBT": [f"RBT:{a}_{b}" for a, b in itertools.pairwise(["<r>", *target_names, "</r>"])],
        "Shape": [f"Shape_S{_shape(source)}_T{_shape(target)}"],
        "ShapeT": [f"Shape_T{_shape(target)}"],
        "Lex": [f"Lex:{a}_{b}" for a, b in pairs if isinstance(a, str) and isinstance(b, str)],
        "Del": [f"Del:{word}" for word in deleted if isinstance(word, str)],
        "Count": [_count_bin(count)] if count else [],
    }
    for template in templates:
        if template not in by_template:
            raise LookupError(f"add template '{template}' to by_template in tests/naive/features.py")

    names = [name for template in templates for name in by_template[template]]
    return dict(Counter(name.replace("=", "_").replace(";", "_") for name in names))


def _count_bin(count: int) -> str:
    last = 1
    while last < count:
        last *= 2
    return f"Count:{last}" if last <= 2 else f"Count:{last // 2 + 1}-{last}"


def _shape(symbols: tuple[Symbol, ...]) -> str:
    letters = "".join("n" if isinstance(symbol, int) else "t" for symbol in symbols)
    parts = re.fullmatch("(t*)(n?)(t*)(n?)(t*)", letters).groups()
    return "".join("1" if part else "0" for part in parts)
