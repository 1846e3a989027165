"""``itersel step choose`` and ``patience``: which epoch is the best on devtest."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_files, add_optional_files, add_options, add_output
from itersel.cli.devtest import add_devtest, devtest_files, score_devtest
from itersel.cli.settings import add_settings
from itersel.config.report_steps import ChooseSettings, PatienceSettings
from itersel.config.settings import read_settings
from itersel.errors import InputError

# See `add_command`.
RUNS_KERNELS = False


def _add_choose(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the translations of devtest after each epoch, copy the weights of the best epoch (the "
        "earliest in case of ties), and describe the system."
    )
    add_settings(parser, ChooseSettings)
    add_devtest(parser)
    one_each = dict.fromkeys(("--translation FILE", "--weights FILE"), "one file per epoch, in order")
    add_files(parser, one_each, required=True)
    add_output(parser, "copy of the weights of the best epoch", "--output-weights")
    add_output(parser, "description of the system (JSON)", "--output")


def _add_patience(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the translations of devtest after an epoch, and decide whether training stops: if none of the "
        "last N epochs is better than all before."
    )
    add_settings(parser, PatienceSettings)
    add_devtest(parser)
    add_options(parser, {"--translation FILE": "translations after the epoch"}, required=True)
    add_optional_files(parser, {"--previous FILE": "output of this command after the previous epoch"})
    add_output(parser, "scores after each epoch, and the decision (JSON)", "--output")


def _choose(options: argparse.Namespace) -> None:
    from itersel.system.chosen import choose_system, write_system

    settings = read_settings(ChooseSettings, options.settings)
    count, given = len(options.translation), len(options.weights)
    if count != given:
        raise InputError(f"{count} translations, but {given} weights; give one of each per epoch")

    scores = score_devtest(settings.scoring, devtest_files(options), options.translation)
    write_system(options.output, choose_system(settings, scores, options.weights, options.output_weights))


def _patience(options: argparse.Namespace) -> None:
    from itersel.evaluate.epochs import next_decision, read_decision, write_decision

    settings = read_settings(PatienceSettings, options.settings)
    before = None if options.previous is None else read_decision(options.previous)
    scoring = settings.scoring
    (score,) = score_devtest(scoring, devtest_files(options), [options.translation]).deciding_scores
    write_decision(options.output, next_decision(before, score, settings.patience, scoring.choose_by))
