"""``itersel tune`` and ``rescore``: weights tuned on n-best lists, and lists reordered by weights."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from itersel.cli.arguments import (
    add_files,
    add_options,
    add_output,
    add_text_output,
    add_tokenizer,
    named_file,
    positive,
    seed,
)
from itersel.cli.blas import use_portable_blas
from itersel.config.command_line import section_of
from itersel.config.tuners import LIST_TUNERS
from itersel.errors import InputError
from itersel.evaluate.names import DEFAULT_TOKENIZER, OF_TEXT, title_of

use_portable_blas()

# See `add_chosen_section`.
CHOSEN = {"tune": ("tuner", LIST_TUNERS)}


def _add_tune(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Tune weights on the n-best lists of Moses, Marian, cdec or Joshua, "
        "'number ||| text ||| features ||| score', or JSON lines. Equal translations of a sentence count "
        "once."
    )

    tuner = "%(choices)s; 'itersel tune --tuner NAME --help' shows the options of a tuner"
    add_options(parser, {"--tuner NAME": tuner}, required=True, choices=LIST_TUNERS)
    add_options(parser, {"--seed N": "random seed (default: 1)"}, type=seed, default=1)
    add_output(parser, "output file for the weights: .h5, .json, .ini (Moses) or text")

    _add_nbest(parser)
    references = "reference translations, one sentence per line; several files for several references"
    add_files(parser, {"--reference FILE": references}, default=[])

    start = {"--start FILE": "start weights: text, .h5, .json or .ini (default: all 0; for mert 1)"}
    add_options(parser, start)

    quality = (
        f"{', '.join(OF_TEXT)}, or a file with a number for each line of lists, higher is better; lowercased "
        "metrics ignore case (default: bleu)"
    )
    add_options(parser, {"--quality": quality}, default="bleu")
    # without a default here, so that it can be refused for other metrics
    add_tokenizer(parser, has_default=False)


def _add_nbest(parser: argparse._ActionsContainer) -> None:
    lists = "n-best lists of any decoder, such as lists of several iterations, plain or compressed"
    add_files(parser, {"--nbest FILE": lists}, required=True)
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


def _tune(options: argparse.Namespace) -> None:
    from itersel.evaluate.metrics import read_references, signature_of, tokenizer_for_bleu
    from itersel.lists.weights import write_any_weights
    from itersel.storage.files import STANDARD_STREAM
    from itersel.tune.nbest import is_bleu, tune_nbest

    quality = options.quality.lower() if options.quality.lower() in OF_TEXT else options.quality
    if options.tokenizer and not is_bleu(quality):
        raise InputError(f"--tokenizer has no effect with --quality {quality}; remove it")
    tokenizer = options.tokenizer or DEFAULT_TOKENIZER

    references = read_references(options.reference) if options.reference else []
    found = tune_nbest(
        options.nbest,
        *references,
        tuner=section_of(LIST_TUNERS[options.tuner], options),
        start=options.start,
        scores=_scores_of(options),
        quality=quality,
        words=tokenizer_for_bleu(tokenizer),
        seed=options.seed,
    )

    write_any_weights(options.output, found.weights, {"tuner": options.tuner}, found.sizes)
    if found.absent:
        _warn("tune", "not in the lists, weights stay as they are", found.absent)
    if options.output == STANDARD_STREAM:
        return

    what = "quality"
    if quality in OF_TEXT:
        what = title_of(quality)
    mean = "" if is_bleu(quality) else "mean "
    sizes = f"{found.sentences} sentences, {found.translations} different translations"
    print(f"{mean}{what}: {found.start_score:.2f} -> {found.score:.2f}; {sizes}")
    if quality in OF_TEXT:
        print(f"{what}: sacrebleu {signature_of(quality, references, tokenizer)}")


def _add_rescore(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the translations of n-best lists with weights, and write the best one of each sentence, "
        "or the lists in their new order. Lists are those of Moses, Marian, cdec or Joshua, "
        "'number ||| text ||| features ||| score', or JSON lines."
    )
    _add_nbest(parser)
    chosen = parser.add_mutually_exclusive_group(required=True)
    add_options(chosen, {"--weights FILE": "weights: text 'name value', .h5, .json or .ini (Moses)"})
    first = "write the first translation of each sentence in the files, as the decoder ranked them"
    add_options(chosen, {"--first": first}, action="store_true")
    ranked = "write the K best of each sentence as they came in, with new scores, instead of the best text"
    add_options(parser, {"--k-best K": ranked}, type=positive)
    add_text_output(parser)


def _rescore(options: argparse.Namespace) -> None:
    from itersel.lists.reading import read_lists
    from itersel.lists.rescoring import first_texts, rescored_lines
    from itersel.lists.weights import given_weights
    from itersel.storage.files import write_lines

    is_ranked = options.k_best is not None
    if options.first:
        if is_ranked or options.scores:
            raise InputError("--first needs neither --k-best nor --scores; remove them")
        write_lines(options.output, first_texts(options.nbest))
        return

    given = given_weights(options.weights)
    lists = read_lists(options.nbest, scores=_scores_of(options), has_lines=is_ranked)
    weights = given.fitting(lists)
    absent = sorted(set(weights.to_dict()) - set(lists.names))
    if len(absent) == weights.key.shape[0]:
        raise InputError("has no weight of any feature in the lists", options.weights)

    if absent:
        _warn("rescore", "weights of features in no list", absent)

    lines = lists.table.best_texts(weights)
    if is_ranked:
        lines = rescored_lines(lists, weights, options.k_best)
    write_lines(options.output, lines)
