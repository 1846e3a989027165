"""``itersel align``: word-align parallel text, or symmetrise given alignments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from itersel.cli.arguments import output_file, seed
from itersel.errors import InputError

if TYPE_CHECKING:
    from itersel.align.pharaoh import Point

    Directions = tuple[list[list[Point]], list[list[Point]]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for training and for given alignments."""
    from itersel.align.direction import MODELS
    from itersel.align.symmetrize import HEURISTICS

    parser.description = (
        "Train a model on --source and --target in both directions and align them, or read alignments of "
        "both directions from --forward and --reverse. Then symmetrise and write Pharaoh format "
        "(source-target, counted from 0)."
    )
    parser.add_argument("--source", metavar="FILE", help="tokenised source, one sentence per line")
    parser.add_argument("--target", metavar="FILE", help="tokenised target, one sentence per line")
    parser.add_argument("--model", choices=MODELS, default="eflomal", help="default: eflomal")
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="seed of eflomal's sampler (default: 1)"
    )
    parser.add_argument(
        "--forward", metavar="FILE", help="alignment that links each target word at most once"
    )
    parser.add_argument(
        "--reverse", metavar="FILE", help="alignment that links each source word at most once"
    )
    parser.add_argument(
        "--symmetrization",
        choices=list(HEURISTICS),
        default="grow-diag-final-and",
        help="default: grow-diag-final-and",
    )
    parser.add_argument(
        "--output",
        required=True,
        type=output_file,
        metavar="FILE",
        help="alignment to write, plain or compressed",
    )
    parser.set_defaults(run=_align)


def _align(options: argparse.Namespace) -> None:
    from itersel.align.pharaoh import format_points
    from itersel.align.symmetrize import symmetrize
    from itersel.storage.files import write_lines

    texts = (options.source, options.target)
    alignments = (options.forward, options.reverse)
    if all(texts) and not any(alignments):
        forward, reverse = _trained(options)
    elif all(alignments) and not any(texts):
        forward, reverse = _given(options)
    else:
        raise InputError("give either --source and --target, or --forward and --reverse")
    pairs = zip(forward, reverse, strict=True)
    write_lines(options.output, (format_points(symmetrize(*pair, options.symmetrization)) for pair in pairs))


def _trained(options: argparse.Namespace) -> Directions:
    from itersel.align.direction import SentenceLengthError
    from itersel.align.train import align
    from itersel.corpus.text import read_parallel, split_words

    bitext = read_parallel(options.source, options.target, tokenized=True)
    sides = [list(map(split_words, side)) for side in (bitext.source, bitext.target)]
    try:
        return align(sides[0], sides[1], options.model, options.seed)
    except SentenceLengthError as error:
        message = f"over {error.limit} tokens a side, too many for {options.model}; drop it or change --model"
        raise InputError(message, options.source, error.pair + 1) from None


def _given(options: argparse.Namespace) -> Directions:
    from itersel.align.pharaoh import read_alignment
    from itersel.corpus.text import check_line_counts

    forward, reverse = read_alignment(options.forward), read_alignment(options.reverse)
    check_line_counts({options.forward: forward, options.reverse: reverse})
    return forward, reverse
