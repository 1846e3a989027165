"""``itersel tune`` and ``rescore``: weights tuned on lists of any decoder, and lists reordered by weights."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from itersel.cli.arguments import (
    add_options,
    add_output,
    add_patience,
    add_text_output,
    named_file,
    positive,
    seed,
)
from itersel.config.command_line import section_of
from itersel.config.learners import HELD_OUT_ONLY, TUNERS
from itersel.errors import InputError
from itersel.plugins import Joined

# PRO uses scipy's optimiser, whose sums depend on the number of BLAS threads and on the type of processor.
# OpenBLAS's code for Nehalem runs wherever numpy runs on x86-64. The variables are read when numpy is
# imported, which no module does before the step is known.
os.environ.update(OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE="Nehalem")

CHOICES = Joined(TUNERS, HELD_OUT_ONLY)
# See `add_chosen_section`.
CHOSEN = {"tune": ("tuner", CHOICES)}


def _add_tune(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Tune weights on the k-best lists or forests of all shards and iterations so far (--lists), or the "
        "n-best lists (--nbest) of Moses, Marian, cdec or Joshua, 'number ||| text ||| features ||| score', "
        "or JSON lines. Equal translations of a sentence count once."
    )
    tuner = (
        "%(choices)s; forest-mert reads forests, others read lists; 'itersel tune --tuner NAME --help' shows "
        "its options"
    )
    add_options(parser, {"--tuner NAME": tuner}, required=True, choices=CHOICES)
    add_options(parser, {"--seed N": "random seed (default: 1)"}, type=seed, default=1)
    add_output(parser, "output file for the weights, .h5 or text; with --nbest also .json or .ini (Moses)")
    own = parser.add_argument_group("lists of itersel")
    lists = "text file that lists one file of lists (or forests) per line, in any order; - is standard input"
    add_options(own, {"--lists LIST": lists})
    numbers = {"--shards Z": "number of shards", "--iteration T": "number of the iteration, from 1"}
    add_options(own, numbers, type=positive)
    weights = {
        "--previous FILE": "weights that decoded the newest lists (default: those of 'itersel kbest')",
        "--last FILE": "line-search with --sum-sparse: weights of the previous epoch, for direction 'step'",
    }
    add_options(own, weights)
    add_patience(own, "write the weights of --passed-on", "weights of the previous epoch")
    factor = (
        "tune the dense features and one factor for all sparse ones (forests: only those of iteration T); "
        "needs --previous"
    )
    add_options(own, {"--sum-sparse": factor}, action="store_true")
    others = parser.add_argument_group("lists of other decoders")
    _add_nbest(others)
    references = "reference translations, one sentence per line; several files for several references"
    add_options(others, {"--references FILE": references}, nargs="+", default=[])
    start = {"--start FILE": "start weights: text, .h5, .json or .ini (default: all 0; for mert 1)"}
    add_options(others, start)
    quality = "bleu (default), chrf, ter, or a file with a number for each line of lists, higher is better"
    add_options(others, {"--quality": quality})
    add_options(others, {"--lowercase": "ignore case in BLEU"}, action="store_true")
    # without a default here, so that it can be refused for lists of itersel
    tokenize = "sacrebleu's tokenisation for BLEU, none for words separated by spaces (default: 13a)"
    add_options(others, {"--tokenize": tokenize}, choices=("13a", "none"))


def _add_nbest(parser: argparse._ActionsContainer, required: bool = False) -> None:
    lists = "n-best lists of any decoder, such as those of several iterations, plain or compressed"
    add_options(parser, {"--nbest FILE": lists}, nargs="+", required=required)
    scores = "a further feature: a number for each line of the lists, in their order; may be repeated"
    add_options(parser, {"--scores NAME=FILE": scores}, type=named_file, action="append", default=[])


def _scores_of(options: argparse.Namespace) -> dict[str, str]:
    found = dict(options.scores)
    if len(found) < len(options.scores):
        raise InputError("--scores gives a name twice; each needs a name of its own")
    return found


def _warn(step: str, problem: str, names: Sequence[str]) -> None:
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    print(f"itersel {step}: warning: {problem}: {shown}", file=sys.stderr)


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
    from itersel.evaluate.metrics import read_references, tokenizer_for_bleu
    from itersel.nbest.weights import read_weights, write_weights
    from itersel.storage.files import STANDARD_STREAM
    from itersel.tune.nbest import tune_nbest

    quality = options.quality or "bleu"
    for name in ("lowercase", "tokenize"):
        if quality != "bleu" and getattr(options, name):
            raise InputError(f"--{name} has no effect with --quality {quality}; remove it")
    tokenization = options.tokenize or "13a"
    tokenize = tokenizer_for_bleu(tokenization)
    found = tune_nbest(
        options.nbest,
        *(read_references(options.references) if options.references else ()),
        tuner=section_of(CHOICES[options.tuner], options),
        start=None if options.start is None else read_weights(options.start),
        scores=_scores_of(options),
        quality=quality,
        words=lambda line: tokenize(line.lower() if options.lowercase else line),
        seed=options.seed,
    )
    write_weights(options.output, found.weights, {"tuner": options.tuner}, found.sizes)
    if found.absent:
        _warn("tune", "not in the lists, weights stay as they are", found.absent)
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
    if options.last is not None and not (options.sum_sparse and settings.searches_step):
        why = "without --sum-sparse and --tuner line-search with --directions step"
        raise InputError(f"--last has no effect {why}; remove it")
    before, last = (None if path is None else read_weights(path) for path in (options.previous, options.last))
    place = {name: getattr(options, name) for name in ("shards", "iteration", "seed")}
    lists = read_names(options.lists)
    tune(settings, lists, options.output, **place, before=before, is_summed=options.sum_sparse, last=last)


def _add_rescore(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the translations of n-best lists with the weights, and write the best one of each sentence, "
        "or the lists in their new order. Lists are those of Moses, Marian, cdec or Joshua, "
        "'number ||| text ||| features ||| score', or JSON lines."
    )
    _add_nbest(parser, required=True)
    weights = {"--weights FILE": "weights: text 'name value', .h5, .json or .ini (Moses)"}
    add_options(parser, weights, required=True)
    ranked = "write the K best of each sentence as they came in, with new scores, instead of the best text"
    add_options(parser, {"--k-best K": ranked}, type=positive)
    add_text_output(parser)


def _rescore(options: argparse.Namespace) -> None:
    from itersel.nbest.lists import read_nbest
    from itersel.nbest.weights import best_texts, read_weights, rescored_lines, score_lists
    from itersel.storage.files import write_lines

    weights = read_weights(options.weights)
    lists = read_nbest(options.nbest, scores=_scores_of(options))
    absent = sorted(set(weights.to_dict()) - set(lists.name.to_list()))
    if len(absent) == weights.key.shape[0]:
        raise InputError("has no weight of any feature in the lists", options.weights)
    if absent:
        _warn("rescore", "weights of features in no list", absent)
    score = score_lists(lists, weights)
    is_ranked = options.k_best is not None
    lines = rescored_lines(lists, score, options.k_best) if is_ranked else best_texts(lists, score)
    write_lines(options.output, lines)
