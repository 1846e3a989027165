"""``itersel mix``: mix the weights of all shards of an epoch."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_options, add_output, add_patience, output_file, positive
from itersel.config.command_line import add_section_arguments, section_of
from itersel.config.mixing import MIXINGS


def _add_mix(parser: argparse.ArgumentParser) -> None:
    from itersel.select.settings import SELECTION_LIMITS, MixSettings

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
    mixing = " ".join(f"{name}: {kind.__doc__}" for name, kind in MIXINGS.items())
    add_options(parser, {"--mixing": mixing}, required=True, choices=MIXINGS)
    previous = (
        "mixed weights of the previous epoch, .h5; from epoch 2 on for mean-of-epochs and path-following"
    )
    add_options(parser, {"--previous FILE": previous})
    add_patience(parser, "write those of --passed-on", "mixed weights of the previous epoch, .h5")
    add_output(parser, "mixed weights, .h5 or text (text cannot be the --previous of the next epoch)")
    matrix = {"--matrix FILE": "also write the weights of all shards, the norms and the selection, .h5"}
    add_options(parser, matrix, type=output_file)
    selection = parser.add_argument_group("selection and path-following")
    add_section_arguments(selection.add_mutually_exclusive_group(), MixSettings, SELECTION_LIMITS)
    add_section_arguments(selection, MixSettings, ("epsilon", "minimum", "norm"))
    keep = (
        "features to keep besides the selected ones; dense, or a template such as RBT, stands for all of them"
    )
    add_options(selection, {"--keep NAME": keep}, nargs="+", default=[])


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
