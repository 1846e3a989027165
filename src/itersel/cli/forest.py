"""``itersel forest``: write the pruned forests of a shard for ``itersel tune --tuner forest-mert``."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_tuning_arguments
from itersel.config.options import section_of
from itersel.config.search import ForestSettings
from itersel.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Decode a shard and write the best edges of every sentence's forest: rules, their dense features and "
        "words, and the contribution of the language model."
    )
    add_tuning_arguments(parser, "forests, .h5", ForestSettings)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Decode, and write all forests or nothing."""
    from itersel.decode.decoder import Decoder
    from itersel.grammar.shard import read_shard
    from itersel.lm.binary import load_model
    from itersel.tune.forests import generate_forests
    from itersel.tune.generate import read_start

    settings = section_of(ForestSettings, options)
    shard = read_shard(options.shard, options.templates, options.features)
    if not shard.has_references:
        raise InputError("has no references to tune on; extract it with --references", options.shard)
    weights = read_start(options.weights, options.iteration)
    model = load_model(options.model)
    decoder = Decoder(shard, model, settings)
    generate_forests(
        options.output, shard, decoder, weights, settings, options.iteration, options.shard_number
    )
