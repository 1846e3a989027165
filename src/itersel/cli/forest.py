"""``itersel forest``: the pruned forests of a shard, for ``itersel tune --tuner forest-mert``."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import not_negative, output_file, positive, whole
from itersel.errors import InputError
from itersel.limits import MAX_POP_LIMIT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Decode a shard with dense features, and write the best edges of every sentence's forest: rules, "
        "their features and words, and what the language model adds."
    )
    files = parser.add_argument_group("files")
    files.add_argument("--shard", required=True, metavar="FILE", help="shard.h5 with references")
    files.add_argument("--model", required=True, metavar="FILE", help="compiled language model")
    files.add_argument(
        "--weights",
        metavar="FILE",
        help="weights, .h5 or text (default: fixed weights of the dense features, for the first iteration)",
    )
    files.add_argument("--output", required=True, type=output_file, metavar="FILE", help="forests, .h5")
    search = parser.add_argument_group("decoding")
    search.add_argument(
        "--density",
        type=positive,
        default=50,
        metavar="N",
        help="edges to keep for every source word: those with the best derivations (default: 50)",
    )
    search.add_argument(
        "--pop-limit",
        type=whole(1, MAX_POP_LIMIT),
        default=200,
        metavar="N",
        help="of cube pruning (default: 200)",
    )
    search.add_argument(
        "--max-span",
        type=positive,
        default=15,
        metavar="N",
        help="longest source span of an X (default: 15)",
    )
    place = parser.add_argument_group("place in the run, recorded in the file")
    place.add_argument(
        "--iteration", type=positive, default=1, metavar="T", help="number of the iteration (default: 1)"
    )
    place.add_argument(
        "--shard-number",
        type=not_negative,
        default=0,
        metavar="Z",
        help="number of the shard, from 0 (default: 0)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Decode, and write the forests whole or not at all."""
    from itersel.decode.decoder import Decoder
    from itersel.grammar.shard import read_shard
    from itersel.lm.binary import load_model
    from itersel.tune.forests import ForestSettings, generate_forests
    from itersel.tune.generate import start_weights
    from itersel.weights import read_weights

    settings = ForestSettings(options.density, pop_limit=options.pop_limit, max_span=options.max_span)
    shard = read_shard(options.shard)
    if not shard.has_references:
        raise InputError("has no references to tune on; extract it with --references", options.shard)
    weights = start_weights() if options.weights is None else read_weights(options.weights)
    model = load_model(options.model)
    decoder = Decoder(shard, model, settings.pop_limit, settings.features, settings.max_span)
    generate_forests(
        options.output, shard, decoder, weights, settings, options.iteration, options.shard_number
    )
