"""``itersel translate``: from raw text to translations, with a trained system."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from itersel.cli.arguments import add_jobs, add_text_files, whole
from itersel.limits import MAX_K_BEST
from itersel.storage.files import STANDARD_STREAM

if TYPE_CHECKING:
    from itersel.translate.document import Details


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Translate raw text, one sentence per line. The text is prepared like that of the run; the case of "
        "translations is restored, and they are detokenised unless the corpus was given tokenised. Input is "
        "translated as it arrives: a line written to a pipe is answered before the next one."
    )
    add_system(parser)
    add_text_files(parser, "text")
    parser.add_argument(
        "--keep-tokens",
        action="store_true",
        help="write what the decoder writes: lowercased words with spaces between them",
    )
    add_jobs(parser)
    details = parser.add_argument_group(
        "details", "Each of these options writes a JSON object per sentence instead of its translation."
    )
    details.add_argument(
        "--k-best",
        type=whole(1, MAX_K_BEST),
        metavar="K",
        help="the K best different translations of each sentence, with their scores",
    )
    details.add_argument(
        "--feature-values", action="store_true", help="the features of each translation that are not zero"
    )
    details.add_argument(
        "--alignments",
        action="store_true",
        help="the word alignment that the rules of each translation imply",
    )
    details.add_argument(
        "--derivations", action="store_true", help="the rules of each translation, as a tree, with scores"
    )
    parser.set_defaults(run=run)


def add_system(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a system."""
    parser.add_argument(
        "--system",
        required=True,
        metavar="PATH",
        help="folder of a system, such as experiments/NAME/best in a run, or a bundle (`itersel bundle`)",
    )


def run(options: argparse.Namespace) -> None:
    """Translate, and write each line as soon as it is ready."""
    from itersel.progress import count_up
    from itersel.storage.files import open_output
    from itersel.translate.translator import (
        BLOCK_SENTENCES,
        LEAST_BLOCK,
        Job,
        read_blocks,
        translate_blocks,
    )

    # smaller blocks keep more processes busy to the end
    size = max(LEAST_BLOCK, BLOCK_SENTENCES // options.jobs)
    blocks = read_blocks(options.input, size)
    job = Job(options.system, options.input, options.keep_tokens, _details(options))
    translations: Iterator[list[str]] = translate_blocks(blocks, job, options.jobs)
    is_stream = options.output == STANDARD_STREAM
    if not (is_stream and sys.stdout.isatty()):
        translations = count_up(translations, "sentences translated", len)
    with open_output(options.output) as stream:
        for lines in translations:
            stream.writelines(line + "\n" for line in lines)
            if is_stream:
                stream.flush()


def _details(options: argparse.Namespace) -> Details | None:
    """Return what is written of each sentence; None: its translation."""
    from itersel.translate.document import Details

    wanted = (options.feature_values, options.alignments, options.derivations)
    if options.k_best is None and not any(wanted):
        return None
    return Details(options.k_best or 1, *wanted)
