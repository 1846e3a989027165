"""Export the grammars of a shard in cdec's text format, which `itersel.grammar.text` reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.grammar.build import Categories
from itersel.grammar.categories import FIXED_CATEGORIES, X
from itersel.grammar.shard import Shard, read_shard
from itersel.grammar.shard_kernels import GRAMMAR_RULE
from itersel.grammar.sparse import COMPUTED_FEATURE
from itersel.grammar.text import NO_WORD, NONTERMINAL, SEPARATOR, TARGET_NONTERMINALS
from itersel.storage.files import open_output


def export_grammars(shard: str | os.PathLike[str], output: str | os.PathLike[str]) -> None:
    """Write the grammars of a shard to the folder `output` as ``grammar.0.gz`` and so on.

    Glue and pass-through rules, and the sparse features that cdec computes itself, are left out. Numbers have
    the shortest form that is read back exactly.
    """
    for sentence, lines in enumerate(grammar_lines(read_shard(shard))):
        with open_output(Path(output) / f"grammar.{sentence}.gz") as stream:
            stream.writelines(lines)


def grammar_lines(shard: Shard) -> Iterator[list[str]]:
    """Yield the lines of the grammar of each sentence of a shard; see `export_grammars`."""
    writer = _Writer(shard)
    for sentence in range(shard.sentence_count):
        yield list(writer.lines(sentence))


class _Writer:
    """Formats the rules of a shard."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.words = shard.vocabulary.to_list()
        for word in self.words:
            if SEPARATOR in word or NONTERMINAL.fullmatch(word):
                raise InputError(NO_WORD.format(word))
        self.categories = shard.category.to_list() or list(FIXED_CATEGORIES)
        self.names = shard.feature_name.to_list()
        self.listed = np.array([COMPUTED_FEATURE.match(name) is None for name in self.names], bool)

    def lines(self, sentence: int) -> Iterator[str]:
        """Yield the lines of the grammar of one sentence."""
        shard = self.shard
        begin, end = shard.grammar_offset[sentence : sentence + 2].tolist()
        for rule, values in zip(shard.grammar_rule[begin:end].tolist(), shard.dense(begin, end), strict=True):
            if shard.rule_kind[rule] != GRAMMAR_RULE:
                continue
            named = zip(shard.dense_names, values, strict=True)
            features = [f"{name}={_number(value)}" for name, value in named]
            yield self._rule(rule, features) + "\n"

    def _rule(self, rule: int, features: list[str]) -> str:
        shard = self.shard
        source = shard.rule_source[shard.rule_source_offset[rule] : shard.rule_source_offset[rule + 1]]
        target = shard.rule_target[shard.rule_target_offset[rule] : shard.rule_target_offset[rule + 1]]
        row = slice(shard.rule_feature_offset[rule], shard.rule_feature_offset[rule + 1])
        for feature, value in zip(shard.rule_feature[row], shard.rule_feature_value[row], strict=True):
            if self.listed[feature]:
                features.append(f"{self.names[feature]}={_number(value)}")
        left, *names = self._categories(rule)
        for word in target[target >= 0].tolist():
            if self.words[word] in TARGET_NONTERMINALS:
                raise InputError(NO_WORD.format(self.words[word]))
        fields = [f"[{left}]", self._symbols(source, names), self._symbols(target, names), " ".join(features)]
        points = shard.rule_alignment[
            shard.rule_alignment_offset[rule] : shard.rule_alignment_offset[rule + 1]
        ]
        if points.shape[0]:
            fields.append(" ".join(f"{i}-{j}" for i, j in points.tolist()))
        return f" {SEPARATOR} ".join(fields)

    def _categories(self, rule: int) -> Categories:
        if self.shard.rule_category.shape[0] == 0:
            return X, X, X
        left, first, second = self.shard.rule_category[rule].tolist()
        return self.categories[left], self.categories[first], self.categories[second]

    def _symbols(self, symbols: NDArray[np.int32], names: Sequence[str]) -> str:
        return " ".join(
            self.words[symbol] if symbol >= 0 else f"[{names[-symbol - 1]},{-symbol}]"
            for symbol in symbols.tolist()
        )


def _number(value: np.float32) -> str:
    # The cache must distinguish 0 from -0, which compare as equal.
    return _format(value, bool(np.signbit(value)))


@lru_cache(maxsize=1 << 16)
def _format(value: np.float32, _negative: bool) -> str:
    return np.format_float_positional(value, unique=True, trim="-")
