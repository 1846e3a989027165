"""``itersel kbest``: write the k-best lists of a shard for ``itersel tune``."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_tuning_arguments
from itersel.config.options import section_of
from itersel.config.search import ListSettings
from itersel.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Decode a shard and write the n-gram matches, the length and the features of each translation."
    )
    add_tuning_arguments(parser, "k-best lists, .h5", ListSettings)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Decode, and write all lists or nothing."""
    from itersel.decode.decoder import Decoder
    from itersel.grammar.shard import read_shard
    from itersel.lm.binary import load_model
    from itersel.tune.generate import generate_lists, read_start

    settings = section_of(ListSettings, options)
    shard = read_shard(options.shard, options.templates, options.features)
    if not shard.has_references:
        raise InputError("has no references to tune on; extract it with --references", options.shard)
    weights = read_start(options.weights, options.iteration)
    model = load_model(options.model)
    decoder = Decoder(shard, model, settings)
    generate_lists(options.output, shard, decoder, weights, settings, options.iteration, options.shard_number)
