"""The translations of a sentence with details, as a line of JSON (docs/translate.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.decoder import Decoder
from itersel.decode.output import feature_values, text_of
from itersel.decode.trees import Derivation, Node, derive_all
from itersel.grammar.categories import S, X


class Details(NamedTuple):
    """What to output besides text and score.

    Attributes
    ----------
    k_best
        Number of distinct translations.
    features, alignments, derivations
        Whether to include these for each translation.
    """

    k_best: int = 1
    features: bool = False
    alignments: bool = False
    derivations: bool = False


def document_line(
    decoder: Decoder,
    sentence: int,
    vectors: tuple[NDArray[np.float64], NDArray[np.float64]],
    words: Sequence[str],
    about: Mapping[str, Any],
    details: Details,
    restore: Callable[[list[str]], list[str]],
) -> str:
    """Translate a sentence of the decoder's shard, and return a JSON object on one line.

    Parameters
    ----------
    decoder, sentence, vectors, words
        See `itersel.decode.trees.derive_all`.
    about
        The first keys of the object.
    details
        What to include in the object.
    restore
        Turns translations with words separated by spaces into text.
    """
    shard = decoder.shard
    trees: Sequence[Derivation] = ()
    if details.alignments or details.derivations:
        found, trees = derive_all(decoder, sentence, *vectors, words, details.k_best)
    else:
        found = decoder.decode(sentence, *vectors, k=details.k_best)
    lines = [text_of(found, rank, words) for rank in range(found.score.shape[0])]
    translations = []
    for rank, (line, text) in enumerate(zip(lines, restore(lines), strict=True)):
        one: dict[str, Any] = {"text": text, "tokens": line.split(" ") if line else []}
        one["score"] = float(found.score[rank])
        if details.features:
            one["features"] = dict(feature_values(found, rank, decoder.dense_names, shard.feature_name))
        if details.alignments:
            one["alignment"] = trees[rank].links
        if details.derivations:
            one["derivation"] = _derivation(trees[rank])
        translations.append(one)
    source = shard.source[slice(*shard.source_offset[sentence : sentence + 2])].tolist()
    tokens = [words[word] for word in source]
    return json.dumps({**about, "tokens": tokens, "translations": translations}, ensure_ascii=False)


def _derivation(tree: Derivation) -> list[dict[str, Any]]:
    """Return the rules in pre-order, as a list because the tree of a long sentence is too deep for JSON."""
    nodes: list[dict[str, Any]] = []
    last: dict[int, int] = {}  # the latest node at each depth
    for number, node in enumerate(tree.nodes):
        nodes.append(
            {
                "rule": _rule(node),
                "span": [node.begin, node.end],
                "score": node.score,
                "children": [],
            }
        )
        if node.depth:
            nodes[last[node.depth - 1]]["children"].append(number)
        last[node.depth] = number
    return nodes


def _rule(node: Node) -> str:
    """Return a rule in the format of text grammars; rules without words are the glue rules."""
    is_glue = not any(isinstance(symbol, str) for symbol in node.source)
    left, first = (S if is_glue else X), (S if is_glue and len(node.source) > 1 else X)
    names = {-1: f"[{first},1]", -2: f"[{X},2]"}
    source, target = (
        " ".join(symbol if isinstance(symbol, str) else names[symbol] for symbol in side)
        for side in (node.source, node.target)
    )
    return f"[{left}] ||| {source} ||| {target}"
