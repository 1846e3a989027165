"""``itersel rescore``: the n-best lists of any decoder in a new order, by given weights."""

from __future__ import annotations

import argparse
import sys

from itersel.cli.arguments import add_nbest, add_options, add_text_output, first_names, positive, scores_of
from itersel.errors import InputError


def _add_rescore(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the translations of n-best lists with the weights, and write the best one of each sentence, "
        "or the lists in their new order. Lists are those of Moses, Marian, cdec or Joshua, "
        "'number ||| text ||| features ||| score', or JSON lines."
    )
    add_nbest(parser, required=True)
    weights = {"--weights FILE": "weights: text 'name value', .h5, .json or .ini (Moses)"}
    add_options(parser, weights, required=True)
    ranked = (
        "write the K best translations of each sentence as they came in, with the new scores, instead of the "
        "text of the best one"
    )
    add_options(parser, {"--k-best K": ranked}, type=positive)
    add_text_output(parser)


def _rescore(options: argparse.Namespace) -> None:
    from itersel.nbest.lists import read_nbest
    from itersel.nbest.rescore import best_texts, rescored_lines, score_lists
    from itersel.nbest.weights import read_weights
    from itersel.storage.files import write_lines

    weights = read_weights(options.weights)
    lists = read_nbest(options.nbest, scores=scores_of(options))
    absent = sorted(set(weights.to_dict()) - set(lists.name.to_list()))
    if len(absent) == weights.key.shape[0]:
        raise InputError("has no weight of any feature in the lists", options.weights)
    if absent:
        why = "weights of features in no list"
        print(f"itersel rescore: warning: {why}: {first_names(absent)}", file=sys.stderr)
    score = score_lists(lists, weights)
    is_ranked = options.k_best is not None
    lines = rescored_lines(lists, score, options.k_best) if is_ranked else best_texts(lists, score)
    write_lines(options.output, lines)
