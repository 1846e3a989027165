"""``itersel step scale``: choose the scale of minimum Bayes risk on devtest."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack

from itersel.cli.arguments import add_options, add_output
from itersel.cli.devtest import add_devtest, devtest_files, score_devtest
from itersel.cli.given_lists import add_language_model, kind_of_settings
from itersel.cli.settings import add_settings
from itersel.config.report_steps import GivenListScaleSettings, ScaleSettings
from itersel.config.settings import read_settings


def _add_scale(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Translate devtest by minimum Bayes risk with each scale, and keep the scale of the best score."
    )
    files = {
        "--inputs MANIFEST": "the pieces of devtest in order, one per line (- is standard input)",
        "--weights FILE": "weights of the system",
    }
    add_options(parser, files, required=True)
    add_language_model(parser)
    add_settings(parser, ScaleSettings)
    add_devtest(parser)
    add_output(parser, "what was chosen (JSON)", "--output")


def _scale(options: argparse.Namespace) -> None:
    from itersel.evaluate.epochs import index_of_best
    from itersel.system.mbr import ChosenMbr, write_mbr

    kind = kind_of_settings(options, ScaleSettings, GivenListScaleSettings)
    settings = read_settings(kind, options.settings)
    candidates = settings.mbr.candidates

    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{number}.txt") for number in range(len(candidates))]
        _translate(options, settings, paths)
        scores = score_devtest(settings.scoring, devtest_files(options), paths).deciding_scores

    best = index_of_best(scores, settings.scoring.choose_by)
    chosen = ChosenMbr(
        mbr=candidates[best],
        devtest=settings.devtest,
        chosen_by=settings.scoring.choose_by,
        scales=tuple(one.scale for one in candidates),
        devtest_scores=scores,
    )
    write_mbr(options.output, chosen)


def _translate(
    options: argparse.Namespace, settings: ScaleSettings | GivenListScaleSettings, paths: Sequence[str]
) -> None:
    """Write the translations by each candidate to a file."""
    from itersel.storage.files import read_manifest
    from itersel.translate.scales import translations_by
    from itersel.vectors.weights import read_itersel_weights

    weights = read_itersel_weights(options.weights)
    pieces = read_manifest(options.inputs)
    with ExitStack() as stack:
        streams = [stack.enter_context(open(path, "w", encoding="utf-8")) for path in paths]
        for lines in translations_by(pieces, options.language_model, weights, settings):
            for stream, line in zip(streams, lines, strict=True):
                stream.write(f"{line}\n")
