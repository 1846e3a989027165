"""``itersel mix``: mix the weights of all shards of an epoch."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import (
    add_options,
    add_output,
    add_patience,
    output_file,
    positive,
)
from itersel.config.command_line import number, section_of
from itersel.config.mixing import NORMS

DESCRIPTIONS = {
    "none": "the weights of the single shard",
    "mean-of-epochs": "mean over shards and epochs",
    "mean": "mean over shards",
    "selection": "mean over shards of the selected features",
    "path-following": "the same with a threshold that falls with the training loss",
}


def _add_mix(parser: argparse.ArgumentParser) -> None:
    files = {
        "--inputs LIST": "text file that lists one file of weights (.h5 from 'itersel train') per line, for "
        "shards 0 to Z - 1 in any order; - is standard input"
    }
    add_options(parser, files, required=True)
    numbers = {
        "--shards Z": "required number of shards; fewer are never mixed",
        "--epoch T": "number of the epoch, from 1",
    }
    add_options(parser, numbers, type=positive, required=True)
    mixing = "; ".join(f"{name}: {text}" for name, text in DESCRIPTIONS.items())
    add_options(parser, {"--mixing": mixing}, required=True, choices=DESCRIPTIONS)
    previous = (
        "mixed weights of the previous epoch, .h5; from epoch 2 on for mean-of-epochs and path-following"
    )
    add_options(parser, {"--previous FILE": previous})
    add_patience(parser, "write those of --passed-on", "mixed weights of the previous epoch, .h5")
    add_output(parser, "mixed weights, .h5 or text (text cannot be the --previous of the next epoch)")
    matrix = {"--matrix FILE": "also write the weights of all shards, the norms and the selection, .h5"}
    add_options(parser, matrix, type=output_file)
    selection = parser.add_argument_group("selection and path-following")
    limit = selection.add_mutually_exclusive_group()
    add_options(limit, {"--select K": "selection: keep the K features with the largest norm"}, type=positive)
    threshold = "selection: keep the features with a norm above L; path-following: L of the first epoch"
    add_options(limit, {"--threshold L": threshold}, type=number())
    relative_threshold = "selection: keep the features with a norm of at least R times the largest norm"
    add_options(limit, {"--relative-threshold R": relative_threshold}, type=number(minimum=0, maximum=1))
    epsilon = "path-following: the threshold is at most the decrease of the training loss divided by E"
    add_options(selection, {"--epsilon E": epsilon}, type=number(above=0))
    minimum = "path-following: the weights stop changing once the threshold would be below M"
    add_options(selection, {"--minimum M": minimum}, type=number(minimum=0))
    keep = (
        "selection, path-following: features always kept, in addition to those selected from the "
        "others; dense, or a template such as RBT, stands for all features of that kind"
    )
    add_options(selection, {"--keep NAME": keep}, nargs="+", default=[])
    norm = "norm of a feature's weights over all shards (default: %(default)s)"
    add_options(selection, {"--norm": norm}, choices=NORMS, default="l2")


def _mix(options: argparse.Namespace) -> None:
    from itersel.evaluate.epochs import training_has_stopped
    from itersel.select.mix import mix
    from itersel.select.settings import MixSettings
    from itersel.storage.files import read_names

    options.keep = tuple(options.keep)
    settings = section_of(MixSettings, options)
    stopped = training_has_stopped(options.patience)
    previous = options.passed_on if stopped else options.previous
    mix(read_names(options.inputs), options.output, settings, previous, options.matrix, stopped)
