"""``itersel train``: train one shard for one epoch."""

from __future__ import annotations

import argparse

from itersel.cli.argument_types import positive
from itersel.cli.arguments import add_files, add_optional_files, add_options, add_output
from itersel.cli.decision import add_decision, training_has_stopped
from itersel.cli.given_lists import kind_of_settings
from itersel.cli.settings import add_place, add_settings
from itersel.config.learning_steps import GivenListTrainSettings, TrainSettings
from itersel.config.settings import read_settings
from itersel.errors import InputError


def _add_train(parser: argparse.ArgumentParser) -> None:
    sentences = (
        "sentences with references and grammars, or with lists of another decoder (.h5); several files are "
        "used in this order"
    )
    add_files(parser, {"--sentences FILE": sentences}, required=True)
    model = "compiled language model; one for all files of the shard, or one per file; none for lists"
    add_files(parser, {"--language-model FILE": model}, nargs="*")
    add_optional_files(parser, {"--start FILE": "start weights, .h5 or text (default: all zero)"})
    add_decision(parser, "the weights are passed on without training")

    add_settings(parser, TrainSettings)
    add_place(parser, TrainSettings)

    threads = "sentences decoded at once, at most the learner's delay; changes no result (default: 1)"
    add_options(parser, {"--threads N": threads}, type=positive, default=1)
    add_output(parser, "output file for all nonzero weights, .h5 or text")


def _train(options: argparse.Namespace) -> None:
    from itersel.learn.train import file_part, train_parts
    from itersel.learn.training import untrained, write_training
    from itersel.vectors.shard_weights import read_start

    kind = kind_of_settings(options, TrainSettings, GivenListTrainSettings)
    settings = read_settings(kind, options.settings, vars(options))
    language_models = options.language_model or [None]
    count = len(options.sentences)
    if len(language_models) not in (1, count):
        named = f"--language-model names {len(language_models)} files, --sentences {count}"
        raise InputError(f"{named}; name one model for all files of the shard, or one per file")

    start = read_start(
        options.start,
        settings.epoch,
        follows_path=settings.measure_loss,
        stopped=training_has_stopped(options),
    )
    if start.stopped:
        write_training(options.output, untrained(start), settings)
        return

    files = zip(options.sentences, language_models * (count // len(language_models)), strict=True)
    parts = [file_part(*pair, options.start, settings, options.threads) for pair in files]
    write_training(options.output, train_parts(parts, start, settings), settings)
