"""``itersel align``: word-align parallel text, or symmetrise given alignments."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from itersel.cli.argument_types import output_file
from itersel.cli.arguments import add_files, add_options, add_output
from itersel.cli.settings import add_settings, settings_of
from itersel.config.text_steps import AlignSettings, SamplerSettings, SymmetrizationSettings
from itersel.errors import InputError

if TYPE_CHECKING:
    from itersel.align.sampler_kernels import SentencePairs
    from itersel.corpus.alignments import Point
    from itersel.storage.arrays import Int16s


def _add_align(parser: argparse.ArgumentParser) -> None:
    from itersel.align.symmetrize import DIRECTIONS

    parser.description = (
        "Align the words of --source and --target in both directions, by sampling, with the model of "
        "eflomal, or with models from --save; or read alignments of both directions from --forward and "
        "--reverse. Then symmetrise and write Pharaoh format (source-target, counted from 0)."
    )

    texts = {
        "--source FILE": "tokenised source, one sentence per line",
        "--target FILE": "tokenised target, one sentence per line",
        "--forward FILE": "alignment that links each target word at most once",
        "--reverse FILE": "alignment that links each source word at most once",
    }
    add_options(parser, texts)

    direction = "write only the alignment that links a target (forward) or source word (reverse) at most once"
    add_options(parser, {"--direction": direction}, choices=DIRECTIONS)
    add_options(parser, {"--save FILE": "model to write, for --aligner; needs --direction"}, type=output_file)
    model = "align with the model of one direction, or of both; models do not learn from the text"
    add_files(parser, {"--aligner FILE": model})

    add_settings(parser, AlignSettings, with_options=True)
    add_output(parser, "alignment to write, plain or compressed")


def _align(options: argparse.Namespace) -> None:
    from itersel.corpus.alignments import format_points
    from itersel.storage.files import write_lines

    _check(options)
    if options.forward:
        case = "with --forward and --reverse"
        how = settings_of(SymmetrizationSettings, options, AlignSettings, case)
        _write_symmetrized(options.output, _given(options.forward, options.reverse), how)
        return

    is_one = options.direction or (options.aligner and len(options.aligner) == 1)
    kind: type[SamplerSettings] = SamplerSettings if is_one else AlignSettings
    case = "with --direction" if options.direction else "with the model of one direction"
    settings = settings_of(kind, options, AlignSettings, case)
    align = _with_models if options.aligner else _sampled
    directions = list(align(options, settings.seed))

    if isinstance(settings, AlignSettings):
        _write_symmetrized(options.output, zip(*directions, strict=True), settings)
    else:
        write_lines(options.output, map(format_points, directions[0]))


def _write_symmetrized(
    output: str, pairs: Iterable[tuple[Sequence[Point], Sequence[Point]]], settings: SymmetrizationSettings
) -> None:
    from itersel.align.symmetrize import symmetrize
    from itersel.corpus.alignments import format_points
    from itersel.storage.files import write_lines

    heuristic = settings.symmetrization
    write_lines(output, (format_points(symmetrize(left, right, heuristic)) for left, right in pairs))


def _check(options: argparse.Namespace) -> None:
    texts, alignments = (options.source, options.target), (options.forward, options.reverse)
    if options.direction and any(alignments):
        raise InputError("--direction can be used with --source and --target only")
    if options.aligner and (options.direction or options.save or any(alignments)):
        raise InputError(
            "--aligner can be used with --source and --target, but not with --direction or --save"
        )
    if options.save and not options.direction:
        raise InputError("--save needs --direction: a model is of one direction")
    if any(texts) == any(alignments) or not (all(texts) or all(alignments)):
        raise InputError("give either --source and --target, or --forward and --reverse")


def _sampled(options: argparse.Namespace, seed: int) -> Iterator[Iterator[Sequence[Point]]]:
    """Align in one direction or both; yields the points of each sentence pair."""
    from itersel.align.sampler import Sampler, TrainedAligner, read_bitext, write_model
    from itersel.align.symmetrize import DIRECTIONS, REVERSE

    bitext = read_bitext(options.source, options.target)
    for direction in [options.direction] if options.direction else DIRECTIONS:
        text, given, generated = bitext.turned() if direction == REVERSE else bitext
        sampler = Sampler(text, len(given), len(generated), seed)
        links = sampler.run()
        if options.save:
            write_model(options.save, TrainedAligner(direction, given, generated, sampler.model), seed)
        yield _points(text, links, direction)


def _with_models(options: argparse.Namespace, seed: int) -> Iterator[Iterator[Sequence[Point]]]:
    """Align with the model of one direction, or of both; yields the points of each sentence pair."""
    from itersel.align.sampler import align_with, read_bitext, read_model
    from itersel.align.symmetrize import DIRECTIONS, REVERSE

    models = [(read_model(path), path) for path in options.aligner]
    models.sort(key=lambda pair: pair[0].direction)
    if len(models) > 1 and [model.direction for model, _ in models] != [*DIRECTIONS]:
        raise InputError("--aligner takes one model, or one of each direction")

    bitext = read_bitext(options.source, options.target)
    while models:
        model, path = models.pop(0)
        sides = bitext.turned() if model.direction == REVERSE else bitext
        text = sides.renumbered(model.given, model.generated)
        unknown = (text.given == len(model.given), text.generated == len(model.generated))
        if any(side.size and side.all() for side in unknown):
            raise InputError("knows no word of one side of the text; swap --source and --target?", path)
        yield _points(text, align_with(model.model, text, seed), model.direction)


def _points(text: SentencePairs, links: Int16s, direction: str) -> Iterator[Sequence[Point]]:
    """Yield the points of each sentence pair."""
    from itersel.align.symmetrize import REVERSE

    for begin, end in zip(text.generated_start[:-1], text.generated_start[1:], strict=True):
        found = [(i - 1, j) for j, i in enumerate(links[begin:end].tolist()) if i]
        yield sorted((j, i) for i, j in found) if direction == REVERSE else sorted(found)


def _given(forward: str, reverse: str) -> Iterator[tuple[Sequence[Point], Sequence[Point]]]:
    """Read the points of each sentence pair from alignments of both directions, which may be pipes."""
    from itersel.corpus.alignments import read_alignment

    sides = map(read_alignment, (forward, reverse))
    for number, (left, right) in enumerate(zip_longest(*sides), 1):
        if left is None or right is None:
            longer, shorter = (reverse, forward) if left is None else (forward, reverse)
            raise InputError(f"has more lines than {shorter}; align the files again", longer, number)
        yield left, right
