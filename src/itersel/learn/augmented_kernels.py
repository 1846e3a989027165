"""Cost-augmented decoding: the derivation in a forest with the best score plus or minus cost.

Cost is 1 - BLEU. BLEU does not decompose over edges, so the search is approximate: bottom-up, each item keeps
the few partial translations with the best objective, and edges combine those of their antecedents (Chiang,
Marton & Resnik 2008 and cdec score partial translations in the same way). A partial translation counts each
n-gram of the references that it contains, and knows the words at its edges. So the clipped counts of a
complete translation are exact, and so is the objective of a derivation of the goal.

Shapes: r = words of all references, G = their distinct n-grams, R = their distinct words, m = references,
P = partial translations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.bleu.order import ORDER
from itersel.bleu.references import References
from itersel.bleu.score_kernels import NGRAMS, REFERENCE, closest_length, ngram_count, score_counts
from itersel.compile.jit import kernel, leaf_kernel
from itersel.decode.hypothesis_kernels import GOAL_RULE, Kept
from itersel.decode.scoring_kernels import NONE
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt8s

# Words at the edge of a partial translation that n-grams across the edge can contain.
MARGIN = ORDER - 1
# Counts of an n-gram in a reference are capped at this, so that they fit in a byte.
MAX_NGRAM_COUNT = 255
ROOT = 0


class ReferenceNgrams(NamedTuple):
    """The n-grams of references as a trie from the last word to the first: a child adds a word in front."""

    number: Int32s  # (words of the shard): number of each word in the references, from 1, or 0
    child: Int32s  # (G + 1, R + 1): child by node and number of the word in front; 0 is none
    available: UInt8s  # (G + 1): maximum count of the n-gram in any reference
    offset: Int64s  # (ORDER + 1): the nodes of n-grams of n words start at offset[n - 1]


class Partials(NamedTuple):
    """Partial translations; the last row is scratch."""

    edge: Int32s  # (P)
    first: Int32s  # (P): the partial translations of the edge's antecedents, -1 for none
    second: Int32s
    model: Float64s  # (P): model score
    objective: Float64s  # (P): what is maximised
    length: Int32s  # (P): number of words
    left: Int32s  # (P, MARGIN): numbers of the words at the edge, outermost first; then 0
    right: Int32s
    matched: UInt8s  # (P, G + 1): counts of the reference n-grams, clipped to `available`
    rank: Int32s  # (P): the rows that an item keeps, best first, from item * beam on
    size: Int32s  # (items): number of these rows


class AugmentedObjective(NamedTuple):
    """The objective of the search: share * model score + gain * BLEU."""

    share: float  # and gain: 1 and 1: hope; 1 and -1: fear; 0 and 1: oracle
    gain: float  # times the factor of BLEU as a cost
    variant: int  # of sentence BLEU
    context: Float64s  # (COUNTS)
    order: int  # of the longest n-gram in a reference, at most ORDER
    lengths: Int64s  # (m): words of each reference
    mean_length: float  # their mean, positive
    model_weight: float  # of the language model


class AugmentedProblem(NamedTuple):
    """The forest to search and the objective, with only the arrays needed: more would slow down compilation.

    The arrays are those of the forest (`Hypotheses`), the sentence's rules (`SentenceRules`) and the rules of
    the shard (`ShardRules`).
    """

    edge_rule: Int32s
    edge_first: Int32s
    edge_second: Int32s
    edge_model: Float64s
    kept: Kept  # items and edges to search
    rule: Int32s
    rule_score: Float64s
    source: Int32s
    source_offset: Int64s
    target: Int32s
    target_offset: Int64s
    ngrams: ReferenceNgrams
    objective: AugmentedObjective
    beam: int  # number of partial translations that an item keeps


class Scratch(NamedTuple):
    """Matches and n-grams of one translation plus the context, float64 (ORDER) each."""

    matches: Float64s
    ngrams: Float64s


@kernel
def index_references(references: References, words: int) -> ReferenceNgrams:
    """Return the n-grams of the references of a sentence; `words` is the size of the vocabulary."""
    length = references.word.shape[0]
    number = np.zeros(words, np.int32)
    distinct = 0

    for word in references.word:
        if number[word] == 0:
            distinct += 1
            number[word] = distinct

    child = np.zeros((ORDER * length + 1, distinct + 1), np.int32)
    available, count = np.zeros(ORDER * length + 1, np.uint8), np.zeros(ORDER * length + 1, np.uint8)
    offset = np.zeros(ORDER + 1, np.int64)

    # for each position, the node of the n-gram that ends there
    node = np.full(length, ROOT, np.int64)
    nodes = 1

    for n in range(ORDER):
        offset[n] = nodes
        for one in range(references.offset.shape[0] - 1):
            begin, stop = references.offset[one] + n, references.offset[one + 1]
            for end in range(begin, stop):
                before = number[references.word[end - n]]
                if child[node[end], before] == ROOT:
                    child[node[end], before] = nodes
                    nodes += 1
                node[end] = child[node[end], before]
                count[node[end]] = min(MAX_NGRAM_COUNT, np.int64(count[node[end]]) + 1)

            for end in range(begin, stop):
                available[node[end]] = max(available[node[end]], count[node[end]])
                count[node[end]] = 0

    offset[ORDER] = nodes
    return ReferenceNgrams(number, child[:nodes], available[:nodes], offset)


def make_partials(items: int, beam: int, nodes: int) -> Partials:
    """Allocate partial translations for `items` items."""
    rows = items * beam + 1
    return Partials(
        np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(rows),
        np.empty(rows), np.empty(rows, np.int32), np.empty((rows, MARGIN), np.int32),
        np.empty((rows, MARGIN), np.int32), np.empty((rows, nodes), np.uint8), np.empty(rows, np.int32),
        np.zeros(items, np.int32),
    )  # fmt: skip


@leaf_kernel
def append_word(ngrams: ReferenceNgrams, partials: Partials, row: int, word: int, least: int) -> None:
    """Append a word (its number) to a partial translation, counting n-grams of at least `least` words."""
    length = partials.length[row]
    node = np.int64(ngrams.child[ROOT, word])
    for n in range(1, ORDER + 1):
        if node == ROOT:
            break

        if n >= least and partials.matched[row, node] < ngrams.available[node]:
            partials.matched[row, node] += np.uint8(1)
        if n > length or n == ORDER:
            break
        node = np.int64(ngrams.child[node, partials.right[row, n - 1]])

    if length < MARGIN:
        partials.left[row, length] = word

    for i in range(MARGIN - 1, 0, -1):
        partials.right[row, i] = partials.right[row, i - 1]
    partials.right[row, 0] = word
    partials.length[row] = length + 1


@leaf_kernel
def append_partial(ngrams: ReferenceNgrams, partials: Partials, row: int, part: int) -> None:
    """Append a partial translation to another."""
    for node in range(1, ngrams.available.shape[0]):
        both = np.int64(partials.matched[row, node]) + np.int64(partials.matched[part, node])
        partials.matched[row, node] = min(both, np.int64(ngrams.available[node]))
    length = partials.length[part]
    for i in range(min(length, MARGIN)):
        # n-grams inside the part have been counted
        append_word(ngrams, partials, row, partials.left[part, i], i + 2)
    if length > MARGIN:
        partials.length[row] += length - MARGIN
        for i in range(MARGIN):
            partials.right[row, i] = partials.right[part, i]


@leaf_kernel
def is_better(partials: Partials, a: int, b: int) -> bool:
    """Whether a row precedes another: the larger objective, else the larger model score."""
    if partials.objective[a] != partials.objective[b]:
        return bool(partials.objective[a] > partials.objective[b])
    return bool(partials.model[a] > partials.model[b])


@leaf_kernel
def is_equivalent(partials: Partials, a: int, b: int) -> bool:
    """Whether any two translations that extend two rows in the same way have equal BLEU."""
    if partials.length[a] != partials.length[b]:
        return False
    for i in range(MARGIN):
        if partials.left[a, i] != partials.left[b, i] or partials.right[a, i] != partials.right[b, i]:
            return False
    for node in range(1, partials.matched.shape[1]):
        if partials.matched[a, node] != partials.matched[b, node]:
            return False
    return True


@leaf_kernel
def copy_row(partials: Partials, source: int, target: int) -> None:
    """Copy a row to another."""
    partials.edge[target] = partials.edge[source]
    partials.first[target], partials.second[target] = partials.first[source], partials.second[source]
    partials.model[target], partials.objective[target] = partials.model[source], partials.objective[source]
    partials.length[target] = partials.length[source]
    for i in range(MARGIN):
        partials.left[target, i] = partials.left[source, i]
        partials.right[target, i] = partials.right[source, i]
    for node in range(partials.matched.shape[1]):
        partials.matched[target, node] = partials.matched[source, node]


@leaf_kernel
def keep_row(partials: Partials, item: int, beam: int, row: int) -> None:
    """Keep a copy of a row if it is among an item's best; of equivalent rows, only the best is kept."""
    begin = item * beam
    size = partials.size[item]
    place = 0
    while place < size and not is_equivalent(partials, partials.rank[begin + place], row):
        place += 1

    if place == size and size < beam:
        partials.rank[begin + size] = begin + size
        partials.size[item] = size + 1
    else:
        # it competes with its equivalent, or else with the worst
        place = min(place, size - 1)
        if not is_better(partials, row, partials.rank[begin + place]):
            return

    copy_row(partials, row, partials.rank[begin + place])
    while place > 0 and is_better(partials, partials.rank[begin + place], partials.rank[begin + place - 1]):
        other = partials.rank[begin + place - 1]
        partials.rank[begin + place - 1] = partials.rank[begin + place]
        partials.rank[begin + place] = other
        place -= 1


