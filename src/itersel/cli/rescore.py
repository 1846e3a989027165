"""``itersel rescore``: n-best lists reordered by weights or a trained system."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from itersel.cli.argument_types import positive
from itersel.cli.arguments import add_options
from itersel.cli.mbr import add_mbr, mbr_of
from itersel.cli.shared_options import add_nbest, add_text_output, features_of
from itersel.errors import InputError, first_names


def _add_rescore(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the translations of n-best lists with weights or a trained system, and write the best one of "
        "each sentence, or the lists in their new order. Lists are those of Moses, Marian, cdec or Joshua, "
        "'number ||| text ||| features ||| score', or JSON lines."
    )
    add_nbest(parser)
    chosen = parser.add_mutually_exclusive_group(required=True)
    add_options(chosen, {"--weights FILE": "weights: text 'name value', .h5, .json or .ini (Moses)"})
    first = "write the first translation of each sentence in the files, as the decoder ranked them"
    add_options(chosen, {"--first": first}, action="store_true")
    system = "system that was trained on lists: its folder, such as experiments/NAME/best, or a bundle"
    add_options(chosen, {"--system PATH": system})
    source = "source of the lists, one sentence per line, for a system with features of text"
    add_options(parser, {"--source FILE": source})
    ranked = "write the K best of each sentence in the format of the lists, with new scores, instead of text"
    add_options(parser, {"--k-best K": ranked}, type=positive)
    add_text_output(parser)
    add_mbr(parser)


def _rescore(options: argparse.Namespace) -> None:
    from itersel.storage.files import write_lines

    if options.source and not options.system:
        raise InputError("--source has no effect without --system; remove it")

    lines_of = _rescored
    if options.system:
        lines_of = _reranked
    elif options.first:
        lines_of = _first_entries
    write_lines(options.output, lines_of(options))


def _first_entries(options: argparse.Namespace) -> Iterable[str]:
    """Return the first translation of each sentence."""
    from itersel.lists.rescoring import first_texts

    # refuses the other options of minimum Bayes risk
    mbr_of(options, options.k_best or 1)
    if options.k_best is not None or options.feature:
        raise InputError("--first needs neither --k-best nor --feature; remove them")
    if options.uses_mbr:
        raise InputError("--mbr has no effect with --first; remove it")

    return first_texts(options.nbest)


def _rescored(options: argparse.Namespace) -> Iterable[str]:
    """Return what is written for lists with weights."""
    from itersel.lists.rescoring import lists_with_weights, rescored_lines
    from itersel.rerank.mbr import ranking_of

    k_best = options.k_best
    ranking = ranking_of(mbr_of(options, k_best or 1))
    found = lists_with_weights(
        options.nbest, options.weights, features_of(options.feature), has_lines=k_best is not None
    )
    if found.absent:
        absent = first_names(found.absent)
        print(f"itersel rescore: warning: weights of features in no list: {absent}", file=sys.stderr)

    if k_best is None:
        return found.lists.table.best_texts(found.weights, ranking)
    return rescored_lines(found.lists, found.weights, k_best, ranking)


def _reranked(options: argparse.Namespace) -> Iterable[str]:
    """Yield what a trained system writes for lists."""
    from itersel.corpus.text import read_text
    from itersel.lists.rescoring import rescored_lines
    from itersel.rerank.mbr import ranking_of
    from itersel.system.loading import load_reranker

    if options.feature:
        raise InputError("--feature has no effect with --system, which was trained without them; remove it")

    system = load_reranker(options.system)
    if system.settings.lists.adds_features and not options.source:
        raise InputError(
            "computes features of text, which need the source of the lists; add --source", options.system
        )
    sources = read_text(options.source) if options.source else None
    k_best = options.k_best
    ranking = ranking_of(mbr_of(options, k_best or 1, system.settings.mbr))
    for block in system.blocks(options.nbest, sources, options.source or "", k_best is not None):
        if k_best is None:
            yield from block.table.best_texts(system.weights, ranking)
        else:
            yield from rescored_lines(block, system.weights, k_best, ranking)
