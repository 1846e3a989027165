"""``itersel detokenize``: from the decoder's output to text for readers and for scores."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import output_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Restore the case of tokenised lowercased translations and detokenise them (Moses' rules). Text of a "
        "corpus that was given tokenised stays tokenised."
    )
    parser.add_argument(
        "--preparation",
        required=True,
        metavar="FILE",
        help="preparation.json of the training corpus",
    )
    parser.add_argument(
        "--recaser", required=True, metavar="FILE", help="recaser.json of the training corpus"
    )
    parser.add_argument(
        "--input", default="-", help="translations, plain or .gz, or - for standard input (default)"
    )
    parser.add_argument(
        "--output",
        type=output_file,
        default="-",
        help="file, plain or .gz, or - for standard output (default)",
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from itersel.corpus.prepare import read_preparation
    from itersel.corpus.recase import read_recaser
    from itersel.corpus.restore import restore
    from itersel.storage.files import read_lines, write_lines

    preparation, recaser = read_preparation(options.preparation), read_recaser(options.recaser)
    write_lines(options.output, restore(read_lines(options.input), preparation, recaser))
