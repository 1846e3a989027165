"""``itersel bundle``: a trained system as one file."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import output_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Write all that a system needs to translate new text to one file: index of the training corpus, "
        "language model, weights, preparation of text, recaser. `itersel translate --system FILE` needs "
        "nothing else from the run."
    )
    parser.add_argument(
        "system", metavar="SYSTEM", help="folder of a system, such as experiments/NAME/best in a run"
    )
    parser.add_argument("output", type=output_file, metavar="OUTPUT", help="bundle to write")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read the system with all checks, and write it."""
    from itersel.translate.system import load_system, write_bundle

    write_bundle(options.output, load_system(options.system))
