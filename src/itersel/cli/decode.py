"""``itersel decode``: translate the sentences of a shard."""

from __future__ import annotations

import argparse
from typing import IO

from itersel.cli.arguments import add_options, add_section_arguments, add_text_output, whole
from itersel.config.options import section_of
from itersel.config.search import Search
from itersel.errors import InputError
from itersel.limits import MAX_K_BEST


def _add_decode(parser: argparse.ArgumentParser) -> None:
    files = {
        "--shard": "sentences with grammars (HDF5)",
        "--model": "compiled language model",
        "--weights": "weights: .h5, or text 'name value'",
    }
    add_options(parser, files, required=True)
    parser.add_argument(
        "--k-best",
        type=whole(0, MAX_K_BEST),
        default=0,
        metavar="K",
        help="write the K best different translations, 'id ||| text ||| name=value ... ||| score', "
        "instead of one best translation per line",
    )
    add_section_arguments(parser, Search)
    add_text_output(parser)


def _decode(options: argparse.Namespace) -> None:
    from itersel.storage.files import open_output

    with open_output(options.output) as stream:
        try:
            _write_translations(stream, options)
        except InputError as error:
            raise InputError(error.message, error.path or options.shard, error.line) from None


def _write_translations(stream: IO[str], options: argparse.Namespace) -> None:
    """Write the best translation of each sentence of a shard, one per line, or k-best lists."""
    from itersel.decode.decoder import Decoder
    from itersel.decode.output import kbest_lines, text_of
    from itersel.grammar.shard import read_shard
    from itersel.lm.binary import load_model
    from itersel.progress import progress
    from itersel.vectors.weights import read_weights

    weights = read_weights(options.weights)
    search = section_of(Search, options)
    sentences = read_shard(options.shard, search.templates, search.features)
    decoder = Decoder(sentences, load_model(options.model), search)
    vectors = decoder.weight_vectors(weights)
    words = sentences.vocabulary.to_list()
    for sentence in progress(range(sentences.sentence_count), "decode"):
        found = decoder.decode(sentence, *vectors, k=max(options.k_best, 1))
        if options.k_best:
            lines = kbest_lines(sentence, found, words, decoder.dense_names, sentences.feature_name)
        else:
            lines = iter([text_of(found, 0, words)])
        stream.writelines(line + "\n" for line in lines)
