"""Forests for MERT: their arrays, and upper envelopes of the lines of all derivations.

The forest of a sentence is a hypergraph. An item is a node with a language-model state; an edge is a rule and
the items of its nonterminals. Items are in topological order, antecedents first; the last item is the goal.

With the weights w + x * d, the score of a derivation is a line in x, the sum of the lines of its edges. The
derivations that are best for some x are found bottom-up (Kumar, Macherey, Dyer and Och 2009): the envelope of
an edge is the sum of its line and its antecedents' envelopes, and the envelope of an item is the maximum over
its edges. Each line of an envelope has back-pointers to its edge and antecedent lines, from which the words
of the derivation are read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.bleu.bleu_kernels import Statistics, closest_lengths, ngram_matches
from itersel.bleu.order import ORDER
from itersel.bleu.references import References
from itersel.compile.jit import kernel, leaf_kernel
from itersel.decode.scoring_kernels import MISSING
from itersel.grammar.array_kernels import doubled, grown, sort_stably
from itersel.storage.arrays import Float64s, Int32s, Int64s

# Slopes that differ by less are equal up to the order of summation. If they counted as different, their lines
# would cross at arbitrary points, and each sum of envelopes would add more of them.
SAME_SLOPE = 1e-11


class Forests(NamedTuple):
    """The forests of all sentences of a file.

    Shapes: N sentences, M references, I items, E edges, R rules, C dense features.
    """

    item_offset: Int64s  # (N + 1): the items of each sentence; the last is the goal
    edge_offset: Int64s  # (I + 1): the edges of each item
    edge_rule: Int32s  # (E): rule of the sentence, counted from 0
    # int32 (E): antecedents, items of the sentence counted from 0; -1 for none
    edge_first: Int32s
    edge_second: Int32s
    # float64 (E): the edge's contribution to the language model's log10 probability
    edge_lm: Float64s
    rule_offset: Int64s  # (N + 1): the rules of each sentence
    rule_dense: Float64s  # (R, C): features of the rules, except the language model
    # int32, int64 (R + 1): target sides; -1 and -2 are nonterminals, 0 is any word that is not in the
    # references, and other words are numbered as in `reference`
    target: Int32s
    target_offset: Int64s
    # int32, int64 (M + 1): words, numbered from 1 within each sentence in order of first occurrence
    reference: Int32s
    reference_offset: Int64s
    sentence_reference_offset: Int64s  # (N + 1): the references of each sentence


@kernel
def find_bad_sentence(forests: Forests) -> int:
    """Return the first sentence whose forest is invalid, or -1.

    Every sentence needs an item and every item an edge. Every edge needs a rule of the sentence, and one
    antecedent, which precedes the item, for each nonterminal on the target side of the rule.
    """
    for sentence in range(forests.item_offset.shape[0] - 1):
        begin, end = forests.item_offset[sentence], forests.item_offset[sentence + 1]
        first_rule = forests.rule_offset[sentence]
        rules = forests.rule_offset[sentence + 1]
        if begin == end:
            return sentence

        for item in range(begin, end):
            if forests.edge_offset[item] == forests.edge_offset[item + 1]:
                return sentence

            for edge in range(forests.edge_offset[item], forests.edge_offset[item + 1]):
                rule = first_rule + forests.edge_rule[edge]
                if rule < first_rule or rule >= rules:
                    return sentence

                wanted_first = 0
                wanted_second = 0
                for i in range(forests.target_offset[rule], forests.target_offset[rule + 1]):
                    wanted_first += forests.target[i] == -1
                    wanted_second += forests.target[i] == -2

                first = forests.edge_first[edge]
                second = forests.edge_second[edge]
                if max(first, second) >= item - begin or min(first, second) < MISSING:
                    return sentence
                if wanted_first != (first != MISSING) or wanted_second != (second != MISSING):
                    return sentence
    return -1


class Lines(NamedTuple):
    """Lines of envelopes, or the lines from which an envelope is computed.

    `number` is float64 (lines, 3): intercept, slope, and the x from which the line is the highest.
    `origin` is int32 (lines, 3): edge of the sentence, and lines of its antecedents, -1 for none.
    """

    number: Float64s
    origin: Int32s


INTERCEPT, SLOPE, BEGIN = 0, 1, 2
EDGE, FIRST, SECOND = 0, 1, 2


@leaf_kernel
def add_sum(
    lines: Lines,
    offset: Int64s,
    sums: Lines,
    used: int,
    edge: int,
    first: int,
    second: int,
    intercept: float,
    slope: float,
) -> int:
    """Add the envelope of an edge to `sums`, of which `used` are in use: one line for each interval.

    The sum of two envelopes bends where either of them does, so `sums` needs capacity for as many lines as
    both have. `offset` (items + 1) are the lines of the items. Returns the new number of lines in use.
    """
    # the lines of the antecedents
    i, i_end = 0, 0
    if first != MISSING:
        i, i_end = offset[first], offset[first + 1]

    j, j_end = 0, 0
    if second != MISSING:
        j, j_end = offset[second], offset[second + 1]

    while True:
        sums.number[used, INTERCEPT] = intercept
        sums.number[used, SLOPE] = slope
        sums.origin[used, EDGE] = edge
        sums.origin[used, FIRST] = MISSING
        sums.origin[used, SECOND] = MISSING

        if first != MISSING:
            sums.number[used, INTERCEPT] += lines.number[i, INTERCEPT]
            sums.number[used, SLOPE] += lines.number[i, SLOPE]
            sums.origin[used, FIRST] = i

        if second != MISSING:
            sums.number[used, INTERCEPT] += lines.number[j, INTERCEPT]
            sums.number[used, SLOPE] += lines.number[j, SLOPE]
            sums.origin[used, SECOND] = j

        used += 1
        i_next = lines.number[i + 1, BEGIN] if i + 1 < i_end else np.inf
        j_next = lines.number[j + 1, BEGIN] if j + 1 < j_end else np.inf

        if i_next == np.inf and j_next == np.inf:
            return used
        if i_next <= j_next:
            i += 1
        if j_next <= i_next:
            j += 1


@kernel
def add_envelope(sums: Lines, count: int, lines: Lines, used: int) -> int:
    """Add the upper envelope of the first `count` of `sums` to `lines`, of which `used` are in use.

    Lines are added in order of slope; one that crosses the line to its left before that line begins replaces
    it. Of equal lines the first stays. `lines` needs capacity for all; returns the new number in use.
    """
    order = np.empty(count, np.int64)
    other = np.empty(count, np.int64)
    key = np.empty(count)
    for i in range(count):
        order[i] = i
        key[i] = sums.number[i, SLOPE]
    sort_stably(order, key, other, count)

    begin = used
    for row in order:
        intercept = sums.number[row, INTERCEPT]
        slope = sums.number[row, SLOPE]
        x = -np.inf
        is_hidden = False

        while used > begin:
            last = used - 1
            rise = slope - lines.number[last, SLOPE]
            lead = lines.number[last, INTERCEPT] - intercept

            if rise <= SAME_SLOPE * (1.0 + abs(slope)):
                is_hidden = lead >= 0.0
                if is_hidden:
                    break
                used -= 1
                x = -np.inf
                continue

            x = lead / rise
            if x > lines.number[last, BEGIN]:
                break
            used -= 1
            x = -np.inf

        if is_hidden or x == np.inf:
            continue

        lines.number[used, INTERCEPT] = intercept
        lines.number[used, SLOPE] = slope
        lines.number[used, BEGIN] = x
        for i in range(3):
            lines.origin[used, i] = sums.origin[row, i]
        used += 1
    return used


@kernel
def sentence_envelope(
    forests: Forests, sentence: int, rule_line: Float64s, lm_line: Float64s, lines: Lines, sums: Lines
) -> tuple[Lines, Lines, Int64s]:
    """Compute the envelopes of all items of a sentence.

    `rule_line` is float64 (R, 2): intercept and slope of each rule; `lm_line` is float64 (2): those per
    unit of the language-model feature. Returns the scratch arrays `lines` and `sums`, grown as needed, and
    the lines of each item, int64 (items + 1).
    """
    begin, end = forests.item_offset[sentence], forests.item_offset[sentence + 1]
    offset = np.zeros(end - begin + 1, np.int64)
    used = 0

    for item in range(end - begin):
        count = 0
        for edge in range(forests.edge_offset[begin + item], forests.edge_offset[begin + item + 1]):
            rule = forests.rule_offset[sentence] + forests.edge_rule[edge]
            model = forests.edge_lm[edge]
            first = forests.edge_first[edge]
            second = forests.edge_second[edge]

            room = count + 1
            if first != MISSING:
                room += offset[first + 1] - offset[first]
            if second != MISSING:
                room += offset[second + 1] - offset[second]

            if room > sums.number.shape[0]:
                sums = Lines(grown(sums.number, room), grown(sums.origin, room))

            count = add_sum(
                lines,
                offset,
                sums,
                count,
                edge,
                first,
                second,
                rule_line[rule, INTERCEPT] + model * lm_line[INTERCEPT],
                rule_line[rule, SLOPE] + model * lm_line[SLOPE],
            )

        lines = Lines(grown(lines.number, used + count), grown(lines.origin, used + count))
        used = add_envelope(sums, count, lines, used)
        offset[item + 1] = used
    return lines, sums, offset


@kernel
def read_words(
    forests: Forests, sentence: int, lines: Lines, line: int, words: Int32s, used: int
) -> tuple[Int32s, int]:
    """Append the words of a line's derivation to `words`, of which `used` are in use."""
    # stack of the symbols still to be written: words, or lines as -1 - number
    stack = np.empty(256, np.int32)
    stack[0] = -1 - line
    depth = 1

    while depth > 0:
        depth -= 1
        symbol = stack[depth]
        if symbol >= 0:
            if used == words.shape[0]:
                words = doubled(words)
            words[used] = symbol
            used += 1
            continue

        here = -1 - symbol
        rule = forests.rule_offset[sentence] + forests.edge_rule[lines.origin[here, EDGE]]

        for i in range(forests.target_offset[rule + 1] - 1, forests.target_offset[rule] - 1, -1):
            target = forests.target[i]
            if depth == stack.shape[0]:
                stack = doubled(stack)
            if target == -1:
                target = -1 - lines.origin[here, FIRST]
            elif target == -2:
                target = -1 - lines.origin[here, SECOND]
            stack[depth] = target
            depth += 1
    return words, used


