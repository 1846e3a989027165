"""Grammar extraction for a shard of sentences from the grammar index (docs/extraction.md)."""

from __future__ import annotations

import itertools
import os
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itersel import __version__
from itersel.config.search import Grammar
from itersel.corpus.numbers import Side, number_words, read_side
from itersel.corpus.text import split_words
from itersel.errors import InputError
from itersel.grammar.extract_kernels import Own
from itersel.grammar.grammar_kernels import place_rows, rule_costs
from itersel.grammar.index import GrammarIndex, check_parallel, load_index
from itersel.grammar.index_kernels import IndexArrays
from itersel.grammar.pattern_kernels import Limits
from itersel.grammar.patterns import leave_nothing_out
from itersel.grammar.references import Joined, join_references
from itersel.grammar.rules import RuleTable, extract_rule_table, split_by_count
from itersel.grammar.shard import Shard, add_features, write_shard
from itersel.grammar.shard_kernels import GLUE, GLUE_START, GRAMMAR_RULE, PASS_THROUGH
from itersel.grammar.sparse import check_templates
from itersel.grammar.table_kernels import ROW_RULE, ROW_SAMPLES, ROW_SENTENCE
from itersel.limits import GRAMMAR_FEATURES
from itersel.storage.files import read_lines
from itersel.storage.formats import FilePath
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import string_table

# rules 0 and 1, [S] -> [X] and [S] -> [S] [X]: the symbols, the same on both sides, and where each side ends
GLUE_SYMBOLS = np.array([-1, -1, -2], np.int32)
GLUE_ENDS = np.array([1, 3], np.int64)
GLUE_RULES = 2


def extract_shard(
    index: FilePath,
    input: FilePath,
    output: FilePath,
    leave_one_out: FilePath | None = None,
    references: Sequence[FilePath] = (),
    settings: Grammar | None = None,
) -> None:
    """Extract the grammars of sentences and write them as a shard.

    Parameters
    ----------
    index
        An index built by `itersel.grammar.index.build_index`.
    input
        Tokenised source sentences, one per line. Empty lines have empty grammars, and an empty file gives an
        empty shard.
    output
        The shard to write.
    leave_one_out
        For sentences of the indexed corpus: a file with their line numbers in the corpus, from 0. Each line
        has the number of one sentence, and may have those of its copies after it. The grammar of a sentence
        then excludes the occurrences in these sentence pairs.
    references
        Files with one reference translation per line; see `itersel.grammar.references.join_references`.
    settings
        Which rules are extracted.

    Raises
    ------
    InputError
        If the files differ in their number of lines, or a line of `leave_one_out` does not have the number
        of an indexed sentence equal to the input sentence. Names the file and the line.
    """
    loaded = load_index(index)
    ids = loaded.word_numbers()
    source = read_side(input, ids, allow_empty=True)
    texts = []
    for path in references:
        texts.append(read_side(path, ids))
        check_parallel(input, source, path, texts[-1])
    reference = join_references(texts)
    own = leave_nothing_out(source.sentence_count)
    if leave_one_out is not None:
        own = _read_own(leave_one_out, loaded, input, source)
    settings = settings or Grammar()
    attributes = {
        "itersel": __version__,
        "leave_one_out": leave_one_out is not None,
        "indexed_sentences": loaded.sentence_count,
        "settings": asdict(settings),
    }
    table = extract_rule_table(loaded.arrays, source.words, source.offset, own, _limits(settings))
    shard = _make_shard(loaded.arrays, list(ids), source, reference, table, settings.templates, attributes)
    write_shard(output, shard)


def _limits(settings: Grammar) -> Limits:
    check_templates(settings.templates)
    return Limits(**{name: getattr(settings, name) for name in Limits._fields})


class Extractor:
    """Extracts the grammars of new sentences in memory, some sentences at a time.

    Parameters
    ----------
    index
        Index of the training corpus.
    settings
        Which rules are extracted.
    """

    def __init__(self, index: GrammarIndex, settings: Grammar) -> None:
        self._index, self._settings, self._limits = index.arrays, settings, _limits(settings)
        self._ids = index.word_numbers()
        self._words = list(self._ids)

    def extract(self, sentences: Sequence[Sequence[str]]) -> Shard:
        """Return a shard without references for sentences given as lists of words."""
        known = len(self._words)
        source = number_words(sentences, self._ids)
        self._words += itertools.islice(self._ids, known, None)
        own = leave_nothing_out(len(sentences))
        try:
            table = extract_rule_table(self._index, source.words, source.offset, own, self._limits)
            templates, references = self._settings.templates, join_references([])
            shard = _make_shard(self._index, self._words, source, references, table, templates, {})
        finally:
            # a stream can contain any number of words that are not in the corpus
            for word in self._words[known:]:
                del self._ids[word]
            del self._words[known:]
        return add_features(shard)


