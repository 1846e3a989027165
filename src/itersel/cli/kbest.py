"""``itersel kbest``: write the k-best lists of a shard for ``itersel tune``."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_templates, add_tuning_arguments, whole
from itersel.errors import InputError
from itersel.limits import MAX_K_BEST


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Decode a shard and write the n-gram matches, the length and the features of each translation."
    )
    search = add_tuning_arguments(parser, "k-best lists, .h5", "all", "features to score with and to write")
    add_templates(search, (), "templates of sparse features to score with and to write")
    search.add_argument(
        "--k-best",
        type=whole(1, MAX_K_BEST),
        default=100,
        metavar="K",
        help="size of the k-best lists (default: 100)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Decode, and write all lists or nothing."""
    from itersel.decode.decoder import Decoder
    from itersel.grammar.shard import read_shard
    from itersel.lm.binary import load_model
    from itersel.tune.generate import ListSettings, generate_lists, read_start

    settings = ListSettings(
        options.k_best, options.features, options.pop_limit, options.max_span, options.templates
    )
    shard = read_shard(options.shard, options.templates, options.features)
    if not shard.has_references:
        raise InputError("has no references to tune on; extract it with --references", options.shard)
    weights = read_start(options.weights, options.iteration)
    model = load_model(options.model)
    decoder = Decoder(shard, model, settings.pop_limit, settings.features, settings.max_span)
    generate_lists(options.output, shard, decoder, weights, settings, options.iteration, options.shard_number)
