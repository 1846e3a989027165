"""Plain Python versions of the checks of rules and of indexed positions."""

from collections.abc import Sequence

from itersel.grammar.grammar_kernels import GLUE, GLUE_START, PASS_THROUGH
from itersel.grammar.index_kernels import SPAN_LIMIT

Points = Sequence[tuple[int, int]]


def is_good_rule(
    number: int,
    kind: int,
    source: Sequence[int],
    target: Sequence[int],
    points: Points,
    categories: tuple[int, int, int] | None = None,
    ranks: Sequence[int] = (),
) -> bool:
    """Whether the decoder can apply a rule; without categories, all are X."""
    nonterminals = [symbol for symbol in source if symbol < 0]
    if nonterminals != list(range(-1, -len(nonterminals) - 1, -1)):
        return False
    if sorted(symbol for symbol in target if symbol < 0) != sorted(nonterminals):
        return False
    if any(i >= len(source) or j >= len(target) for i, j in points):
        return False
    if number < 2:
        sides = [-1] if number == 0 else [-1, -2]
        fits = categories in (None, ((1, 0, 0), (1, 1, 0))[number])
        return kind == (GLUE_START, GLUE)[number] and list(source) == sides == list(target) and fits
    if kind in (GLUE_START, GLUE) or len(source) == 0:
        return False
    if categories is None:
        return list(source) != [-1]
    if list(source) == [-1] and ranks[categories[0]] <= ranks[categories[1]]:
        return False
    return not any(categories[1 + len(nonterminals) :]) and (kind != PASS_THROUGH or categories[0] == 0)


def is_good_index(
    sentences: Sequence[Sequence[int]],
    room: Sequence[int],
    positions: Sequence[Sequence[int]],
    link: Sequence[int],
) -> bool:
    """Whether all positions of an index agree with the sentences and links.

    sentences: each ends with word 0. positions: rows of five, see `IndexArrays.position`.
    """
    if not positions:
        return True
    p, ends = 0, [*(row[4] for row in positions[1:]), len(link)]
    if positions[0][4] != 0 or [0, *ends] != sorted([0, *ends]):
        return False
    for sentence in sentences:
        if not sentence or sentence[-1] != 0 or 0 in sentence[:-1]:
            return False
        for i in range(len(sentence)):
            begins, marks_end, low, high, begin = positions[p]
            after = len(sentence) - 1 - i
            links = list(link[begin : ends[p]])
            bounds = [links[0], links[-1] + 1] if links else [-1, -1]
            if links != sorted(set(links)) or [low, high] != bounds or room[p] != min(after, 255):
                return False
            for mask, most in ((begins, after), (marks_end, i)):
                allowed = sum(1 << n for n in range(1, min(most, SPAN_LIMIT) + 1))
                if mask & 0xFFFFFFFF & ~allowed:
                    return False
            p += 1
    return True