def _read_own(path: FilePath, index: GrammarIndex, input: FilePath, source: Side) -> Own:
    """Return where the input sentences and their copies are in the indexed corpus."""
    lines = read_lines(path)
    if len(lines) != source.sentence_count:
        raise InputError(
            f"has {len(lines)} lines, but {os.fspath(input)} has {source.sentence_count}; "
            "give the line number in the indexed corpus for each sentence",
            path,
            min(len(lines), source.sentence_count) + 1,
        )
    offset, groups, numbers = index.arrays.source_offset, list[tuple[int, int]](), list[int]()
    for i, line in enumerate(lines):
        words = split_words(line.rstrip("\r"))
        listed = re.fullmatch(r"@([0-9]{1,15})", words[1]) if len(words) == 2 else None
        group = [_indexed(number, index, path, i + 1) for number in (words[:1] if listed else words) or [""]]
        if listed:
            place = int(listed[1]) - 1
            begin, end = groups[place] if 0 <= place < i else (0, 0)
            # in order: a sentence may have many copies
            found = bisect_left(numbers, group[0], begin, end)
            if found == end or numbers[found] != group[0]:
                raise InputError(f"line {listed[1]} does not list sentence {group[0]}", path, i + 1)
            groups.append((begin, end))
            continue
        if len(set(group)) < len(group):
            raise InputError("names a sentence twice", path, i + 1)
        sentence = source.words[source.offset[i] : source.offset[i + 1]]
        for number in group:
            if not np.array_equal(sentence, index.source_sentence(number)):
                raise InputError(
                    f"differs from sentence {number} of the index, which {os.fspath(path)} names; "
                    "give the line number of this sentence in the indexed corpus",
                    input,
                    i + 1,
                )
        groups.append((len(numbers), len(numbers) + len(group)))
        numbers += sorted(group)
    begins = np.array(numbers, np.int64)
    span = np.stack([offset[begins], offset[begins + 1]], axis=1)
    return Own(span, np.array(groups, np.int64).reshape(-1, 2))


def _indexed(number: str, index: GrammarIndex, path: FilePath, line: int) -> int:
    """Return the number of a sentence of the index."""
    if not re.fullmatch("[0-9]{1,15}", number) or int(number) >= index.sentence_count:
        message = f"'{number}' is not the number of an indexed sentence, 0 to {index.sentence_count - 1}"
        raise InputError(message, path, line)
    return int(number)


def _make_shard(
    index: IndexArrays,
    words: list[str],
    source: Side,
    reference: Joined,
    table: RuleTable,
    templates: tuple[str, ...],
    attributes: Mapping[str, Any],
) -> Shard:
    """Assemble a shard from sentences and rules, with the glue rules but without sparse features."""
    bins = np.zeros(0, np.uint8)
    if "Count" in templates:
        table, bins = split_by_count(table)
        bins = np.append(np.zeros(GLUE_RULES, np.uint8), bins)
    kind = np.full(table.source_offset.shape[0] - 1, GRAMMAR_RULE, np.uint8)
    kind[table.row[table.row[:, ROW_SAMPLES] == 0, ROW_RULE]] = PASS_THROUGH
    used = np.unique(np.concatenate([source.words, reference.word, table.source, table.target]))
    used = used[used > 0]
    number = np.zeros(len(words), np.int32)
    number[used] = np.arange(used.shape[0])
    vocabulary = string_table([words[word] for word in used.tolist()])
    rule_kind = np.concatenate([np.array([GLUE_START, GLUE], np.uint8), kind])
    sides = (
        np.append(GLUE_SYMBOLS, np.where(table.source < 0, table.source, number[table.source])),
        _after_glue(table.source_offset, GLUE_ENDS),
        np.append(GLUE_SYMBOLS, np.where(table.target < 0, table.target, number[table.target])),
        _after_glue(table.target_offset, GLUE_ENDS),
    )
    alignment = table.point.astype(np.uint8)
    alignment_offset = _after_glue(table.point_offset, np.zeros(GLUE_RULES, np.int64))
    return Shard(
        vocabulary,
        number[source.words],
        source.offset,
        number[reference.word],
        reference.offset,
        rule_kind,
        *sides,
        rule_alignment=alignment,
        rule_alignment_offset=alignment_offset,
        rule_feature=np.zeros(0, np.int32),
        rule_feature_value=np.zeros(0, np.float32),
        rule_feature_offset=np.zeros(0, np.int64),
        feature_key=np.zeros(0, np.uint64),
        feature_name=string_table(()),
        **_grammars(table, source.sentence_count),
        grammar_dense=np.zeros((0, len(GRAMMAR_FEATURES)), np.float32),
        dense_names=GRAMMAR_FEATURES,
        templates=templates,
        computed=templates,
        attributes=attributes,
        sentence_reference_offset=reference.sentence_offset,
        rule_bin=bins,
        rule_cost=_rule_costs(index, table, kind == PASS_THROUGH),
    )


def _after_glue(offset: NDArray[np.int64], glue_ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of the glue rules followed by the rules of `offset`."""
    return np.concatenate(([0], glue_ends, glue_ends[-1] + offset[1:]))


def _grammars(table: RuleTable, sentence_count: int) -> dict[str, Any]:
    """Return the arrays of a shard with the rules of all sentences and their counts."""
    offset = offsets_of(np.bincount(table.row[:, ROW_SENTENCE], minlength=sentence_count))
    rule, samples, count = np.zeros((3, table.row.shape[0]), np.int32)
    singleton = np.zeros(table.row.shape[0], np.uint8)
    place_rows(table.row, offset, rule, samples, count, singleton)
    return {
        "grammar_rule": rule + np.int32(GLUE_RULES),
        "grammar_offset": offset,
        "grammar_samples": samples,
        "grammar_count": count,
        "grammar_singleton": singleton,
    }


def _rule_costs(index: IndexArrays, table: RuleTable, is_passed: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the lexical costs of the glue rules and of all others; those of words passed through are 0."""
    longest = int(np.diff(table.target_offset).max(initial=0))
    sides = (table.source, table.source_offset, table.target, table.target_offset)
    cost = rule_costs(index.pair_key, index.pair_cost, *sides, longest)
    cost[is_passed] = 0
    return np.concatenate([np.zeros((GLUE_RULES, 2), np.float32), cost])
