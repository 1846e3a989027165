"""``itersel forest``: write the pruned forests of a shard for ``itersel tune --tuner forest-mert``."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_tuning_arguments, positive
from itersel.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Decode a shard and write the best edges of every sentence's forest: rules, their dense features and "
        "words, and the contribution of the language model."
    )
    search = add_tuning_arguments(
        parser,
        "forests, .h5",
        "dense",
        "features to score with; 'all' writes the score of the sparse features as one feature, for "
        "--sum-sparse",
    )
    search.add_argument(
        "--density",
        type=positive,
        default=50,
        metavar="N",
        help="number of edges per source word to keep, those with the best derivations (default: 50)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Decode, and write all forests or nothing."""
    from itersel.decode.decoder import Decoder
    from itersel.grammar.shard import read_shard
    from itersel.lm.binary import load_model
    from itersel.tune.forests import ForestSettings, generate_forests
    from itersel.tune.generate import read_start

    settings = ForestSettings(options.density, options.features, options.pop_limit, options.max_span)
    shard = read_shard(options.shard, features=options.features)
    if not shard.has_references:
        raise InputError("has no references to tune on; extract it with --references", options.shard)
    weights = read_start(options.weights, options.iteration)
    model = load_model(options.model)
    decoder = Decoder(shard, model, settings.pop_limit, settings.features, settings.max_span)
    generate_forests(
        options.output, shard, decoder, weights, settings, options.iteration, options.shard_number
    )
