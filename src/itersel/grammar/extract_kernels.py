"""The kernels that extract the grammars of many sentences, pattern by pattern."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import kernel
from itersel.grammar.array_kernels import run_end
from itersel.grammar.buffer_kernels import RuleBuffer, append_rows, append_rules, make_room
from itersel.grammar.match_kernels import (
    Blocks,
    Matches,
    match_seconds,
    match_thirds,
    size_seconds,
    sort_positions,
    take_sample,
)
from itersel.grammar.pair_kernels import find_pairs
from itersel.grammar.pattern_kernels import Patterns, RuleLimits, is_left_out
from itersel.grammar.rule_kernels import IndexedCorpus, PatternRules
from itersel.storage.arrays import Int32s, Int64s


@kernel
def list_seconds(
    blocks: Blocks,
    limits: RuleLimits,
    positions: Int32s,
    distance: int,
    seconds: Int32s,
    begin: Int64s,
    batch: int,
) -> Matches:
    """Return the occurrences of u X v for the first distinct v in `seconds`, as many as fit into a batch.

    Arguments as in `match_seconds`; begin: of all v. At least one v is matched, however often it occurs.
    """
    count = 1
    end = run_end(seconds, 0, seconds.shape[0])
    while count < begin.shape[0] - 1 and begin[count + 1] - begin[0] <= batch:
        count += 1
        end = run_end(seconds, end, seconds.shape[0])
    return match_seconds(blocks, limits, positions, distance, seconds[:end], begin[: count + 1])


@kernel
def add_pattern(
    corpus: IndexedCorpus,
    patterns: Patterns,
    pattern: int,
    blocks: Blocks,
    limits: RuleLimits,
    samples: int,
    pairs: PatternRules,
    rules: RuleBuffer,
) -> RuleBuffer:
    """Append the rules of a pattern, from its samples in `pairs.sample`; returns `rules`, grown as needed."""
    block = patterns.block[pattern]
    lengths = (int(blocks.length[block[0]]), int(blocks.length[block[1]]), int(blocks.length[block[2]]))
    count = find_pairs(corpus, lengths, limits, samples, pairs)

    is_word = block[1] == 0 and lengths[0] == 1
    if count > 0 or is_word:
        rules = make_room(rules, count, patterns.begin[pattern + 1] - patterns.begin[pattern], limits)
        new = append_rows(patterns, pattern, is_word, samples, count, pairs, rules)
        append_rules(corpus, blocks, block, new, pairs, rules)
    return rules


@kernel
def extract_rules(
    corpus: IndexedCorpus,
    patterns: Patterns,
    blocks: Blocks,
    limits: RuleLimits,
    batch: int,
    pairs: PatternRules,
    rules: RuleBuffer,
) -> RuleBuffer:
    """Extract the rules of all patterns; returns `rules`, grown as needed.

    Patterns with the same first block, or the same first two, are matched together.
    batch: number of occurrences of two-block patterns to list at a time (always at least one pattern).
    """
    block = patterns.block
    none = np.empty(0, np.int32)
    group_end = 0
    pair_end = 0
    pair = 0
    pair_begin = 0
    listed = 0
    listed_end = 0
    positions = none
    begin = np.zeros(1, np.int64)
    seconds = thirds = Matches(begin, none, none, none, none)

    for pattern in range(block.shape[0]):
        u = block[pattern, 0]
        v = block[pattern, 1]
        w = block[pattern, 2]
        distance = blocks.length[u] + limits.min_gap

        if pattern == group_end:
            group_end = run_end(block[:, 0], pattern, block.shape[0])
            pair_end = pattern + 1
            if pair_end < group_end:
                positions = sort_positions(corpus.suffix[blocks.low[u] : blocks.high[u]])
                begin = size_seconds(blocks, limits, positions, distance, block[pair_end:group_end, 1])
                pair = -1
                listed_end = 0
        elif pattern == pair_end:
            pair_begin = pattern
            pair_end = run_end(block[:, 1], pattern, group_end)
            pair += 1

            if pair == listed_end:
                listed = pair
                wanted = block[pattern:group_end, 1]
                seconds = list_seconds(blocks, limits, positions, distance, wanted, begin[listed:], batch)
                listed_end = listed + seconds.begin.shape[0] - 1

        if v == 0:
            first = second = third = corpus.suffix[blocks.low[u] : blocks.high[u]]
            last = 0
        elif w == 0:
            low, high = seconds.begin[pair - listed], seconds.begin[pair - listed + 1]
            first = seconds.first[low:high]
            second = third = seconds.second[low:high]
            last = int(seconds.last[pair - listed])
            if pattern + 1 < pair_end:
                gap = blocks.length[v] + limits.min_gap
                thirds = match_thirds(blocks, limits, first, second, gap, block[pattern + 1 : pair_end, 2])
        else:
            low, high = thirds.begin[pattern - pair_begin - 1], thirds.begin[pattern - pair_begin]
            first = thirds.first[low:high]
            second = thirds.second[low:high]
            third = thirds.third[low:high]
            last = int(thirds.last[pattern - pair_begin - 1])

        if first.shape[0] == 0:
            continue

        # a pattern of one sentence, in which all its occurrences are left out
        begins = patterns.begin[pattern]
        alone = v > 0 and patterns.begin[pattern + 1] - begins == 1
        if alone and is_left_out(patterns.left_out, patterns.sentence[begins], first[0], last):
            continue

        samples = take_sample(first, second, third, pairs.sample)
        rules = add_pattern(corpus, patterns, pattern, blocks, limits, samples, pairs, rules)
    return rules
