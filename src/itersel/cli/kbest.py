"""``itersel kbest`` and ``itersel forest``: write what ``itersel tune`` reads of a shard."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from itersel.cli.arguments import add_options, add_output, add_section_arguments, not_negative, positive
from itersel.config.options import section_of
from itersel.config.search import ForestSettings, ListSettings
from itersel.errors import InputError


def _add_kbest(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Decode a shard and write the n-gram matches, the length and the features of each translation."
    )
    _add(parser, "k-best lists, .h5", ListSettings)


def _kbest(options: argparse.Namespace) -> None:
    from itersel.tune.generate import generate_lists

    _generate(options, ListSettings, generate_lists)


def _add_forest(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Decode a shard and write the best edges of every sentence's forest: rules, their dense features and "
        "words, and the contribution of the language model."
    )
    _add(parser, "forests, .h5", ForestSettings)


def _forest(options: argparse.Namespace) -> None:
    from itersel.tune.forests import generate_forests

    _generate(options, ForestSettings, generate_forests)


def _add(parser: argparse.ArgumentParser, output: str, section: type) -> None:
    files = parser.add_argument_group("files")
    inputs = {"--shard FILE": "shard.h5 with references", "--model FILE": "compiled language model"}
    add_options(files, inputs, required=True)
    files.add_argument(
        "--weights",
        metavar="FILE",
        help="weights, .h5 or text (default: fixed weights of the dense features, for the first iteration)",
    )
    add_output(files, output)
    place = parser.add_argument_group("position in the run, recorded in the file")
    iteration = {"--iteration T": "number of the iteration (default: 1)"}
    add_options(place, iteration, type=positive, default=1)
    number = {"--shard-number Z": "number of the shard, from 0 (default: 0)"}
    add_options(place, number, type=not_negative, default=0)
    add_section_arguments(parser.add_argument_group("decoding"), section)


def _generate(options: argparse.Namespace, section: type, generate: Callable[..., Any]) -> None:
    from itersel.decode.decoder import Decoder
    from itersel.grammar.shard import read_shard
    from itersel.lm.binary import load_model
    from itersel.tune.generate import read_start

    settings = section_of(section, options)
    shard = read_shard(options.shard, options.templates, options.features)
    if not shard.has_references:
        raise InputError("has no references to tune on; extract it with --references", options.shard)
    weights = read_start(options.weights, options.iteration)
    decoder = Decoder(shard, load_model(options.model), settings)
    generate(options.output, shard, decoder, weights, settings, options.iteration, options.shard_number)
