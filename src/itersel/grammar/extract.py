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

from itersel import __version__
from itersel.bleu.references import Joined, join_references
from itersel.config.search import Grammar
from itersel.corpus.numbers import Side, number_words, read_side
from itersel.corpus.text import check_line_counts, split_words
from itersel.errors import InputError
from itersel.grammar.extract_kernels import ROW_RULE, ROW_SAMPLES, ROW_SENTENCE, Own, place_rows
from itersel.grammar.index import GrammarIndex, load_index
from itersel.grammar.index_kernels import IndexArrays
from itersel.grammar.lexical_kernels import rule_costs
from itersel.grammar.pattern_kernels import Limits
from itersel.grammar.rules import GLUE_RULES, extract_rule_table, leave_nothing_out, split_by_count
from itersel.grammar.shard import Shard, add_features, write_shard
from itersel.grammar.shard_kernels import GLUE, GLUE_START, GRAMMAR_RULE, PASS_THROUGH
from itersel.grammar.sparse import check_templates
from itersel.limits import GRAMMAR_FEATURES
from itersel.storage.files import read_lines
from itersel.storage.formats import FilePath
from itersel.storage.strings import offsets_of, string_table


def extract_shard(
    index: FilePath,
    input: FilePath,
    output: FilePath,
    leave_one_out: FilePath | None = None,
    references: Sequence[FilePath] = (),
    settings: Grammar | None = None,
) -> None:
    """Extract the grammars of tokenised sentences, one per line, and write them as a shard.

    `leave_one_out`, for sentences of the indexed corpus, is a file with their line numbers there, from 0, and
    those of their copies: the grammar of a sentence excludes the occurrences in these sentence pairs.
    """
    loaded = load_index(index)
    ids = loaded.word_numbers()
    source = read_side(input, ids, allow_empty=True)
    texts = [read_side(path, ids) for path in references]
    sides = zip((input, *references), (source, *texts), strict=True)
    check_line_counts(*((path, range(side.sentence_count)) for path, side in sides))
    reference = join_references(texts)
    own = leave_nothing_out(source.sentence_count)
    if leave_one_out is not None:
        own = _read_own(leave_one_out, loaded, input, source)
    settings = settings or Grammar()
    check_templates(settings.templates)
    attributes = {
        "itersel": __version__,
        "leave_one_out": leave_one_out is not None,
        "indexed_sentences": loaded.sentence_count,
        "settings": asdict(settings),
    }
    shard = _make_shard(loaded.arrays, list(ids), source, reference, own, settings, attributes)
    write_shard(output, shard)


class Extractor:
    """Extracts the grammars of new sentences in memory, some sentences at a time."""

    def __init__(self, index: GrammarIndex, settings: Grammar) -> None:
        check_templates(settings.templates)
        self._index, self._settings = index.arrays, settings
        self._ids = index.word_numbers()
        self._words = list(self._ids)

    def extract(self, sentences: Sequence[Sequence[str]]) -> Shard:
        """Return a shard without references for sentences given as lists of words."""
        known = len(self._words)
        source = number_words(sentences, self._ids)
        self._words += itertools.islice(self._ids, known, None)
        own = leave_nothing_out(len(sentences))
        try:
            shard = _make_shard(
                self._index, self._words, source, join_references([]), own, self._settings, {}
            )
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
            if not np.array_equal(sentence, index.arrays.source[offset[number] : offset[number + 1] - 1]):
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
    if not re.fullmatch("[0-9]{1,15}", number) or int(number) >= index.sentence_count:
        message = f"'{number}' is not the number of an indexed sentence, 0 to {index.sentence_count - 1}"
        raise InputError(message, path, line)
    return int(number)


def _make_shard(
    index: IndexArrays,
    words: list[str],
    source: Side,
    reference: Joined,
    own: Own,
    settings: Grammar,
    attributes: Mapping[str, Any],
) -> Shard:
    """Extract the rules of sentences, and return a shard of them without sparse features."""
    limits = Limits(**{name: getattr(settings, name) for name in Limits._fields})
    table = extract_rule_table(index, source, own, limits)
    bins = np.zeros(0, np.uint8)
    if "Count" in settings.templates:
        table, bins = split_by_count(table)
    kind = np.full(table.source_offset.shape[0] - 1, GRAMMAR_RULE, np.uint8)
    kind[:GLUE_RULES] = GLUE_START, GLUE
    kind[table.row[table.row[:, ROW_SAMPLES] == 0, ROW_RULE]] = PASS_THROUGH
    used = np.unique(np.concatenate([source.words, reference.word, table.source, table.target]))
    used = used[used > 0]
    number = np.zeros(len(words), np.int32)
    number[used] = np.arange(used.shape[0])
    sides = (table.source, table.source_offset, table.target, table.target_offset)
    longest = int(np.diff(table.target_offset).max())
    cost = rule_costs(index.pair_key, index.pair_cost, *sides, longest)
    cost[kind == PASS_THROUGH] = 0
    offset = offsets_of(np.bincount(table.row[:, ROW_SENTENCE], minlength=source.sentence_count))
    rule, _, samples, count, singleton = place_rows(table.row, offset)
    return Shard(
        vocabulary=string_table([words[word] for word in used.tolist()]),
        source=number[source.words],
        source_offset=source.offset,
        reference=number[reference.word],
        reference_offset=reference.offset,
        rule_kind=kind,
        rule_source=np.where(table.source < 0, table.source, number[table.source]),
        rule_source_offset=table.source_offset,
        rule_target=np.where(table.target < 0, table.target, number[table.target]),
        rule_target_offset=table.target_offset,
        rule_alignment=table.point.astype(np.uint8),
        rule_alignment_offset=table.point_offset,
        grammar_rule=rule,
        grammar_offset=offset,
        grammar_dense=np.zeros((0, len(GRAMMAR_FEATURES)), np.float32),
        dense_names=GRAMMAR_FEATURES,
        templates=settings.templates,
        computed=settings.templates,
        attributes=attributes,
        sentence_reference_offset=reference.sentence_offset,
        rule_bin=bins,
        rule_cost=cost,
        grammar_samples=samples,
        grammar_count=count,
        grammar_singleton=singleton.astype(np.uint8),
    )
