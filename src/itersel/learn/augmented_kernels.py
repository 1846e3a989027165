"""Cost-augmented decoding: the derivation in a forest with the best score plus or minus cost.

Cost is 1 - BLEU. BLEU does not decompose over edges, so the search is approximate: bottom-up, each item keeps
the few partial translations with the best objective, and edges combine those of their antecedents (Chiang,
Marton & Resnik 2008 and cdec score partial translations in the same way). A partial translation counts each
n-gram of the references that it contains. So the clipped counts of a complete translation are exact, and so
is the objective of a derivation of the goal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.hypotheses import GOAL_RULE
from itersel.decode.prune_kernels import Kept
from itersel.decode.trie_kernels import NONE
from itersel.jit import leaf_kernel
from itersel.learn.bleu_kernels import ORDER, closest_length, score_counts
from itersel.learn.partial_kernels import (
    MARGIN,
    Partials,
    ReferenceNgrams,
    append_partial,
    append_word,
    keep_row,
)


class Objective(NamedTuple):
    """The objective of the search: share * model score + gain * BLEU.

    Attributes
    ----------
    share, gain
        1 and 1: hope; 1 and -1: fear; 0 and 1: oracle.
    variant, context
        Variant of sentence BLEU, and its context, float64 (CONTEXT_SIZE).
    order
        The order of the longest n-gram in a reference, at most `ORDER`.
    lengths
        int64 (m): words of each reference.
    mean_length
        Mean number of words of a reference, positive.
    model_weight
        Weight of the language model.
    """

    share: float
    gain: float
    variant: int
    context: NDArray[np.float64]
    order: int
    lengths: NDArray[np.int64]
    mean_length: float
    model_weight: float


class Task(NamedTuple):
    """The forest to search and the objective, with only the arrays needed: more would slow down compilation.

    Attributes
    ----------
    edge_rule, edge_first, edge_second, edge_model
        Edges: see `itersel.decode.hypotheses.Hypotheses`.
    kept
        Items and edges to search.
    rule, rule_score
        Rules of the sentence: see `itersel.decode.rule_kernels.SentenceRules`.
    source, source_offset, target, target_offset
        Rules of the shard: see `itersel.decode.rule_kernels.RuleTable`.
    ngrams
        N-grams of the references.
    objective
        The objective to maximise.
    beam
        Number of partial translations that an item keeps.
    """

    edge_rule: NDArray[np.int32]
    edge_first: NDArray[np.int32]
    edge_second: NDArray[np.int32]
    edge_model: NDArray[np.float64]
    kept: Kept
    rule: NDArray[np.int32]
    rule_score: NDArray[np.float64]
    source: NDArray[np.int32]
    source_offset: NDArray[np.int64]
    target: NDArray[np.int32]
    target_offset: NDArray[np.int64]
    ngrams: ReferenceNgrams
    objective: Objective
    beam: int


class Scratch(NamedTuple):
    """Matches and n-grams of one translation plus the context, float64 (ORDER) each."""

    matches: NDArray[np.float64]
    ngrams: NDArray[np.float64]


@leaf_kernel
def approximate_bleu(
    ngrams: ReferenceNgrams,
    objective: Objective,
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
        scratch.ngrams[n] = context[ORDER + n] + max(0, length - n)
    before = context[2 * ORDER + 1]
    closest = closest_length(objective.lengths, length, covered)
    bleu: float = score_counts(
        objective.variant,
        scratch.matches,
        scratch.ngrams,
        context[2 * ORDER] + length,
        before + covered * closest,
        objective.order,
    )
    whole = before + objective.mean_length
    contribution: float = bleu * ((before + covered * objective.mean_length) / whole)
    return contribution


@leaf_kernel
def translate(task: Task, partials: Partials, row: int) -> None:
    """Fill in the words of a row whose edge and parts are known."""
    ngrams = task.ngrams
    partials.length[row] = 0
    for i in range(MARGIN):
        partials.left[row, i], partials.right[row, i] = 0, 0
    for node in range(ngrams.available.shape[0]):
        partials.matched[row, node] = 0
    rule = task.edge_rule[partials.edge[row]]
    begin, end = np.int64(0), np.int64(1)
    if rule != GOAL_RULE:
        begin, end = task.target_offset[task.rule[rule]], task.target_offset[task.rule[rule] + 1]
    for i in range(begin, end):
        # the goal passes on the words of its only antecedent
        symbol = -1 if rule == GOAL_RULE else np.int64(task.target[i])
        if symbol >= 0:
            append_word(ngrams, partials, row, ngrams.number[symbol], 1)
        else:
            part = partials.first[row] if symbol == -1 else partials.second[row]
            append_partial(ngrams, partials, row, part)


@leaf_kernel
def fill_item(task: Task, scratch: Scratch, partials: Partials, item: int, covered: float) -> None:
    """Find the best partial translations of an item whose antecedents are done.

    Ranks i and j of the antecedents are combined only if (i + 1)(j + 1) is at most the beam. For any other
    pair, at least as many pairs as the beam holds have ranks no higher than its own.
    """
    kept, objective, beam = task.kept, task.objective, task.beam
    row = partials.model.shape[0] - 1
    # no partial translation contributes more to BLEU
    before = objective.context[2 * ORDER + 1]
    words = objective.mean_length
    most = max(0.0, objective.gain) * (before + covered * words) / (before + words)
    for place in range(kept.edge_offset[item], kept.edge_offset[item + 1]):
        edge = kept.edge[place]
        rule = task.edge_rule[edge]
        own = objective.model_weight * task.edge_model[edge]
        if rule != GOAL_RULE:
            own += task.rule_score[rule]
        first, second = task.edge_first[edge], task.edge_second[edge]
        first_begin, first_size, second_begin, second_size = 0, 1, 0, 1
        if first != NONE:
            first_begin, first_size = kept.item[first] * beam, partials.size[kept.item[first]]
        if second != NONE:
            second_begin, second_size = kept.item[second] * beam, partials.size[kept.item[second]]
        for i in range(min(first_size, beam)):
            for j in range(min(second_size, beam // (i + 1))):
                partials.edge[row], partials.first[row], partials.second[row] = edge, NONE, NONE
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
                translate(task, partials, row)
                bleu = approximate_bleu(task.ngrams, objective, scratch, partials, row, covered)
                partials.model[row] = model
                partials.objective[row] = objective.share * model + objective.gain * bleu
                if np.isfinite(partials.objective[row]):
                    keep_row(partials, item, beam, row)


@leaf_kernel
def count_covered(task: Task, covered: NDArray[np.int64]) -> None:
    """Count the source words that each kept item covers, in int64 (items) preset to 0."""
    for item in range(covered.shape[0]):
        edge = task.kept.edge[task.kept.edge_offset[item]]
        for antecedent in (task.edge_first[edge], task.edge_second[edge]):
            if antecedent != NONE:
                covered[item] += covered[task.kept.item[antecedent]]
        rule = task.edge_rule[edge]
        if rule != GOAL_RULE:
            for i in range(task.source_offset[task.rule[rule]], task.source_offset[task.rule[rule] + 1]):
                covered[item] += task.source[i] >= 0


@leaf_kernel
def search_augmented(task: Task, scratch: Scratch, partials: Partials, covered: NDArray[np.int64]) -> None:
    """Fill the partial translations of all items, antecedents first; the last item is the goal.

    `covered`, int64 (items), is preset to 0.
    """
    count_covered(task, covered)
    goal = covered.shape[0] - 1
    for item in range(goal + 1):
        fill_item(task, scratch, partials, item, covered[item] / covered[goal])
