"""Helpers of the sparse feature templates that write feature names byte by byte."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.jit import leaf_kernel
from itersel.storage.strings import StringTable

LETTER_B, LETTER_N, LETTER_R, LETTER_S, LETTER_T = 66, 78, 82, 83, 84
COLON, UNDERSCORE, DIGIT_0 = 58, 95, 48


class Rules(NamedTuple):
    """Rules and their words; shapes as in `itersel.grammar.shard.Shard`."""

    words: StringTable  # the vocabulary, escaped
    names: StringTable  # of the categories, escaped
    category: NDArray[np.uint16]
    source: NDArray[np.int32]
    source_offset: NDArray[np.int64]
    target: NDArray[np.int32]
    target_offset: NDArray[np.int64]
    point: NDArray[np.uint8]
    point_offset: NDArray[np.int64]
    bin: NDArray[np.uint8]  # bin of the rule's count, see count_kernels; 0: unknown


@leaf_kernel
def put(name: NDArray[np.uint8], length: int, piece: NDArray[np.uint8], begin: int, end: int) -> int:
    """Append ``piece[begin:end]`` to the `length` bytes of a name; returns the new length."""
    for position in range(begin, end):
        name[length] = piece[position]
        length += 1
    return length


@leaf_kernel
def put_category(name: NDArray[np.uint8], length: int, rules: Rules, rule: int, symbol: int) -> int:
    """Append the category of a nonterminal (-1, -2) or of the left-hand side (0); returns the new length."""
    category = rules.category[rule, -symbol]
    return put(name, length, rules.names.data, rules.names.offset[category], rules.names.offset[category + 1])


@leaf_kernel
def put_symbol(
    name: NDArray[np.uint8], length: int, rules: Rules, rule: int, symbol: int, on_target: bool
) -> int:
    """Append a terminal, or the category of a nonterminal and, on the target side, its index."""
    if symbol >= 0:
        return put(name, length, rules.words.data, rules.words.offset[symbol], rules.words.offset[symbol + 1])
    length = put_category(name, length, rules, rule, symbol)
    if not on_target:
        return length
    name[length] = DIGIT_0 - symbol
    return length + 1
