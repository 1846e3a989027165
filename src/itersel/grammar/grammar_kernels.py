"""Kinds of rules, the rules and categories that all grammars have, and the validation of rules.

The decoder can apply any rule that passes.
"""

from __future__ import annotations

from itersel.compile.jit import leaf_kernel
from itersel.grammar.template_kernels import Rules
from itersel.storage.arrays import Int32s, UInt8s, UInt16s

# kinds of rules
GRAMMAR_RULE, GLUE_START, GLUE, PASS_THROUGH = 0, 1, 2, 3

# the glue rules, [S] -> [X] and [S] -> [S] [X]: the first rows of every table of rules, also of a sentence's
GLUE_START_ROW, GLUE_ROW = 0, 1
GLUE_RULES = 2

# names and numbers of the categories in every grammar; a file that lists categories begins with these
X = "X"
S = "S"
FIXED_CATEGORIES = (X, S)
CATEGORY_X, CATEGORY_S = 0, 1

# errors of a rule
FINE, BAD_GLUE, BAD_KIND, BAD_SOURCE, BAD_TARGET, BAD_ALIGNMENT, BAD_CATEGORY = range(7)
RULE_FAULTS = {
    BAD_GLUE: ("rule_kind", "does not begin with the two glue rules"),
    BAD_KIND: ("rule_kind", "contains a glue rule that is not one of the first two rules"),
    BAD_SOURCE: ("rule_source", "contains a source side without words, or nonterminals out of order"),
    BAD_TARGET: ("rule_target", "contains different nonterminals from the source side"),
    BAD_ALIGNMENT: ("rule_alignment", "points outside of the rule"),
    BAD_CATEGORY: ("rule_category", "contains categories that do not fit the rule"),
}


@leaf_kernel
def fits(category: UInt16s, rule: int, kind: int, nonterminals: int) -> bool:
    """Whether the categories of a rule fit its kind and its number of nonterminals."""
    left = category[rule, 0]
    first = category[rule, 1]
    second = category[rule, 2]
    if kind == GLUE_START:
        return bool(left == CATEGORY_S and first == CATEGORY_X and second == CATEGORY_X)
    if kind == GLUE:
        return bool(left == CATEGORY_S and first == CATEGORY_S and second == CATEGORY_X)
    if kind == PASS_THROUGH and left != CATEGORY_X:
        return False
    return bool((nonterminals > 0 or first == CATEGORY_X) and (nonterminals > 1 or second == CATEGORY_X))


@leaf_kernel
def rule_fault(kind: UInt8s, rules: Rules, rank: Int32s, rule: int) -> int:
    """Return the error of a rule, `FINE` if there is none; see `find_bad_rule`."""
    source = rules.source
    target = rules.target
    category = rules.category
    begin, end = rules.source_offset[rule], rules.source_offset[rule + 1]
    nonterminals = 0

    for i in range(begin, end):
        if source[i] < 0:
            nonterminals += 1
            if source[i] != -nonterminals:
                return BAD_SOURCE

    target_begin, target_end = rules.target_offset[rule], rules.target_offset[rule + 1]
    seen = 0  # a bit for each nonterminal
    for j in range(target_begin, target_end):
        if target[j] < 0:
            bit = -target[j]  # 1 and 2
            if seen & bit:
                return BAD_TARGET
            seen |= bit

    if seen != (1 << nonterminals) - 1:
        return BAD_TARGET

    if rule < GLUE_RULES:
        symbols = rule + 1
        if kind[rule] != GLUE_START + rule or nonterminals != symbols:
            return BAD_GLUE
        if end - begin != symbols or target_end - target_begin != symbols or target[target_begin] != -1:
            return BAD_GLUE
    elif kind[rule] == GLUE_START or kind[rule] == GLUE:
        return BAD_KIND
    else:
        lone = end - begin == 1 and nonterminals == 1
        if lone and category.shape[0] > 0:
            lone = rank[category[rule, 0]] <= rank[category[rule, 1]]
        if end == begin or lone:
            return BAD_SOURCE

    if category.shape[0] > 0 and not fits(category, rule, kind[rule], nonterminals):
        return BAD_CATEGORY

    for k in range(rules.point_offset[rule], rules.point_offset[rule + 1]):
        if rules.point[k, 0] >= end - begin or rules.point[k, 1] >= target_end - target_begin:
            return BAD_ALIGNMENT
    return FINE


@leaf_kernel
def find_bad_rule(kind: UInt8s, rules: Rules, rank: Int32s) -> tuple[int, int]:
    """Return the first rule that the decoder could not apply, and its error; or (-1, FINE).

    The caller has checked the bounds of offsets, symbols and categories. kind: (R); rank: (categories), their
    order by unary rules.

    The first two rules are [S] -> [X] and [S] -> [S] [X]. For every other rule, the source side is not
    empty; if it is a single nonterminal, that has a lower rank (the rule could apply endlessly otherwise);
    its nonterminals are -1, then -2, each at most once; the target side has the same ones, in any order;
    and alignment points lie within both sides. Categories of absent nonterminals are X, and pass-through
    rules have the left-hand side X.
    """
    if kind.shape[0] < GLUE_RULES:
        return 0, BAD_GLUE

    for rule in range(kind.shape[0]):
        fault = rule_fault(kind, rules, rank, rule)
        if fault != FINE:
            return rule, fault
    return -1, FINE
