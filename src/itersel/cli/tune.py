"""``itersel tune``: tune weights on the k-best lists or forests of all shards and iterations."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from itersel.cli.arguments import add_chosen_section, add_options, add_output, positive, seed
from itersel.config.options import section_of
from itersel.config.tuners import TUNERS, LineSearch
from itersel.errors import InputError

# PRO uses scipy's optimiser, whose sums depend on the number of BLAS threads and on the type of processor.
# OpenBLAS's code for Nehalem runs wherever numpy runs on x86-64. The variables are read when numpy is
# imported, which no module does before the step is known.
os.environ.update(OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE="Nehalem")

CHOICES = {**TUNERS, "line-search": LineSearch}


def _add_tune(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Tune weights on the k-best lists or forests of all shards and all iterations so far. Equal "
        "translations of a sentence count once."
    )
    parser.add_argument(
        "--tuner",
        required=True,
        choices=CHOICES,
        help="tuner; 'itersel tune --tuner NAME --help' shows its own options; forest-mert reads files from "
        "'itersel forest', the others from 'itersel kbest'",
    )
    lists = (
        "text file that lists one file of k-best lists (or forests) per line, for all shards and iterations "
        "in any order; - is standard input"
    )
    add_options(parser, {"--lists LIST": lists}, required=True)
    numbers = {"--shards Z": "number of shards", "--iteration T": "number of the iteration, from 1"}
    add_options(parser, numbers, required=True, type=positive)
    weights = {
        "--previous FILE": "weights that decoded the newest lists, .h5 or text (default: those of 'itersel "
        "kbest')",
        "--last FILE": "line-search with --sum-sparse: weights of the previous epoch; without them, the "
        "direction 'step' is left out",
    }
    add_options(parser, weights)
    parser.add_argument(
        "--sum-sparse",
        action="store_true",
        help="tune the dense features and one factor for all sparse features (forests: only those of "
        "iteration T); requires --previous",
    )
    add_options(parser, {"--seed N": "random seed (default: 1)"}, type=seed, default=1)
    add_output(parser, "output file for the weights, .h5 or text")


def add_chosen_arguments(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the options of the tuner named on the command line."""
    add_chosen_section(parser, arguments, "tuner", CHOICES)


def _tune(options: argparse.Namespace) -> None:
    from itersel.storage.files import read_names
    from itersel.tune.tuner import tune
    from itersel.vectors.weights import read_weights

    settings = section_of(CHOICES[options.tuner], options)
    if options.sum_sparse and options.previous is None:
        raise InputError("--sum-sparse needs --previous, whose sparse weights become one feature")
    if options.last is not None and not (options.sum_sparse and isinstance(settings, LineSearch)):
        raise InputError("--last has no effect without --tuner line-search and --sum-sparse; remove it")
    before, last = (None if path is None else read_weights(path) for path in (options.previous, options.last))
    tune(
        settings,
        read_names(options.lists),
        options.output,
        shards=options.shards,
        iteration=options.iteration,
        before=before,
        seed=options.seed,
        is_summed=options.sum_sparse,
        last=last,
    )
