"""From raw sentences to translations, in blocks of sentences.

Translations do not depend on the division into blocks: the grammar of a sentence is the same in any block,
and ties are broken by its order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from itersel.config.mbr import MinimumRisk
from itersel.corpus.prepare import restore
from itersel.corpus.text import check_text, split_words, text_blocks
from itersel.decode.decoder import Decoder
from itersel.decode.derivation_trees import Derivation, Node, derive_all
from itersel.decode.output import feature_values, text_of
from itersel.decode.ranking import best_ranks, list_size
from itersel.decode.translations import WeightVectors
from itersel.errors import FilePath, InputError, located
from itersel.grammar.extract import Extractor
from itersel.grammar.grammar_kernels import S, X
from itersel.run.processes import map_blocks
from itersel.system.trained_translator import TrainedTranslator, load_translator

# The longest sentence that `itersel translate` accepts, in words and in bytes; it takes about ten seconds.
MAX_SENTENCE = 2000
MAX_SENTENCE_BYTES = 2**18

# Sentences that are extracted together share patterns and rules: with 64 at a time, extraction takes 2.2
# times as long as with 1024; with 512, 1.2 times. With 2048, it takes four fifths of the time, but half as
# much memory again.
BLOCK_SENTENCES, MIN_BLOCK_SENTENCES = 1024, 64


class TextBlock(NamedTuple):
    """Lines of raw text, and the line number of the first, from 1."""

    first: int
    lines: list[str]


def read_blocks(path: FilePath, size: int = BLOCK_SENTENCES) -> Iterator[TextBlock]:
    """Yield the lines of a text in blocks of at most `size`.

    Blocks contain the lines available so far: lines that arrive one by one through a pipe are blocks of one.
    """
    first = 1
    for lines in text_blocks(path, limit=MAX_SENTENCE_BYTES, advice="; break the line"):
        for begin in range(0, len(lines), size):
            yield TextBlock(first + begin, lines[begin : begin + size])
        first += len(lines)


class Details(NamedTuple):
    """What a line of JSON contains for each of `k_best` different translations, besides text and score."""

    k_best: int = 1
    feature_values: bool = False
    alignments: bool = False
    derivations: bool = False


def translate_text(
    path: FilePath,
    system: FilePath,
    keep_tokens: bool,
    details: Details | None,
    processes: int,
    choose: Callable[[MinimumRisk | None], MinimumRisk | None],
) -> Iterator[list[str]]:
    """Yield lists of translations in order: a line of text or JSON for each line of the text.

    The system is a folder or bundle; see also `Translator`. `choose` returns the minimum Bayes risk to use,
    given that of the system.
    """
    # smaller blocks keep more processes busy to the end
    blocks = read_blocks(path, max(MIN_BLOCK_SENTENCES, BLOCK_SENTENCES // processes))
    # with any number of processes, so errors in the system are reported before any text is read
    loaded = load_translator(system)
    mbr = choose(loaded.settings.mbr)

    if processes == 1:
        translator = Translator(loaded, keep_tokens, details, mbr)
        for block in blocks:
            # one line at a time, so each translation is available as soon as possible
            for line in translator.translate(block, path):
                yield [line]
        return

    del loaded
    yield from map_blocks(partial(_translation, system, path, keep_tokens, details, mbr), blocks, processes)


def _translation(
    system: FilePath, path: FilePath, keep_tokens: bool, details: Details | None, mbr: MinimumRisk | None
) -> Callable[[TextBlock], list[str]]:
    translator = Translator(load_translator(system), keep_tokens, details, mbr)
    return lambda block: list(translator.translate(block, path))


class Translator:
    """Translates raw text.

    With `keep_tokens`, translations are the decoder's output: lowercased words separated by spaces. With
    `details`, they are lines of JSON; without, only the best translation of each sentence, as text. With
    `mbr`, the best are those of minimum Bayes risk, otherwise those of the highest scores.
    """

    def __init__(
        self,
        system: TrainedTranslator,
        keep_tokens: bool = False,
        details: Details | None = None,
        mbr: MinimumRisk | None = None,
    ) -> None:
        self.system = system
        self.keep_tokens = keep_tokens
        self.details = details
        self.mbr = mbr
        grammar = system.settings.grammar
        if not system.settings.uses_sparse:
            # saves a quarter of the extraction time if the decoder ignores these features
            grammar = replace(grammar, templates=())
        self.extractor = Extractor(system.index, grammar)

    def prepare(self, block: TextBlock, path: FilePath) -> list[list[str]]:
        """Return the words to translate; InputErrors (too many words, reserved ones) name `path`."""
        preparation = self.system.preparation
        if preparation.words.tokenized:
            numbers = range(block.first, block.first + len(block.lines))
            check_text(block.lines, path, numbers, is_tokenized=True)
        lines = preparation.split_compounds(preparation.source(block.lines))
        sentences = list(map(split_words, lines))
        for number, words in enumerate(sentences, block.first):
            if len(words) > MAX_SENTENCE:
                why = f"a sentence of {len(words)} words; the limit is {MAX_SENTENCE}, so split it"
                raise InputError(why, path, number)
        return sentences

    def translate(self, block: TextBlock, path: FilePath) -> Iterator[str]:
        """Yield a line of text or JSON (docs/translate.md) for each line of raw text; see `prepare`."""
        grammars = self.extractor.extract(self.prepare(block, path))
        system = self.system

        # the rules come from the index
        with located(system.index.path):
            decoder = Decoder(grammars, system.language_model, system.settings.search())
            vectors = decoder.weight_vectors(system.weights)
            words = grammars.vocabulary.to_list()

            for sentence, source in enumerate(block.lines):
                if self.details is None:
                    kbest = decoder.decode(sentence, vectors, k=list_size(1, self.mbr))
                    [best] = best_ranks(kbest, words, 1, self.mbr)
                    yield from self._restore([text_of(kbest, best, words)])
                    continue

                tokens = grammars.source[slice(*grammars.source_offset[sentence : sentence + 2])].tolist()
                document = {
                    "line": block.first + sentence,
                    "source": source,
                    "tokens": [words[word] for word in tokens],
                    "translations": self._translations(decoder, sentence, vectors, words, self.details),
                }
                yield json.dumps(document, ensure_ascii=False)

    def _translations(
        self, decoder: Decoder, sentence: int, vectors: WeightVectors, words: Sequence[str], details: Details
    ) -> list[dict[str, Any]]:
        trees: Sequence[Derivation] = ()
        size = list_size(details.k_best, self.mbr)
        if details.alignments or details.derivations:
            kbest, trees = derive_all(decoder, sentence, vectors, words, size)
        else:
            kbest = decoder.decode(sentence, vectors, k=size)

        best = best_ranks(kbest, words, details.k_best, self.mbr)
        lines = [text_of(kbest, rank, words) for rank in best]
        translations = []
        for rank, line, text in zip(best, lines, self._restore(lines), strict=True):
            one: dict[str, Any] = {"text": text, "tokens": line.split(" ") if line else []}
            one["score"] = float(kbest.score[rank])

            if details.feature_values:
                names = decoder.dense_names, decoder.grammars.feature_name
                one["features"] = dict(feature_values(kbest, rank, *names))
            if details.alignments:
                one["alignment"] = trees[rank].links
            if details.derivations:
                one["derivation"] = _derivation(trees[rank])
            translations.append(one)

        return translations

    def _restore(self, lines: list[str]) -> list[str]:
        if self.keep_tokens:
            return lines
        return restore(lines, self.system.preparation, self.system.recaser)


def _derivation(tree: Derivation) -> list[dict[str, Any]]:
    """Return the rules in pre-order, as a list because the tree of a long sentence is too deep for JSON."""
    nodes: list[dict[str, Any]] = []
    last: dict[int, int] = {}  # the latest node at each depth
    for number, node in enumerate(tree.nodes):
        span = [node.begin, node.end]
        nodes.append({"rule": _rule(node), "span": span, "score": node.score, "children": []})
        if node.depth:
            nodes[last[node.depth - 1]]["children"].append(number)
        last[node.depth] = number
    return nodes


def _rule(node: Node) -> str:
    """Return a rule in the format of text grammars; rules without words are the glue rules."""
    is_glue = not any(isinstance(symbol, str) for symbol in node.source)
    left = S if is_glue else X
    # only the rule that begins a derivation has no S on its right-hand side
    first = S if is_glue and len(node.source) > 1 else X
    names = {-1: f"[{first},1]", -2: f"[{X},2]"}
    source, target = (
        " ".join(symbol if isinstance(symbol, str) else names[symbol] for symbol in side)
        for side in (node.source, node.target)
    )

    return f"[{left}] ||| {source} ||| {target}"