@kernel
def goal_lines(
    forests: Forests, rule_line: Float64s, lm_line: Float64s
) -> tuple[Int64s, Float64s, Statistics]:
    """Return the derivations that are best for some x, for all sentences.

    The forests must have passed `find_bad_sentence`; for `rule_line` and `lm_line` see
    `sentence_envelope`. Returns the derivations of each sentence, int64 (N + 1); their intercepts and slopes,
    float64 (D, 2); and their BLEU statistics.
    """
    sentences = forests.item_offset.shape[0] - 1
    offset = np.zeros(sentences + 1, np.int64)
    number = np.empty((4 * sentences + 4, 2))
    matches = np.empty((4 * sentences + 4, ORDER), np.int32)
    # length, and length of the closest reference
    length = np.empty((4 * sentences + 4, 2), np.int32)
    lines = Lines(np.empty((1024, 3)), np.empty((1024, 3), np.int32))
    sums = Lines(np.empty((1024, 3)), np.empty((1024, 3), np.int32))
    words = np.empty(1024, np.int32)
    used = 0

    for sentence in range(sentences):
        lines, sums, line_offset = sentence_envelope(forests, sentence, rule_line, lm_line, lines, sums)
        goal = line_offset.shape[0] - 2
        first, last = line_offset[goal], line_offset[goal + 1]
        word_offset = np.zeros(last - first + 1, np.int64)

        for line in range(first, last):
            words, word_offset[line - first + 1] = read_words(
                forests, sentence, lines, line, words, word_offset[line - first]
            )

        begin = forests.sentence_reference_offset[sentence]
        end = forests.sentence_reference_offset[sentence + 1]
        ends = forests.reference_offset[begin : end + 1]
        references = References(forests.reference[ends[0] : ends[end - begin]], ends - ends[0])

        line_matches = ngram_matches(words, word_offset, references)
        closest = closest_lengths(ends[1:] - ends[:-1], word_offset[1:] - word_offset[:-1])

        size = used + last - first
        number = grown(number, size)
        matches = grown(matches, size)
        length = grown(length, size)

        for i in range(last - first):
            for n in range(2):
                number[used, n] = lines.number[first + i, n]
            for n in range(ORDER):
                matches[used, n] = line_matches[i, n]
            length[used, 0] = word_offset[i + 1] - word_offset[i]
            length[used, 1] = closest[i]
            used += 1

        offset[sentence + 1] = used
    statistics = Statistics(matches[:used].copy(), length[:used, 0].copy(), length[:used, 1].copy())
    return offset, number[:used].copy(), statistics
