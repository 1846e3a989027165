"""Extract the grammars of sentences: source patterns, their rules, then features (docs/extraction.md)."""

from __future__ import annotations

import itertools
import os
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from itersel import __version__
from itersel.bleu.references import TextReferences, join_references
from itersel.config.extraction import ExtractionSettings
from itersel.config.plain import recorded
from itersel.corpus.text import check_line_counts, split_words
from itersel.corpus.vocabulary import Side, number_words, read_side
from itersel.errors import FilePath, InputError
from itersel.grammar.buffer_kernels import (
    ROW_COUNT,
    ROW_RULE,
    ROW_SAMPLES,
    ROW_SENTENCE,
    RuleBuffer,
    place_rows,
)
from itersel.grammar.extract_kernels import extract_rules
from itersel.grammar.grammar_kernels import GLUE, GLUE_RULES, GLUE_START, GRAMMAR_RULE, PASS_THROUGH
from itersel.grammar.index import GrammarIndex, load_index
from itersel.grammar.index_kernels import IndexArrays
from itersel.grammar.lexical_kernels import rule_costs
from itersel.grammar.pattern_kernels import LeftOut, RuleLimits
from itersel.grammar.patterns import find_patterns
from itersel.grammar.rule_kernels import PAIR_COLUMNS, ROW_COLUMNS, VARIANTS, IndexedCorpus, PatternRules
from itersel.grammar.sentence_grammars import SentenceGrammars, add_features, write_grammars
from itersel.grammar.sparse import check_templates, count_bins
from itersel.storage.arrays import Int32s, Int64s, UInt8s
from itersel.storage.declared import check_declared
from itersel.storage.files import read_lines
from itersel.storage.ragged import Ragged, offsets_of, rows_of, take_rows
from itersel.storage.strings import string_table
from itersel.vectors.feature_names import COUNT, GRAMMAR_FEATURES

# 64 MB. A pattern with more occurrences gets its own batch. The occurrences of a first block are scanned once
# for each batch; with 1 << 20 and a million sentence pairs, they were scanned four times on average.
BATCH = 1 << 23


class ExtractedRules(NamedTuple):
    """R rules, with the glue rules first, and G rows that list the rules of each sentence."""

    source: Ragged  # symbols; words as in the index, with higher numbers for unknown words
    target: Ragged
    point: Ragged  # (points, 2): alignments
    # (G, 5): columns as in `buffer_kernels.RuleBuffer`. The rules of a sentence are sorted by source side;
    # pass-through rules of words not in the corpus come last.
    row: Int32s


def leave_nothing_out(sentence_count: int) -> LeftOut:
    """Return what is left out of the grammars of sentences that are not in the corpus."""
    return LeftOut(np.empty((0, 2), np.int64), np.zeros((sentence_count, 2), np.int64))


def extract_rule_table(
    index: IndexArrays, side: Side, left_out: LeftOut, limits: RuleLimits, batch: int = BATCH
) -> ExtractedRules:
    """Extract the rules of sentences; their words are numbers as in the index, and higher ones if unknown.

    batch: number of occurrences of patterns with one gap that are kept at a time; affects only memory.
    """
    patterns, blocks, is_block = find_patterns(index, side, left_out, limits)
    corpus = IndexedCorpus(index.source, index.suffix, index.position, index.link, index.target)
    rules = extract_rules(corpus, patterns, blocks, limits, batch, _scratch(limits), _glue_rules())
    count, sources, targets, points, rows = rules.size
    values = rules.source[:sources, 0], rules.target[:targets, 0], rules.point[:points]
    offsets = (np.append(0, end) for end in rules.end[:count].T)
    source, target, point = zip(values, offsets, strict=True)
    extracted = ExtractedRules(source, target, point, rules.row[:rows])
    sentence = rows_of(side.offset)
    return _pass_through(extracted, side.words[~is_block], sentence[~is_block])


def _scratch(limits: RuleLimits) -> PatternRules:
    """Return tables large enough for all rules of one pattern."""
    capacity = VARIANTS * limits.max_samples
    return PatternRules(
        sample=np.empty((limits.max_samples, 3), np.int32),
        row=np.empty((capacity + 1, ROW_COLUMNS), np.int32),
        symbol=np.empty(capacity * limits.max_span, np.int32),
        pair=np.empty((capacity, PAIR_COLUMNS), np.int32),
        slot=np.zeros(2 << (2 * capacity).bit_length(), np.int32),
        seen=np.empty((limits.max_samples + 1, 2), np.int32),
        order=np.empty(capacity, np.int32),
        variant_count=np.zeros((2, VARIANTS), np.int64),
        new=np.empty(capacity + 1, np.int32),
    )


def _glue_rules() -> RuleBuffer:
    """Return the glue rules, whose two sides are the same."""
    symbols = np.array([[-1], [-1], [-2]], np.int32)
    return RuleBuffer(
        size=np.array([GLUE_RULES, 3, 3, 0, 0]),
        end=np.array([[1, 1, 0], [3, 3, 0]], np.int32),
        source=symbols,
        target=symbols.copy(),
        point=np.empty((0, 2), np.int32),
        row=np.empty((0, 5), np.int32),
    )


