"""``itersel detokenize``: turn the decoder's output into plain text."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_options
from itersel.cli.shared_options import add_text_files

# See `add_command`.
RUNS_KERNELS = False


def _add_detokenize(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Restore the case of tokenised lowercased translations and detokenise them (Moses' rules). Text of a "
        "corpus that was given tokenised stays tokenised."
    )
    files = {
        "--preparation FILE": "preparation.json of the training corpus",
        "--recaser FILE": "recaser.json of the training corpus",
    }
    add_options(parser, files, required=True)
    add_text_files(parser, "translations")


def _detokenize(options: argparse.Namespace) -> None:
    from itersel.corpus.prepare import read_preparation, restore
    from itersel.corpus.recase import read_recaser
    from itersel.storage.files import read_lines, write_lines

    preparation = read_preparation(options.preparation)
    lines = read_lines(options.input)
    write_lines(options.output, restore(lines, preparation, read_recaser(options.recaser)))
