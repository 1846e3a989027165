"""``itersel shard``: cut a corpus, or n-best lists, into shards."""

from __future__ import annotations

import argparse
import re
from functools import partial
from typing import TYPE_CHECKING

from itersel.cli.arguments import add_options, positive, seed
from itersel.config.command_line import refuse
from itersel.errors import InputError, located

if TYPE_CHECKING:
    from itersel.arrays import Int64s


def _add_shard(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Cut parallel text into Z shards, numbered from 0: DIR/z.source.gz, DIR/z.target.gz and DIR/z.ids, "
        "the line number (from 0) of each sentence and those of its copies, for 'itersel grammar extract "
        "--leave-one-out'. The sizes of the shards (with --labels: of the shards of a task) differ by at "
        "most one. With --nbest, cut n-best lists of another decoder: DIR/z.lists.gz, DIR/z.ids without "
        "copies, the references, and DIR/dense.txt, the names of the dense features."
    )
    add_options(parser, {"--output DIR": "folder to write to"}, required=True)
    add_options(parser, {"--source FILE": "source text, one sentence per line"})
    target = "its translation, or with --nbest a reference; repeat it for more references (DIR/z.target.1.gz)"
    add_options(parser, {"--target FILE": target}, action="append", default=[])
    lists = {
        "--nbest FILE": "n-best lists of any decoder, or folders of them, instead of --source",
        "--dense NAME": "names of the dense features; all others are sparse (default: those written "
        "'Name= value'; in lists without any, itersel's, and words that may end in a number, such as TM_1)",
    }
    add_options(parser, lists, nargs="+", action="extend", default=[])
    quality = "with --nbest: a number for each translation, higher is better, instead of references"
    add_options(parser, {"--quality FILE": quality})
    add_options(parser, {"--shards Z": "number of shards"}, type=positive)
    kind = parser.add_mutually_exclusive_group()
    labels = "tasks, each with the number of its shards, instead of --shards; needs --task"
    add_options(kind, {"--labels LABEL=N": labels}, type=_label, nargs="+")
    pool = "tasks whose sentences are shuffled together before cutting; needs --task"
    add_options(kind, {"--pool LABEL": pool}, nargs="+")
    files = {
        "--task FILE": "task label of each line",
        "--scored FILE": "labels of the text on which epochs are chosen by task; it must have all --labels",
    }
    add_options(parser, files)
    size = "with --pool: all sentences (default), or as many as a task has on average, evenly from each"
    add_options(parser, {"--size": size}, choices=("all", "one"), default="all")
    others = "sentences with other labels: drop them, or join them in an additional shard (default: drop)"
    add_options(parser, {"--others": others}, choices=("drop", "join"), default="drop")
    add_options(parser, {"--minimum N": "minimum sentences of a task (default: 1)"}, type=positive, default=1)
    order = parser.add_mutually_exclusive_group()
    order.add_argument("--seed", type=seed, default=1, help="seed for shuffling before cutting (default: 1)")
    keep_order = "do not shuffle: the lines of a shard are adjacent"
    add_options(order, {"--keep-order": keep_order}, action="store_true")


def _label(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"([^\s=]+)=([0-9]{1,6})", text)
    if found is None or int(found[2]) == 0:
        refuse(text, "a label and a number of shards, such as swriter=4")
    return found[1], int(found[2])


def _shard(options: argparse.Namespace) -> None:
    _check(options)
    if options.nbest:
        from itersel.nbest.sharding import shard_lists

        cut = partial(_cut, options, options.nbest[0])
        shard_lists(options.nbest, cut, options.output, options.target, options.quality, options.dense)
    else:
        from itersel.corpus.sharding import shard_corpus

        target, *further = options.target
        shard_corpus(options.source, target, partial(_cut, options, options.source), options.output, further)


def _cut(options: argparse.Namespace, text: str, sentences: int) -> list[Int64s]:
    """Return the sentences of each shard of a text."""
    from itersel.corpus.columns import read_labels, require_label
    from itersel.corpus.sharding import natural_lines, pooled_lines, shard_lines

    if options.task is None:
        if sentences < options.shards:
            limit = f"use at most {sentences} (in a config: decoder.jobs, or shards of an experiment)"
            raise InputError(f"has {sentences} sentences, too few for {options.shards} shards; {limit}", text)
        return shard_lines(sentences, options.shards, None if options.keep_order else options.seed)
    labels = read_labels(options.task, sentences, text)
    with located(options.task):
        if options.pool is not None:
            return pooled_lines(labels, options.pool, options.shards, options.seed, options.size == "one")
        if options.scored is not None:
            scored = read_labels(options.scored)
            for name, _ in options.labels:
                require_label(scored, name, options.scored)
        has_others = options.others == "join"
        return natural_lines(labels, dict(options.labels), has_others, options.minimum, options.seed)


def _check(options: argparse.Namespace) -> None:
    from itersel.corpus.columns import refuse_repeats

    has_lists, has_target, has_shards = options.nbest, options.target, options.shards is not None
    has_labels, has_pool = options.labels is not None, options.pool is not None
    has_tasks, option = has_labels or has_pool, "--labels" if has_labels else "--pool"
    of_labels = options.others != "drop" or options.minimum != 1 or options.scored is not None
    conflicts = {
        "--source cannot be combined with --nbest": has_lists and options.source is not None,
        "--nbest needs references (--target) or --quality": has_lists and not (has_target or options.quality),
        "--quality needs --nbest": options.quality and not has_lists,
        "--dense needs --nbest": options.dense and not has_lists,
        "missing: --source and --target (or --nbest)": not (has_lists or (options.source and has_target)),
        "--others, --minimum and --scored need --labels": of_labels and not has_labels,
        "--size needs --pool": options.size != "all" and not has_pool,
        "--task needs --labels or --pool": options.task is not None and not has_tasks,
        "--labels excludes --shards: it gives the number of shards of each task": has_labels and has_shards,
        "--pool needs --shards": has_pool and not has_shards,
        "either --shards or --labels is needed": not has_labels and not has_shards,
        f"{option} needs --task, the file with the label of each line": has_tasks and options.task is None,
        f"{option} excludes --keep-order": has_tasks and options.keep_order,
    }
    for message, is_wrong in conflicts.items():
        if is_wrong:
            raise InputError(message)
    if has_tasks:
        refuse_repeats([name for name, _ in options.labels] if has_labels else options.pool)
