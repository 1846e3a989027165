"""Cost-augmented decoding: the derivation in a forest with the best score plus or minus cost.

Cost is 1 - BLEU. BLEU does not decompose over edges, so the search is approximate: bottom-up, each item keeps
the few partial translations with the best objective, and edges combine those of their antecedents (Chiang,
Marton & Resnik 2008 and cdec score partial translations in the same way). A partial translation counts each
n-gram of the references that it contains, and knows the words at its edges (`partial_kernels`). So the
clipped counts of a complete translation are exact, and so is the objective of a derivation of the goal.

Shapes: m = references.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.bleu.bleu_kernels import (
    MATCHES,
    NGRAMS,
    REFERENCE,
    closest_length,
    ngram_count,
    sentence_bleu_of,
)
from itersel.bleu.order import ORDER
from itersel.compile.jit import kernel, leaf_kernel
from itersel.decode.hypothesis_kernels import GOAL_RULE, Kept
from itersel.decode.scoring_kernels import MISSING
from itersel.learn.partial_kernels import (
    MARGIN,
    Partials,
    ReferenceNgrams,
    append_partial,
    append_word,
    keep_row,
)
from itersel.storage.arrays import Float64s, Int32s, Int64s


class AugmentedObjective(NamedTuple):
    """The objective of the search: share * model score + gain * BLEU."""

    share: float  # and gain: 1 and 1: hope; 1 and -1: fear; 0 and 1: oracle
    gain: float  # times the factor of BLEU as a cost
    variant: int  # of sentence BLEU
    context: Float64s  # (COUNTS)
    order: int  # of the longest n-gram in a reference, at most ORDER
    lengths: Int64s  # (m): words of each reference
    mean_length: float  # their mean, positive
    lm_weight: float  # of the language model


class AugmentedProblem(NamedTuple):
    """The forest to search and the objective, with only the arrays needed: more would slow down compilation.

    The arrays are those of the forest (`Hypotheses`), the sentence's rules (`SentenceRules`) and the rules
    of all sentences (`RuleTable`).
    """

    edge_rule: Int32s
    edge_first: Int32s
    edge_second: Int32s
    edge_lm: Float64s
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
        scratch.matches[n] = context[MATCHES + n] + total
        scratch.ngrams[n] = context[NGRAMS + n] + ngram_count(length, n + 1)

    before = context[REFERENCE]
    closest = closest_length(objective.lengths, length, covered)
    bleu: float = sentence_bleu_of(
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
        partials.left[row, i] = 0
        partials.right[row, i] = 0

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
        own = objective.lm_weight * problem.edge_lm[edge]
        if rule != GOAL_RULE:
            own += problem.rule_score[rule]

        first = problem.edge_first[edge]
        second = problem.edge_second[edge]

        first_begin = 0
        first_size = 1
        second_begin = 0
        second_size = 1
        if first != MISSING:
            first_begin = kept.item[first] * beam
            first_size = partials.size[kept.item[first]]

        if second != MISSING:
            second_begin = kept.item[second] * beam
            second_size = partials.size[kept.item[second]]

        for i in range(min(first_size, beam)):
            for j in range(min(second_size, beam // (i + 1))):
                partials.edge[row] = edge
                partials.first[row] = MISSING
                partials.second[row] = MISSING

                model = own
                if first != MISSING:
                    partials.first[row] = partials.rank[first_begin + i]
                    model += partials.model[partials.first[row]]
                if second != MISSING:
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
            if antecedent != MISSING:
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
