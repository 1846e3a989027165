"""``itersel tune``: tune weights on k-best lists or forests, or on the n-best lists of another decoder."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from itersel.cli.arguments import (
    add_nbest,
    add_options,
    add_output,
    add_patience,
    first_names,
    positive,
    scores_of,
    seed,
)
from itersel.config.command_line import add_chosen_section, section_of
from itersel.config.tuners import TUNERS, LineSearch
from itersel.errors import InputError

# PRO uses scipy's optimiser, whose sums depend on the number of BLAS threads and on the type of processor.
# OpenBLAS's code for Nehalem runs wherever numpy runs on x86-64. The variables are read when numpy is
# imported, which no module does before the step is known.
os.environ.update(OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE="Nehalem")

CHOICES = {**TUNERS, "line-search": LineSearch}


def _add_tune(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Tune weights on the k-best lists or forests of all shards and all iterations so far (--lists), or "
        "on the n-best lists of another decoder (--nbest): those of Moses, Marian, cdec or Joshua, "
        "'number ||| text ||| features ||| score', or JSON lines. Equal translations of a sentence count "
        "once."
    )
    tuner = (
        "tuner; 'itersel tune --tuner NAME --help' shows its own options; forest-mert reads files from "
        "'itersel forest', the others from 'itersel kbest'"
    )
    add_options(parser, {"--tuner": tuner}, required=True, choices=CHOICES)
    add_options(parser, {"--seed N": "random seed (default: 1)"}, type=seed, default=1)
    add_output(parser, "output file for the weights, .h5 or text; with --nbest also .json or .ini (Moses)")
    own = parser.add_argument_group("lists of itersel")
    lists = (
        "text file that lists one file of k-best lists (or forests) per line, for all shards and iterations "
        "in any order; - is standard input"
    )
    add_options(own, {"--lists LIST": lists})
    numbers = {"--shards Z": "number of shards", "--iteration T": "number of the iteration, from 1"}
    add_options(own, numbers, type=positive)
    weights = {
        "--previous FILE": "weights that decoded the newest lists, .h5 or text (default: those of 'itersel "
        "kbest')",
        "--last FILE": "line-search with --sum-sparse: weights of the previous epoch; without them, the "
        "direction 'step' is left out",
    }
    add_options(own, weights)
    add_patience(own, "write the weights of --passed-on", "weights of the previous epoch")
    sum_sparse = (
        "tune the dense features and one factor for all sparse features (forests: only those of "
        "iteration T); requires --previous"
    )
    add_options(own, {"--sum-sparse": sum_sparse}, action="store_true")
    others = parser.add_argument_group("lists of other decoders")
    add_nbest(others)
    references = "reference translations, one sentence per line; several files for several references"
    add_options(others, {"--references FILE": references}, nargs="+", default=[])
    start = {"--start FILE": "start weights: text, .h5, .json or .ini (default: all 0; for mert 1)"}
    add_options(others, start)
    quality = (
        "what to tune for: bleu, chrf, ter, or a file with a number for each line of the lists, higher is "
        "better (default: bleu)"
    )
    add_options(others, {"--quality": quality})
    add_options(others, {"--lowercase": "ignore case in BLEU"}, action="store_true")
    tokenize = "tokenisation for BLEU (default: none, words are separated by spaces)"
    add_options(others, {"--tokenize": tokenize}, choices=("none", "13a"))


def add_chosen_arguments(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the options of the tuner named on the command line."""
    add_chosen_section(parser, arguments, "tuner", CHOICES)


# Options of lists of itersel, and of other decoders.
OWN = ("lists", "shards", "iteration", "previous", "last", "sum_sparse", "patience", "passed_on")
OTHERS = ("nbest", "scores", "references", "start", "quality", "lowercase", "tokenize")


def _tune(options: argparse.Namespace) -> None:
    unused, needed = (OWN, ("nbest",)) if options.nbest else (OTHERS, OWN[:3])
    for name in unused:
        if getattr(options, name):
            raise InputError(f"--{name.replace('_', '-')} cannot be combined with --{needed[0]}")
    if absent := [f"--{name}" for name in needed if getattr(options, name) is None]:
        raise InputError(f"missing: {', '.join(absent)}" + (" (or --nbest)" if "--lists" in absent else ""))
    if options.nbest:
        _tune_nbest(options)
    else:
        _tune_lists(options)


def _tune_nbest(options: argparse.Namespace) -> None:
    from sacrebleu.metrics.bleu import BLEU

    from itersel.evaluate.metrics import read_references
    from itersel.nbest.weights import read_weights, write_weights
    from itersel.storage.files import STANDARD_STREAM
    from itersel.tune.nbest import tune_nbest

    quality = options.quality or "bleu"
    for name in ("lowercase", "tokenize"):
        if quality != "bleu" and getattr(options, name):
            raise InputError(f"--{name} has no effect with --quality {quality}; remove it")
    tokenization = options.tokenize or "none"
    tokenize = BLEU(tokenize=tokenization).tokenizer
    found = tune_nbest(
        options.nbest,
        *(read_references(options.references) if options.references else ()),
        tuner=section_of(CHOICES[options.tuner], options),
        start=None if options.start is None else read_weights(options.start),
        scores=scores_of(options),
        quality=quality,
        words=lambda line: tokenize(line.lower() if options.lowercase else line),
        seed=options.seed,
    )
    write_weights(options.output, found.weights, {"tuner": options.tuner}, found.sizes)
    if found.absent:
        why = "not in the lists, weights stay as they are"
        print(f"itersel tune: warning: {why}: {first_names(found.absent)}", file=sys.stderr)
    what = f"BLEU (tokenize: {tokenization})" if quality == "bleu" else "mean quality"
    sizes = f"{found.sentences} sentences, {found.translations} different translations"
    if options.output != STANDARD_STREAM:
        print(f"{what}: {found.start_score:.4g} -> {found.score:.4g}; {sizes}")


def _tune_lists(options: argparse.Namespace) -> None:
    from itersel.evaluate.epochs import training_has_stopped
    from itersel.storage.files import read_names
    from itersel.tune.tuner import tune
    from itersel.vectors.weights import pass_on_weights, read_weights

    if training_has_stopped(options.patience):
        if options.passed_on is None:
            raise InputError("training has stopped; give the weights of the previous epoch with --passed-on")
        pass_on_weights(options.passed_on, options.output)
        return
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
