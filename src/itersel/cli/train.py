"""``itersel train``: train one shard for one epoch."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from itersel.cli.arguments import add_options, add_output, add_patience, not_negative, positive, seed
from itersel.config.command_line import add_section_arguments, section_of
from itersel.config.learners import DEFAULT_LEARNER, LEARNERS
from itersel.config.search import ListSettings
from itersel.errors import InputError

# See `add_chosen_section`.
CHOSEN = {"train": ("learner", LEARNERS)}


def _add_train(parser: argparse.ArgumentParser) -> None:
    files = parser.add_argument_group("files")
    shard = "shard.h5 with references, or with lists of another decoder; several are used in this order"
    add_options(files, {"--shard FILE": shard}, required=True, nargs="+")
    model = "compiled language model; one for all files of the shard, or one per file; none for lists"
    add_options(files, {"--model FILE": model}, nargs="+")
    add_options(files, {"--weights FILE": "weights to start from, .h5 or text (default: all zero)"})
    add_patience(files, "the weights are passed on without training")
    add_output(files, "output file for all nonzero weights, .h5 or text")
    search = parser.add_argument_group("decoding")
    add_section_arguments(search, ListSettings)
    threads = "sentences decoded at once, at most the learner's delay; changes no result (default: 1)"
    add_options(search, {"--threads N": threads}, type=positive, default=1)
    learning = parser.add_argument_group("learning")
    learner = "%(choices)s (default: %(default)s); 'itersel train --learner NAME --help' shows its options"
    add_options(learning, {"--learner NAME": learner}, choices=LEARNERS, default=DEFAULT_LEARNER)
    measure_loss = (
        "for path-following: first decode all sentences with the initial weights, and record their loss; if "
        "the path has ended, pass its weights on without training"
    )
    add_options(learning, {"--measure-loss": measure_loss}, action="store_true")
    add_options(learning, {"--seed N": "random seed for --pairs pro (default: 1)"}, type=seed, default=1)
    epoch = "number of the epoch: recorded, part of the seed of pairs, position in schedules (default: 1)"
    add_options(learning, {"--epoch T": epoch}, type=positive, default=1)
    number = "number of the shard, from 0: recorded, and part of the seed of pairs (default: 0)"
    add_options(learning, {"--shard-number Z": number}, type=not_negative, default=0)


def _train(options: argparse.Namespace) -> None:
    from itersel.evaluate.epochs import training_has_stopped
    from itersel.learn.state import provenance, read_start, write_training
    from itersel.learn.train import TrainSettings, shard_file, train_parts
    from itersel.vectors.weights import has_stopped, read_weights, write_weights

    models, count = options.model or [None], len(options.shard)
    if len(models) not in (1, count):
        named = f"--model names {len(models)} files, --shard {count}"
        raise InputError(f"{named}; name one model for all files of the shard, or one per file")
    learner = section_of(LEARNERS[options.learner], options)
    if conflict := learner.conflict():
        raise InputError(f"--{conflict[0]} {conflict[1]}")
    place = {"seed": options.seed, "epoch": options.epoch, "shard": options.shard_number}
    settings = TrainSettings(**asdict(section_of(ListSettings, options)), learner=learner, **place)
    follows_path = options.measure_loss and options.epoch > 1 and options.weights
    if training_has_stopped(options.patience) or (follows_path and has_stopped(options.weights)):
        if options.weights is None:
            raise InputError("training has stopped, but there are no weights to pass on; give --weights")
        attributes = {**provenance(settings), "stopped": 1}
        write_weights(options.output, read_weights(options.weights), attributes)
        return
    start = None if options.weights is None else read_start(options.weights, options.epoch)
    files = zip(options.shard, models * (count // len(models)), strict=True)
    parts = [shard_file(*pair, options.weights, settings, options.threads) for pair in files]
    result = train_parts(parts, start, settings, options.measure_loss)
    write_training(options.output, result, settings)
