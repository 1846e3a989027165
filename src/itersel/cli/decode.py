"""``itersel decode``: translate the sentences of a shard."""

from __future__ import annotations

import argparse
import os
from typing import IO

from itersel.cli.arguments import add_section_arguments, output_file, whole
from itersel.config.options import section_of
from itersel.config.search import Search
from itersel.errors import InputError
from itersel.limits import MAX_K_BEST

FilePath = str | os.PathLike[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.add_argument("--shard", required=True, help="sentences with grammars (HDF5)")
    parser.add_argument("--model", required=True, help="compiled language model")
    parser.add_argument("--weights", required=True, help="weights: .h5, or text 'name value'")
    parser.add_argument(
        "--k-best",
        type=whole(0, MAX_K_BEST),
        default=0,
        metavar="K",
        help="write the K best different translations, 'id ||| text ||| name=value ... ||| score', "
        "instead of one best translation per line",
    )
    add_section_arguments(parser, Search)
    parser.add_argument(
        "--output",
        type=output_file,
        default="-",
        help="file, plain or compressed, or - for standard output (default)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Decode, and write the complete output or nothing."""
    from itersel.storage.files import open_output

    with open_output(options.output) as stream:
        try:
            translate_shard(
                stream,
                shard=options.shard,
                model=options.model,
                weights=options.weights,
                search=section_of(Search, options),
                k_best=options.k_best,
            )
        except InputError as error:
            raise InputError(error.message, error.path or options.shard, error.line) from None


def translate_shard(
    stream: IO[str],
    *,
    shard: FilePath,
    model: FilePath,
    weights: FilePath,
    search: Search,
    k_best: int = 0,
) -> None:
    """Write the best translation of each sentence of a shard, one per line, or `k_best` lists."""
    from itersel.decode.decoder import Decoder
    from itersel.decode.output import kbest_lines, text_of
    from itersel.grammar.shard import read_shard
    from itersel.lm.binary import load_model
    from itersel.progress import progress
    from itersel.vectors.weights import read_weights

    read_weight = read_weights(weights)
    sentences = read_shard(shard, search.templates, search.features)
    decoder = Decoder(sentences, load_model(model), search)
    vectors = decoder.weight_vectors(read_weight)
    words = sentences.vocabulary.to_list()
    for sentence in progress(range(sentences.sentence_count), "decode"):
        found = decoder.decode(sentence, *vectors, k=max(k_best, 1))
        if k_best:
            lines = kbest_lines(sentence, found, words, decoder.dense_names, sentences.feature_name)
        else:
            lines = iter([text_of(found, 0, words)])
        stream.writelines(line + "\n" for line in lines)
