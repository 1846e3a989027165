"""``itersel export``: a trained system for other decoders."""

from __future__ import annotations

import argparse

from itersel.cli.translate import add_system


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-step cdec."""
    steps = parser.add_subparsers(dest="substep", metavar="SUBSTEP", required=True)
    cdec = steps.add_parser("cdec", help="write a folder that cdec runs as it is")
    cdec.description = (
        "Write everything that cdec needs to translate a text: cdec.ini, the text with a grammar for each "
        "sentence, the weights, and the language model. Run it with: cd FOLDER && cdec -c cdec.ini"
    )
    add_system(cdec)
    cdec.add_argument(
        "--input", required=True, metavar="TEXT", help="raw text, plain or compressed, or - for stdin"
    )
    cdec.add_argument("--output", required=True, metavar="FOLDER", help="folder to write, new or empty")
    cdec.add_argument(
        "--arpa",
        metavar="FILE",
        help="ARPA file of the language model (default: the one of the run). Needed for bundles, and if the "
        "config named an ARPA file",
    )
    cdec.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the folder."""
    from itersel.translate.cdec import export_cdec

    export_cdec(options.system, options.input, options.output, options.arpa)
