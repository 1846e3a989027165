"""From raw sentences to translations, in blocks of sentences.

Translations do not depend on the division into blocks: the grammar of a sentence is the same in any block,
and ties are broken by its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from itersel.corpus.prepare import restore
from itersel.corpus.text import check_tokens, split_words, text_blocks
from itersel.decode.decoder import Decoder
from itersel.decode.output import best_line
from itersel.errors import InputError
from itersel.grammar.extract import Extractor
from itersel.grammar.shard import Shard
from itersel.limits import MAX_SENTENCE, MAX_SENTENCE_BYTES
from itersel.processes import map_blocks
from itersel.storage.formats import FilePath
from itersel.translate.document import Details, document_line
from itersel.translate.system import TrainedSystem, load_system

# Sentences that are extracted together share patterns and rules: with 64 at a time, extraction takes 2.2
# times as long as with 1024; with 512, 1.2 times. With 2048, it takes four fifths of the time, but half as
# much memory again.
BLOCK_SENTENCES, LEAST_BLOCK = 1024, 64


class Block(NamedTuple):
    """Lines of raw text, and the line number of the first, from 1."""

    first: int
    lines: list[str]


def read_blocks(path: FilePath, size: int = BLOCK_SENTENCES) -> Iterator[Block]:
    """Yield the lines of a text in blocks of at most `size`.

    Blocks contain the lines available so far: lines that arrive one by one through a pipe are blocks of one.

    Raises
    ------
    InputError
        See `itersel.corpus.text.text_blocks`; lines have at most `MAX_SENTENCE_BYTES`.
    """
    first = 1
    for lines in text_blocks(path, limit=MAX_SENTENCE_BYTES, advice="; break the line"):
        for begin in range(0, len(lines), size):
            yield Block(first + begin, lines[begin : begin + size])
        first += len(lines)


class Job(NamedTuple):
    """What to translate with.

    Attributes
    ----------
    system
        Folder or bundle.
    input
        Name of the text, for messages.
    keep_tokens, details
        See `Translator`.
    """

    system: FilePath
    input: FilePath
    keep_tokens: bool
    details: Details | None


def translate_blocks(blocks: Iterator[Block], job: Job, processes: int) -> Iterator[list[str]]:
    """Yield lists of translations in order: a line of text or JSON for each line of the blocks.

    Raises
    ------
    InputError
        If reading `blocks` or translating fails, or a process was killed.
    """
    # with any number of processes, so errors in the system are reported before any text is read
    system = load_system(job.system)
    if processes == 1:
        translator = Translator(system, job.keep_tokens, job.details)
        for block in blocks:
            # one line at a time, so each translation is available as soon as possible
            for line in translator.translate(block, job.input):
                yield [line]
        return
    del system
    yield from map_blocks(partial(_translation, job), blocks, processes)


def _translation(job: Job) -> Callable[[Block], list[str]]:
    translator = Translator(load_system(job.system), job.keep_tokens, job.details)
    return lambda block: list(translator.translate(block, job.input))


class Translator:
    """Translates raw text.

    Parameters
    ----------
    system
        The trained system.
    keep_tokens
        Return the decoder's output: lowercased words separated by spaces.
    details
        What to output for each sentence, as a line of JSON; None for only the best translation, as text.
    """

    def __init__(
        self, system: TrainedSystem, keep_tokens: bool = False, details: Details | None = None
    ) -> None:
        self.system, self.keep_tokens, self.details = system, keep_tokens, details
        settings = system.settings
        extraction = settings.extraction
        if settings.features == "dense":
            # saves a quarter of the extraction time if the decoder ignores these features
            extraction = replace(extraction, templates=())
        self._extractor = Extractor(system.index, extraction)

    def prepare(self, block: Block, path: FilePath) -> list[list[str]]:
        """Return the words to translate; `path` is for messages.

        Raises
        ------
        InputError
            If a sentence is too long, or contains a word that is reserved in grammars or language models.
        """
        preparation = self.system.preparation
        if preparation.tokenized:
            check_tokens(block.lines, path, range(block.first, block.first + len(block.lines)))
        lines = preparation.split_compounds(preparation.source(block.lines))
        sentences = list(map(split_words, lines))
        for number, words in enumerate(sentences, block.first):
            if len(words) > MAX_SENTENCE:
                why = f"a sentence of {len(words)} words; up to {MAX_SENTENCE} are translated, cut it"
                raise InputError(why, path, number)
        return sentences

    def extract(self, sentences: Sequence[Sequence[str]]) -> Shard:
        """Return the grammars of prepared sentences."""
        return self._extractor.extract(sentences)

    def translate(self, block: Block, path: FilePath) -> Iterator[str]:
        """Yield a line of text or JSON for each line of raw text; see `prepare`."""
        shard = self.extract(self.prepare(block, path))
        settings, system = self.system.settings, self.system
        try:
            decoder = Decoder(shard, system.model, settings.search())
            if self.details is None:
                yield from self._plain(decoder)
            else:
                yield from self._documents(decoder, block, self.details)
        except InputError as error:
            # the rules come from the index
            raise InputError(error.message, error.path or system.index.path, error.line) from None

    def _plain(self, decoder: Decoder) -> Iterator[str]:
        vectors = decoder.weight_vectors(self.system.weights)
        words = decoder.shard.vocabulary.to_list()
        for sentence in range(decoder.shard.sentence_count):
            found = decoder.decode(sentence, *vectors, k=1)
            yield from self._restore([best_line(found, words)])

    def _documents(self, decoder: Decoder, block: Block, details: Details) -> Iterator[str]:
        vectors = decoder.weight_vectors(self.system.weights)
        words = decoder.shard.vocabulary.to_list()
        for sentence, source in enumerate(block.lines):
            yield document_line(
                decoder,
                sentence,
                vectors,
                words,
                {"line": block.first + sentence, "source": source},
                details,
                self._restore,
            )

    def _restore(self, lines: list[str]) -> list[str]:
        if self.keep_tokens:
            return lines
        return restore(lines, self.system.preparation, self.system.recaser)
