"""``itersel step mix``: mix the weights of all shards of an epoch."""

from __future__ import annotations

import argparse

from itersel.cli.argument_types import output_file
from itersel.cli.arguments import add_optional_files, add_options, add_output
from itersel.cli.decision import add_decision, file_passed_on
from itersel.cli.settings import add_place, add_settings
from itersel.config.learning_steps import MixSettings
from itersel.config.settings import read_settings


def _add_mix(parser: argparse.ArgumentParser) -> None:
    files = {
        "--inputs MANIFEST": "one file of weights (.h5 from 'itersel train') per line, for shards "
        "0 to Z - 1 in any order; - is standard input"
    }
    add_options(parser, files, required=True)

    previous = (
        "mixed weights of the previous epoch, .h5; from epoch 2 on for mean-of-epochs and path-following"
    )
    add_optional_files(parser, {"--previous FILE": previous})
    add_decision(parser, "write the weights of --passed-on", "mixed weights of the previous epoch, .h5")

    add_settings(parser, MixSettings)
    add_place(parser, MixSettings)
    add_output(parser, "mixed weights, .h5 or text (text cannot be the --previous of the next epoch)")

    matrix = {"--matrix FILE": "also write the weights of all shards, the norms and the selection, .h5"}
    add_options(parser, matrix, type=output_file)


def _mix(options: argparse.Namespace) -> None:
    from itersel.select.mix import mix
    from itersel.storage.files import read_manifest

    settings = read_settings(MixSettings, options.settings, vars(options))
    passed_on = file_passed_on(options)
    mix(
        read_manifest(options.inputs),
        options.output,
        settings,
        previous=options.previous if passed_on is None else passed_on,
        matrix=options.matrix,
        stopped=passed_on is not None,
    )
