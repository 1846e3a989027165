"""``itersel align``: word-align parallel text, or symmetrise given alignments."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from itersel.cli.arguments import output_file, seed
from itersel.errors import InputError

if TYPE_CHECKING:
    from itersel.align.pharaoh import Point
    from itersel.align.text import Bitext

DIRECTIONS = ("forward", "reverse")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for training and for given alignments."""
    from itersel.align.symmetrize import HEURISTICS

    parser.description = (
        "Align the words of --source and --target in both directions, by sampling, with the model of "
        "eflomal; or read alignments of both directions from --forward and --reverse. Then symmetrise and "
        "write Pharaoh format (source-target, counted from 0)."
    )
    parser.add_argument("--source", metavar="FILE", help="tokenised source, one sentence per line")
    parser.add_argument("--target", metavar="FILE", help="tokenised target, one sentence per line")
    parser.add_argument(
        "--direction",
        choices=DIRECTIONS,
        help="write only the alignment that links each target word (forward) or each source word (reverse) "
        "at most once",
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="seed of the sampler (default: 1)")
    parser.add_argument(
        "--forward", metavar="FILE", help="alignment that links each target word at most once"
    )
    parser.add_argument(
        "--reverse", metavar="FILE", help="alignment that links each source word at most once"
    )
    parser.add_argument(
        "--symmetrization",
        choices=list(HEURISTICS),
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
    from itersel.align.text import read_bitext
    from itersel.storage.files import write_lines

    texts = (options.source, options.target)
    alignments = (options.forward, options.reverse)
    pairs: Iterable[tuple[Sequence[Point], Sequence[Point]]]
    if options.direction and (options.symmetrization or any(alignments)):
        raise InputError("--direction can be used with --source and --target, but not with --symmetrization")
    if all(texts) and not any(alignments):
        bitext = read_bitext(options.source, options.target)
        if options.direction:
            write_lines(options.output, map(format_points, _links(bitext, options.direction, options.seed)))
            return
        pairs = zip(*(_links(bitext, direction, options.seed) for direction in DIRECTIONS), strict=True)
    elif all(alignments) and not any(texts):
        pairs = _given(options.forward, options.reverse)
    else:
        raise InputError("give either --source and --target, or --forward and --reverse")
    heuristic = options.symmetrization or "grow-diag-final-and"
    write_lines(options.output, (format_points(symmetrize(left, right, heuristic)) for left, right in pairs))


def _links(bitext: Bitext, direction: str, seed: int) -> Iterator[Sequence[Point]]:
    """Align in one direction; returns the points of each sentence pair."""
    from itersel.align.sampler import Sampler

    is_reverse = direction == "reverse"
    text, given_words, generated_words = bitext.turned() if is_reverse else bitext
    links = Sampler(text, given_words, generated_words, seed).run()

    def points() -> Iterator[Sequence[Point]]:
        for begin, end in zip(text.generated_start[:-1], text.generated_start[1:], strict=True):
            found = [(i - 1, j) for j, i in enumerate(links[begin:end].tolist()) if i]
            yield sorted((j, i) for i, j in found) if is_reverse else sorted(found)

    return points()


def _given(forward: str, reverse: str) -> Iterator[tuple[Sequence[Point], Sequence[Point]]]:
    """Read the points of each sentence pair from alignments of both directions, which may be pipes."""
    from itersel.align.pharaoh import alignment_blocks

    sides = (chain.from_iterable(alignment_blocks(path)) for path in (forward, reverse))
    for number, (left, right) in enumerate(zip_longest(*sides), 1):
        if left is None or right is None:
            longer, shorter = (reverse, forward) if left is None else (forward, reverse)
            raise InputError(f"has no partner in {shorter}; align the files again", longer, number)
        yield left, right
