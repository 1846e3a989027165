"""``itersel shard``: cut a corpus into shards."""

from __future__ import annotations

import argparse
import re

from itersel.cli.arguments import positive, refuse, seed
from itersel.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Cut parallel text into Z shards, DIR/z.source.gz, DIR/z.target.gz and DIR/z.ids, the line numbers "
        "(from 0) for 'itersel grammar extract --leave-one-out'. z starts at 0. The sizes of shards differ "
        "by at most one; with --labels, within each task."
    )
    parser.add_argument("--source", required=True, metavar="FILE", help="source text, one sentence per line")
    parser.add_argument(
        "--target", required=True, metavar="FILE", help="its translation, one sentence per line"
    )
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--shards", type=positive, metavar="Z", help="number of shards")
    kind.add_argument(
        "--labels",
        type=_label,
        nargs="+",
        metavar="LABEL=N",
        help="tasks, each with the number of its shards; needs --task",
    )
    parser.add_argument("--task", metavar="FILE", help="task label of each line")
    parser.add_argument(
        "--others",
        choices=("drop", "join"),
        default="drop",
        help="sentences with other labels: leave them out, or join them in one more shard (default: drop)",
    )
    parser.add_argument(
        "--minimum", type=positive, default=1, metavar="N", help="fewest sentences of a task (default: 1)"
    )
    order = parser.add_mutually_exclusive_group()
    order.add_argument("--seed", type=seed, default=1, help="seed of the shuffle before the cut (default: 1)")
    order.add_argument(
        "--keep-order", action="store_true", help="do not shuffle: each shard has adjacent lines"
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="folder to write to")
    parser.set_defaults(run=_run)


def _label(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"([^\s=]+)=([0-9]{1,6})", text)
    if found is None or int(found[2]) == 0:
        refuse(text, "a label and a number of shards, such as swriter=4")
    return found[1], int(found[2])


def _run(options: argparse.Namespace) -> None:
    from itersel.corpus.sharding import NaturalShards, shard_corpus, shard_tasks

    if options.labels is None:
        if options.task is not None or options.others != "drop" or options.minimum != 1:
            raise InputError("--task, --others and --minimum need --labels")
        chosen = None if options.keep_order else options.seed
        shard_corpus(options.source, options.target, options.shards, chosen, options.output)
        return
    if options.task is None:
        raise InputError("--labels needs --task, the file with the label of each line")
    if options.keep_order:
        raise InputError("--labels excludes --keep-order")
    names = [name for name, _ in options.labels]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise InputError(f"task '{name}' is named twice in --labels")
    tasks = NaturalShards(dict(options.labels), options.others == "join", options.minimum)
    shard_tasks(options.source, options.target, options.task, tasks, options.seed, options.output)