def _pass_through(extracted: ExtractedRules, words: Int32s, sentence: Int64s) -> ExtractedRules:
    """Append pass-through rules, with rows at the end of their sentences."""
    distinct, word = np.unique(words, return_inverse=True)
    pair = np.stack([sentence, word.reshape(-1)], axis=1)
    distinct_pair, first = np.unique(pair, axis=0, return_index=True)
    # In sentence order, because the numbers of words that are not in the corpus depend on them.
    sentence, word = distinct_pair[np.argsort(first)].T

    rules = extracted.source[1].shape[0] - 1
    row = np.zeros((word.shape[0], extracted.row.shape[1]), np.int32)
    row[:, ROW_RULE] = rules + word
    row[:, ROW_SENTENCE] = sentence

    # each has one word on both sides, and one link
    size = np.arange(1, distinct.shape[0] + 1)
    link = np.zeros((distinct.shape[0], 2), np.int32)
    source, target, point = (
        (np.concatenate([values, further]), np.append(offset, offset[-1] + size))
        for (values, offset), further in zip(extracted[:3], (distinct, distinct, link), strict=True)
    )

    return ExtractedRules(source, target, point, np.concatenate([extracted.row, row]))


def split_by_count(extracted: ExtractedRules) -> tuple[ExtractedRules, UInt8s]:
    """Split each rule into one rule per count bin (`itersel.grammar.sparse.count_bins`).

    With leave-one-out, the count of a rule differs between sentences; most rules are in one sentence.
    Returns the rules in the same order, copies of a rule sorted by bin, and their bins, uint8 (R).
    """
    # a rule and its bin as one number
    bins = count_bins(extracted.row[:, ROW_COUNT])
    pair = extracted.row[:, ROW_RULE].astype(np.int64) << 8 | bins
    glue = np.arange(GLUE_RULES) << 8
    distinct, number = np.unique(np.append(glue, pair), return_inverse=True)
    rules = distinct >> 8
    bin_of_rule = (distinct & 0xFF).astype(np.uint8)

    row = extracted.row.copy()
    row[:, ROW_RULE] = number[GLUE_RULES:]
    source, target, point = (take_rows(*ragged, rules) for ragged in extracted[:3])
    return ExtractedRules(source, target, point, row), bin_of_rule


def extract_grammars(
    index: FilePath,
    input: FilePath,
    output: FilePath,
    leave_one_out: FilePath | None = None,
    references: Sequence[FilePath] = (),
    settings: ExtractionSettings | None = None,
) -> None:
    """Extract the grammars of tokenised sentences, one per line, and write both to a file.

    `leave_one_out`, for sentences of the indexed corpus, is a file with their line numbers there, from 0, and
    the line numbers of their copies: the grammar of a sentence excludes the occurrences in these sentence
    pairs.
    """
    check_declared(input, leave_one_out, *references)
    loaded = load_index(index)
    ids = loaded.word_numbers()

    source = read_side(input, ids, allow_empty=True)
    texts = [read_side(path, ids) for path in references]
    sides = zip((input, *references), (source, *texts), strict=True)
    check_line_counts(*((path, range(side.sentence_count)) for path, side in sides))
    reference = join_references(texts)

    left_out = leave_nothing_out(source.sentence_count)
    if leave_one_out is not None:
        left_out = _read_left_out(leave_one_out, loaded, input, source)

    settings = settings or ExtractionSettings()
    check_templates(settings.templates)
    attributes = {
        "version": __version__,
        "leave_one_out": leave_one_out is not None,
        "indexed_sentences": loaded.sentence_count,
        "settings": recorded(settings),
    }

    grammars = _make_grammars(loaded.arrays, list(ids), source, reference, left_out, settings)
    write_grammars(output, replace(grammars, attributes=attributes))


class Extractor:
    """Extracts the grammars of new sentences in memory, some sentences at a time."""

    def __init__(self, index: GrammarIndex, settings: ExtractionSettings) -> None:
        check_templates(settings.templates)
        self._index = index.arrays
        self._settings = settings
        self._ids = index.word_numbers()
        self._words = list(self._ids)

    def extract(self, sentences: Sequence[Sequence[str]]) -> SentenceGrammars:
        """Return the grammars of sentences without references, which are given as lists of words."""
        known = len(self._words)
        source = number_words(sentences, self._ids)
        self._words += itertools.islice(self._ids, known, None)
        left_out = leave_nothing_out(len(sentences))

        try:
            references = join_references([])
            grammars = _make_grammars(self._index, self._words, source, references, left_out, self._settings)
        finally:
            # a stream can contain any number of words that are not in the corpus
            for word in self._words[known:]:
                del self._ids[word]
            del self._words[known:]

        return add_features(grammars)