@leaf_kernel
def approximate_bleu(
    ngrams: ReferenceNgrams,
    objective: AugmentedObjective,
    scratch: Scratch,
    partials: Partials,
    row: int,
    covered: float,
) -> float:
    """Return the contribution to BLEU of a partial translation that covers a share of the source words.

    It is BLEU with the same share of the reference length, times that share of the words on which BLEU is
    computed, both including the context. With several references, the reference length is that of the
    reference whose share is closest in length to the partial translation, and the number of words is their
    mean. For a complete translation the result is sentence BLEU.
    """
    offset = ngrams.offset
    context = objective.context
    length = partials.length[row]

    for n in range(ORDER):
        total = np.int64(0)
        for node in range(offset[n], offset[n + 1]):
            total += np.int64(partials.matched[row, node])
        scratch.matches[n] = context[n] + total
        scratch.ngrams[n] = context[NGRAMS + n] + ngram_count(length, n + 1)

    before = context[REFERENCE]
    closest = closest_length(objective.lengths, length, covered)
    bleu: float = score_counts(
        objective.variant, scratch.matches, scratch.ngrams, before + covered * closest, objective.order
    )

    whole = before + objective.mean_length
    contribution: float = bleu * ((before + covered * objective.mean_length) / whole)
    return contribution


