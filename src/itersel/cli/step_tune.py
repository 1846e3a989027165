"""``itersel step tune``: tune on the tuning files that other steps have written."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_optional_files, add_options, add_output
from itersel.cli.blas import use_portable_blas
from itersel.cli.decision import add_decision, file_passed_on
from itersel.cli.settings import add_place, add_settings
from itersel.config.learning_steps import TuneSettings
from itersel.config.settings import read_settings
from itersel.errors import InputError

use_portable_blas()


def _add_tune(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Tune weights on the k-best lists or forests of all sentences and iterations so far: one tuning file "
        "for each file of sentences and iteration. forest-mert reads forests, other tuners read lists. "
        "Duplicates within a sentence are counted once."
    )

    inputs = "one tuning file per line, in any order; - is standard input"
    add_options(parser, {"--inputs MANIFEST": inputs}, required=True)

    weights = {
        "--start FILE": "start weights: those that decoded the newest lists (default: as for 'itersel step "
        "kbest')",
        "--epoch-start FILE": "line-search with retune: weights that the epoch started from, for "
        "direction 'step'",
    }
    add_optional_files(parser, weights)
    add_decision(parser, "write the weights of --passed-on", "weights of the previous epoch")

    add_settings(parser, TuneSettings)
    add_place(parser, TuneSettings)
    add_output(parser, "output file for the weights, .h5 or text")


def _tune(options: argparse.Namespace) -> None:
    from itersel.storage.files import read_manifest
    from itersel.tune.iteration import tune
    from itersel.vectors.weights import pass_on_weights, read_itersel_weights

    passed_on = file_passed_on(options)
    if passed_on is not None:
        pass_on_weights(passed_on, options.output)
        return

    settings = read_settings(TuneSettings, options.settings, vars(options))
    if settings.retune and options.start is None:
        raise InputError("retune needs --start, whose sparse weights become one feature")
    if options.epoch_start is not None and not (settings.retune and settings.tuner.searches_epoch_step):
        raise InputError("--epoch-start has no effect without retune and the direction 'step'; remove it")

    paths = options.start, options.epoch_start
    start_weights, epoch_start = (None if path is None else read_itersel_weights(path) for path in paths)
    tuning_files = read_manifest(options.inputs)
    tune(settings, tuning_files, options.output, start_weights=start_weights, epoch_start=epoch_start)
