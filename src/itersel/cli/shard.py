"""``itersel shard``: cut a corpus into shards."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import positive, seed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Cut parallel text into Z shards whose sizes differ by one at most: DIR/z.source.gz, DIR/z.target.gz "
        "and DIR/z.ids, the line numbers (from 0) for 'itersel grammar extract --leave-one-out'. z starts "
        "at 0."
    )
    parser.add_argument("--source", required=True, metavar="FILE", help="source text, one sentence per line")
    parser.add_argument(
        "--target", required=True, metavar="FILE", help="its translation, one sentence per line"
    )
    parser.add_argument("--shards", required=True, type=positive, metavar="Z", help="number of shards")
    order = parser.add_mutually_exclusive_group()
    order.add_argument("--seed", type=seed, default=1, help="seed of the shuffle before the cut (default: 1)")
    order.add_argument(
        "--keep-order", action="store_true", help="do not shuffle: each shard has adjacent lines"
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="folder to write to")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from itersel.corpus.sharding import shard_corpus

    seed = None if options.keep_order else options.seed
    shard_corpus(options.source, options.target, options.shards, seed, options.output)