def _read_left_out(path: FilePath, index: GrammarIndex, input: FilePath, source: Side) -> LeftOut:
    """Return where the input sentences and their copies are in the indexed corpus."""
    lines = read_lines(path)
    if len(lines) != source.sentence_count:
        raise InputError(
            f"has {len(lines)} lines, but {os.fspath(input)} has {source.sentence_count}; "
            "give the line number in the indexed corpus for each sentence",
            path,
            min(len(lines), source.sentence_count) + 1,
        )

    offset = index.arrays.source_offset
    groups = list[tuple[int, int]]()
    numbers = list[int]()
    for i, line in enumerate(lines):
        words = split_words(line.rstrip("\r"))
        # a copy: its own number, and @ with the line that lists it and all others
        listed = re.fullmatch(r"@([0-9]{1,15})", words[1]) if len(words) == 2 else None
        named = words[:1] if listed else words
        # an empty line is refused as the number of no sentence
        group = [_indexed(number, index, path, i + 1) for number in named or [""]]

        if listed:
            [own] = group
            place = int(listed[1]) - 1
            begin, end = groups[place] if 0 <= place < i else (0, 0)
            # by bisection: a sentence may have many copies
            found = bisect_left(numbers, own, begin, end)
            if found == end or numbers[found] != own:
                raise InputError(f"line {listed[1]} does not list sentence {own}", path, i + 1)
            groups.append((begin, end))
            continue

        if len(set(group)) < len(group):
            raise InputError("names a sentence twice", path, i + 1)

        sentence = source.words[source.offset[i] : source.offset[i + 1]]
        for number in group:
            # without the mark at its end
            indexed = index.arrays.source[offset[number] : offset[number + 1] - 1]
            if not np.array_equal(sentence, indexed):
                raise InputError(
                    f"differs from sentence {number} of the index, which {os.fspath(path)} names; "
                    "give the line number of this sentence in the indexed corpus",
                    input,
                    i + 1,
                )

        begin = len(numbers)
        numbers += sorted(group)
        groups.append((begin, len(numbers)))

    begins = np.array(numbers, np.int64)
    span = np.stack([offset[begins], offset[begins + 1]], axis=1)
    return LeftOut(span, np.array(groups, np.int64).reshape(-1, 2))


def _indexed(number: str, index: GrammarIndex, path: FilePath, line: int) -> int:
    if not re.fullmatch("[0-9]{1,15}", number) or int(number) >= index.sentence_count:
        message = f"'{number}' is not the number of an indexed sentence, 0 to {index.sentence_count - 1}"
        raise InputError(message, path, line)
    return int(number)


def _make_grammars(
    index: IndexArrays,
    words: list[str],
    source: Side,
    reference: TextReferences,
    left_out: LeftOut,
    settings: ExtractionSettings,
) -> SentenceGrammars:
    """Extract the rules of sentences, and return their grammars without sparse features."""
    limits = RuleLimits(**{name: getattr(settings, name) for name in RuleLimits._fields})
    extracted = extract_rule_table(index, source, left_out, limits)

    bins = np.zeros(0, np.uint8)
    if COUNT in settings.templates:
        extracted, bins = split_by_count(extracted)

    (rule_source, source_offset), (rule_target, target_offset), (point, point_offset), row = extracted

    kind = np.full(source_offset.shape[0] - 1, GRAMMAR_RULE, np.uint8)
    kind[:GLUE_RULES] = GLUE_START, GLUE
    kind[row[row[:, ROW_SAMPLES] == 0, ROW_RULE]] = PASS_THROUGH

    used = np.unique(np.concatenate([source.words, reference.word, rule_source, rule_target]))
    used = used[used > 0]
    number = np.zeros(len(words), np.int32)
    number[used] = np.arange(used.shape[0])

    longest = int(np.diff(target_offset).max())
    cost = rule_costs(index.pair_key, index.pair_cost, extracted.source, extracted.target, longest)
    cost[kind == PASS_THROUGH] = 0

    offset = offsets_of(np.bincount(row[:, ROW_SENTENCE], minlength=source.sentence_count))
    rule, _, samples, count, singleton = place_rows(row, offset)

    return SentenceGrammars(
        vocabulary=string_table([words[word] for word in used.tolist()]),
        source=number[source.words],
        source_offset=source.offset,
        reference=number[reference.word],
        reference_offset=reference.offset,
        rule_kind=kind,
        rule_source=np.where(rule_source < 0, rule_source, number[rule_source]),
        rule_source_offset=source_offset,
        rule_target=np.where(rule_target < 0, rule_target, number[rule_target]),
        rule_target_offset=target_offset,
        rule_alignment=point.astype(np.uint8),
        rule_alignment_offset=point_offset,
        grammar_rule=rule,
        grammar_offset=offset,
        grammar_dense=np.zeros((0, len(GRAMMAR_FEATURES)), np.float32),
        dense_names=GRAMMAR_FEATURES,
        templates=settings.templates,
        computed=settings.templates,
        sentence_reference_offset=reference.sentence_offset,
        rule_bin=bins,
        rule_cost=cost,
        grammar_samples=samples,
        grammar_count=count,
        grammar_singleton=singleton.astype(np.uint8),
    )
