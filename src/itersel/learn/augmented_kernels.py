"""Cost-augmented decoding: the derivation of a forest with the best score plus or minus cost.

Cost is 1 - BLEU. BLEU is no sum over edges, so this is an approximation: bottom-up, every item keeps the few
partial translations with the best objective, and edges combine what their antecedents kept (Chiang, Marton &
Resnik 2008 and cdec score partial translations in this way). A partial translation knows how often it holds
each n-gram of the references, so that the counts of a whole translation, and their clipping, are exact, and
so is the objective of a derivation of the goal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.prune_kernels import Kept
from itersel.decode.search_kernels import GOAL_RULE
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
    """What a derivation is judged by: share * model score + gain * BLEU.

    Attributes
    ----------
    share, gain
        1 and 1: hope; 1 and -1: fear; 0 and 1: oracle.
    variant, context
        Of sentence BLEU, and its float64 (CONTEXT_SIZE).
    order
        The largest order of which a reference has an n-gram, at most `ORDER`.
    lengths
        int64 (m): words of each reference.
    mean_length
        Words of a reference on average, above 0.
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
    """What is searched, and for what: no more arrays than are needed, or the kernels take long to compile.

    Attributes
    ----------
    edge_rule, edge_first, edge_second, edge_model
        Edges: see `itersel.decode.search_kernels.Hypotheses`.
    kept
        Items and edges that are looked at.
    rule, rule_score
        Rules of the sentence: see `itersel.decode.rule_kernels.SentenceRules`.
    source, source_offset, target, target_offset
        Rules of the shard: see `itersel.decode.rule_kernels.RuleTable`.
    ngrams
        Those of the references.
    objective
        What is as large as possible.
    beam
        Partial translations that an item keeps.
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
    """Float64 (ORDER) each: matches and n-grams of one translation and the context."""

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
    """Return what a partial translation, of a share `covered` of the source words, contributes to BLEU.

    That is BLEU with the same share of the reference's length, times that share of the words that BLEU is of,
    both with the context. Of several references, the one whose share is closest to the partial translation in
    length gives the length, and all together their mean gives the words. For a whole translation it is
    sentence BLEU.
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
    closest = closest_length(objective.lengths, 0, objective.lengths.shape[0], length, covered)
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
    """Fill in the words of a row, whose edge and parts are known."""
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
        # the goal hands the words of its only antecedent on
        symbol = -1 if rule == GOAL_RULE else np.int64(task.target[i])
        if symbol >= 0:
            append_word(ngrams, partials, row, ngrams.number[symbol], 1)
        else:
            part = partials.first[row] if symbol == -1 else partials.second[row]
            append_partial(ngrams, partials, row, part)


@leaf_kernel
def fill_item(task: Task, scratch: Scratch, partials: Partials, item: int, covered: float) -> None:
    """Find the best partial translations of an item, whose antecedents are done.

    Ranks i and j of the antecedents are combined where (i + 1)(j + 1) is at most the beam: any other pair has
    at least as many pairs of ranks no higher before it.
    """
    kept, objective, beam = task.kept, task.objective, task.beam
    row = partials.model.shape[0] - 1
    # no partial translation has more of BLEU
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
    """Add up how many source words every item that was kept translates: int64 (items), zeros before."""
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

    `covered`, int64 (items), is zeros.
    """
    count_covered(task, covered)
    goal = covered.shape[0] - 1
    for item in range(goal + 1):
        fill_item(task, scratch, partials, item, covered[item] / covered[goal])