@leaf_kernel
def translate(problem: AugmentedProblem, partials: Partials, row: int) -> None:
    """Fill in the words of a row whose edge and parts are known."""
    ngrams = problem.ngrams
    partials.length[row] = 0
    for i in range(MARGIN):
        partials.left[row, i], partials.right[row, i] = 0, 0

    for node in range(ngrams.available.shape[0]):
        partials.matched[row, node] = 0

    rule = problem.edge_rule[partials.edge[row]]
    begin, end = np.int64(0), np.int64(1)
    if rule != GOAL_RULE:
        begin, end = problem.target_offset[problem.rule[rule]], problem.target_offset[problem.rule[rule] + 1]

    for i in range(begin, end):
        # the goal passes on the words of its only antecedent
        symbol = -1 if rule == GOAL_RULE else np.int64(problem.target[i])
        if symbol >= 0:
            append_word(ngrams, partials, row, ngrams.number[symbol], 1)
        else:
            part = partials.first[row] if symbol == -1 else partials.second[row]
            append_partial(ngrams, partials, row, part)


@leaf_kernel
def fill_item(
    problem: AugmentedProblem, scratch: Scratch, partials: Partials, item: int, covered: float
) -> None:
    """Find the best partial translations of an item whose antecedents are done.

    Ranks i and j of the antecedents are combined only if (i + 1)(j + 1) is at most the beam. For any other
    pair, at least as many pairs as the beam holds have ranks no higher than its own.
    """
    kept = problem.kept
    objective = problem.objective
    beam = problem.beam
    row = partials.model.shape[0] - 1

    # no partial translation contributes more to BLEU
    before = objective.context[REFERENCE]
    words = objective.mean_length
    most = max(0.0, objective.gain) * (before + covered * words) / (before + words)

    for place in range(kept.edge_offset[item], kept.edge_offset[item + 1]):
        edge = kept.edge[place]
        rule = problem.edge_rule[edge]
        own = objective.model_weight * problem.edge_model[edge]
        if rule != GOAL_RULE:
            own += problem.rule_score[rule]

        first, second = problem.edge_first[edge], problem.edge_second[edge]
        first_begin = 0
        first_size = 1
        second_begin = 0
        second_size = 1
        if first != NONE:
            first_begin, first_size = kept.item[first] * beam, partials.size[kept.item[first]]
        if second != NONE:
            second_begin, second_size = kept.item[second] * beam, partials.size[kept.item[second]]

        for i in range(min(first_size, beam)):
            for j in range(min(second_size, beam // (i + 1))):
                partials.edge[row] = edge
                partials.first[row] = NONE
                partials.second[row] = NONE

                model = own
                if first != NONE:
                    partials.first[row] = partials.rank[first_begin + i]
                    model += partials.model[partials.first[row]]
                if second != NONE:
                    partials.second[row] = partials.rank[second_begin + j]
                    model += partials.model[partials.second[row]]

                if partials.size[item] == beam:
                    worst = partials.rank[item * beam + beam - 1]
                    if objective.share * model + most < partials.objective[worst]:
                        continue

                translate(problem, partials, row)
                bleu = approximate_bleu(problem.ngrams, objective, scratch, partials, row, covered)
                partials.model[row] = model
                partials.objective[row] = objective.share * model + objective.gain * bleu
                if np.isfinite(partials.objective[row]):
                    keep_row(partials, item, beam, row)


@leaf_kernel
def count_covered(problem: AugmentedProblem, covered: Int64s) -> None:
    """Count the source words that each kept item covers, in int64 (items) preset to 0."""
    for item in range(covered.shape[0]):
        edge = problem.kept.edge[problem.kept.edge_offset[item]]
        for antecedent in (problem.edge_first[edge], problem.edge_second[edge]):
            if antecedent != NONE:
                covered[item] += covered[problem.kept.item[antecedent]]
        rule = problem.edge_rule[edge]
        if rule != GOAL_RULE:
            row = problem.rule[rule]
            for i in range(problem.source_offset[row], problem.source_offset[row + 1]):
                covered[item] += problem.source[i] >= 0


@kernel
def search_augmented(problem: AugmentedProblem, partials: Partials) -> None:
    """Fill the partial translations of all items, antecedents first; the last item is the goal."""
    scratch = Scratch(np.empty(ORDER), np.empty(ORDER))
    covered = np.zeros(partials.size.shape[0], np.int64)
    count_covered(problem, covered)
    goal = covered.shape[0] - 1
    for item in range(goal + 1):
        fill_item(problem, scratch, partials, item, covered[item] / covered[goal])
