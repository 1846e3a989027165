"""Kernels of the sparse features of translations: n-grams, and pairs of linked words and phrases.

A feature is a template and up to four words or shapes, `PARTS` numbers; see `itersel.rerank.sparse` for its
name. A feature that all translations of a list have equally often cannot tell them apart, and is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.rerank.ngram_kernels import hash_with
from itersel.storage.arrays import Int32s, Int64s, UInt8s, UInt64s

# The numbers of the templates, and of what phrases are, by their words on either side.
UNIGRAM, BIGRAM, TRIGRAM, LINKED, DELETED, INSERTED, ONE_TWO, TWO_ONE, TWO_TWO, SHAPED = range(10)
# A template and four words.
PARTS = 5
# Where there are fewer words.
NO_WORD = -1
# What n-grams see before the first word and after the last one.
EDGE = 0
# Longest n-grams and phrases.
LONGEST_NGRAM = 3
LONGEST_PHRASE = 2


class ListArrays(NamedTuple):
    """Lists as arrays; see `itersel.rerank.words.ListWords` and `itersel.rerank.links.Links`."""

    source: Int32s
    source_offset: Int64s
    target: Int32s
    target_offset: Int64s
    link_source: Int32s
    link_target: Int32s
    link_offset: Int64s
    # the number of the shape of each different word
    source_shape: Int32s
    target_shape: Int32s


class FeatureTable(NamedTuple):
    """A hash table of the features of a list, with a slot for each."""

    code: UInt64s  # 0: empty
    parts: Int32s  # (slots, PARTS)
    seen: Int64s  # the last translation that has the feature
    times: Int32s  # how often that translation has it, so far
    first: Int32s  # how often the first translation has it
    equal: Int64s  # how many translations have it as often as the first one
    wanted: UInt8s  # (templates): whether each is used


class Entries(NamedTuple):
    """The features of all translations of a list, one translation after the other."""

    offset: Int64s  # (translations + 1): the entries of each translation
    slot: Int64s  # of each feature in the table
    value: Int32s  # how often the translation has it


@kernel
def make_table(features: int, wanted: UInt8s) -> FeatureTable:
    """Return an empty table with room for a number of features."""
    slots = 16
    while slots < 2 * features:
        slots *= 2
    return FeatureTable(
        np.zeros(slots, np.uint64),
        np.empty((slots, PARTS), np.int32),
        np.empty(slots, np.int64),
        np.empty(slots, np.int32),
        np.empty(slots, np.int32),
        np.empty(slots, np.int64),
        wanted,
    )


@leaf_kernel
def find(table: FeatureTable, template: int, a: int, b: int, c: int, d: int) -> int:
    """Return the slot of a feature, which is added if it is not there."""
    code = hash_with(hash_with(hash_with(hash_with(np.uint64(template), a + 1), b + 1), c + 1), d + 1)
    mask = table.code.shape[0] - 1
    slot = np.int64(code >> np.uint64(1)) & mask
    while table.code[slot] != 0:
        parts = table.parts
        if (
            table.code[slot] == code
            and parts[slot, 0] == template
            and parts[slot, 1] == a
            and parts[slot, 2] == b
            and parts[slot, 3] == c
            and parts[slot, 4] == d
        ):
            return int(slot)
        slot = (slot + 1) & mask

    table.code[slot] = code
    table.parts[slot, 0] = template
    table.parts[slot, 1] = a
    table.parts[slot, 2] = b
    table.parts[slot, 3] = c
    table.parts[slot, 4] = d
    table.seen[slot] = -1
    table.equal[slot] = 0
    table.first[slot] = -1
    return int(slot)


@leaf_kernel
def add(
    table: FeatureTable, found: Int64s, count: int, row: int, template: int, a: int, b: int, c: int, d: int
) -> int:
    """Count a feature of a translation; returns the number of its different features, listed in `found`."""
    if not table.wanted[template]:
        return count

    slot = find(table, template, a, b, c, d)
    if table.seen[slot] != row:
        table.seen[slot] = row
        table.times[slot] = 0
        found[count] = slot
        count += 1

    table.times[slot] += 1
    return count


@leaf_kernel
def word_at(word: Int32s, begin: int, end: int, place: int) -> int:
    """Return a word of a sentence, or `EDGE` outside of it."""
    return int(word[place]) if begin <= place < end else EDGE


@leaf_kernel
def add_ngrams(table: FeatureTable, found: Int64s, count: int, row: int, lists: ListArrays) -> int:
    """Add the n-grams of a translation; see `add`."""
    word = lists.target
    begin = lists.target_offset[row]
    end = lists.target_offset[row + 1]

    for j in range(begin, end + 1):
        one = word_at(word, begin, end, j)
        before = word_at(word, begin, end, j - 1)
        if j < end:
            count = add(table, found, count, row, UNIGRAM, one, NO_WORD, NO_WORD, NO_WORD)
        count = add(table, found, count, row, BIGRAM, before, one, NO_WORD, NO_WORD)
        if j > begin:
            earlier = word_at(word, begin, end, j - 2)
            count = add(table, found, count, row, TRIGRAM, earlier, before, one, NO_WORD)
    return count


@leaf_kernel
def add_linked(
    table: FeatureTable, found: Int64s, count: int, row: int, sentence: int, lists: ListArrays, used: UInt8s
) -> int:
    """Add pairs of linked words and of their shapes, and source and target words without links; see `add`.

    used: space for the words of either side, 0; 0 again afterwards.
    """
    begin, end = lists.source_offset[sentence], lists.source_offset[sentence + 1]
    first, last = lists.target_offset[row], lists.target_offset[row + 1]
    middle = end - begin

    for k in range(lists.link_offset[row], lists.link_offset[row + 1]):
        i, j = lists.link_source[k], lists.link_target[k]
        used[i] = 1
        used[middle + j] = 1

        one = lists.source[begin + i]
        other = lists.target[first + j]
        count = add(table, found, count, row, LINKED, one, other, NO_WORD, NO_WORD)
        shapes = lists.source_shape[one], lists.target_shape[other]
        count = add(table, found, count, row, SHAPED, shapes[0], shapes[1], NO_WORD, NO_WORD)

    for i in range(middle):
        if not used[i]:
            one = lists.source[begin + i]
            count = add(table, found, count, row, DELETED, one, NO_WORD, NO_WORD, NO_WORD)
        used[i] = 0
    for j in range(last - first):
        if not used[middle + j]:
            one = lists.target[first + j]
            count = add(table, found, count, row, INSERTED, one, NO_WORD, NO_WORD, NO_WORD)
        used[middle + j] = 0
    return count


@leaf_kernel
def add_phrases(
    table: FeatureTable, found: Int64s, count: int, row: int, sentence: int, lists: ListArrays
) -> int:
    """Add pairs of phrases of up to two words that are linked only to each other; see `add`.

    Pairs of single words are not among them, and no phrase begins or ends with a word without links.
    """
    begin = lists.source_offset[sentence]
    first = lists.target_offset[row]
    low, high = lists.link_offset[row], lists.link_offset[row + 1]

    for k in range(low, high):
        # each phrase begins at the first link of its first source word
        i = lists.link_source[k]
        if k > low and lists.link_source[k - 1] == i:
            continue

        for length in range(1, LONGEST_PHRASE + 1):
            least = lists.link_target[k]
            most = lists.link_target[k]
            is_linked = False
            place = k
            while place < high and lists.link_source[place] < i + length:
                least = min(least, lists.link_target[place])
                most = max(most, lists.link_target[place])
                is_linked |= lists.link_source[place] == i + length - 1
                place += 1

            size = most - least + 1
            if not is_linked or size > LONGEST_PHRASE or (length == 1 and size == 1):
                continue

            is_consistent = True
            for other in range(low, high):
                if least <= lists.link_target[other] <= most:
                    is_consistent &= i <= lists.link_source[other] < i + length

            if not is_consistent:
                continue

            one = lists.source[begin + i]
            two = lists.target[first + least]
            if length == 1:
                last = lists.target[first + most]
                count = add(table, found, count, row, ONE_TWO, one, two, last, NO_WORD)
            elif size == 1:
                following = lists.source[begin + i + 1]
                count = add(table, found, count, row, TWO_ONE, one, following, two, NO_WORD)
            else:
                following = lists.source[begin + i + 1]
                last = lists.target[first + most]
                count = add(table, found, count, row, TWO_TWO, one, following, two, last)
    return count


@leaf_kernel
def most_features(translations: int, words: int, links: int, sources: int) -> int:
    """Return an upper bound of the features of translations with so many words and links in all."""
    ngrams = LONGEST_NGRAM * (words + translations)
    return ngrams + words + links * (2 + LONGEST_PHRASE) + sources * translations


@kernel
def count_features(
    lists: ListArrays, sentence: int, begin: int, end: int, wanted: UInt8s
) -> tuple[FeatureTable, Entries]:
    """Return the features of the translations `begin` to `end` of a sentence, and those of each."""
    words = lists.target_offset[end] - lists.target_offset[begin]
    links = lists.link_offset[end] - lists.link_offset[begin]
    sources = lists.source_offset[sentence + 1] - lists.source_offset[sentence]

    longest = 0
    most_links = 0
    for row in range(begin, end):
        longest = max(longest, lists.target_offset[row + 1] - lists.target_offset[row])
        most_links = max(most_links, lists.link_offset[row + 1] - lists.link_offset[row])

    most = most_features(end - begin, words, links, sources)
    table = make_table(most, wanted)
    entries = Entries(np.zeros(end - begin + 1, np.int64), np.empty(most, np.int64), np.empty(most, np.int32))
    found = np.empty(most_features(1, longest, most_links, sources), np.int64)
    used = np.zeros(sources + longest, np.uint8)

    filled = 0
    for row in range(begin, end):
        count = add_ngrams(table, found, 0, row, lists)
        count = add_linked(table, found, count, row, sentence, lists, used)
        count = add_phrases(table, found, count, row, sentence, lists)

        for k in range(count):
            slot = found[k]
            if row == begin:
                table.first[slot] = table.times[slot]
            if table.times[slot] == table.first[slot]:
                table.equal[slot] += 1

            entries.slot[filled] = slot
            entries.value[filled] = table.times[slot]
            filled += 1

        entries.offset[row - begin + 1] = filled
    return table, entries


@kernel
def features_of_list(
    lists: ListArrays, sentence: int, begin: int, end: int, wanted: UInt8s
) -> tuple[Int64s, Int32s, Int32s, UInt64s, Int32s]:
    """Return the sparse features of the translations `begin` to `end` of a sentence, F in all.

    wanted: of each template, whether it is used. Returns the number of features of each translation, int64
    (end - begin); the feature, numbered within the list, and the value of each entry; and of each feature its
    hash, uint64 (F), and its parts, int32 (F, PARTS).
    """
    table, entries = count_features(lists, sentence, begin, end, wanted)
    filled = entries.offset[end - begin]

    # features that differ are numbered in the order of their first occurrence
    number = np.full(table.code.shape[0], -1, np.int32)
    kept = 0
    features = 0
    code = np.empty(filled, np.uint64)
    parts = np.empty((filled, PARTS), np.int32)
    size = np.zeros(end - begin, np.int64)
    feature = np.empty(filled, np.int32)
    value = np.empty(filled, np.int32)

    for k in range(end - begin):
        for place in range(entries.offset[k], entries.offset[k + 1]):
            slot = entries.slot[place]
            if table.equal[slot] == end - begin:
                continue

            if number[slot] < 0:
                number[slot] = features
                code[features] = table.code[slot]
                for part in range(PARTS):
                    parts[features, part] = table.parts[slot, part]
                features += 1

            feature[kept] = number[slot]
            value[kept] = entries.value[place]
            kept += 1
            size[k] += 1

    return size, feature[:kept].copy(), value[:kept].copy(), code[:features].copy(), parts[:features].copy()
