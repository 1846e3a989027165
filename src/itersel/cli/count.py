"""``itersel step count``: count what the scores of a system on a test set are computed from."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_files, add_optional_files, add_options, add_output
from itersel.cli.settings import add_settings
from itersel.config.report_steps import CountSettings
from itersel.config.settings import read_settings
from itersel.errors import InputError

# See `add_command`.
RUNS_KERNELS = False


def _add_count(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Restore translations as plain text, as 'itersel detokenize' does, and count the n-gram matches and "
        "edits of each sentence, from which 'itersel step table' computes the scores. Without a recaser, the "
        "translations are plain text by another system, which is cleaned as references are."
    )
    add_settings(parser, CountSettings)
    add_options(parser, {"--preparation FILE": "preparation.json of the training corpus"}, required=True)
    add_optional_files(parser, {"--recaser FILE": "recaser.json of the training corpus"})
    add_options(parser, {"--translation FILE": "translations of the test set"}, required=True)
    add_files(parser, {"--reference FILE": "reference translations as plain text"}, required=True)
    add_output(parser, "the translations as plain text", "--output-text")
    add_output(parser, "matches and edits of each sentence (HDF5)", "--output")


def _count(options: argparse.Namespace) -> None:
    from itersel.corpus.prepare import read_preparation, restore
    from itersel.corpus.recase import read_recaser
    from itersel.evaluate.counts import count, write_counts
    from itersel.evaluate.texts import read_references, read_translations
    from itersel.storage.files import write_lines

    if options.output == "-":
        raise InputError("--output needs a file: counts are HDF5, which standard output cannot take")

    settings = read_settings(CountSettings, options.settings)
    preparation = read_preparation(options.preparation)
    references = read_references(options.reference)
    translations = read_translations(options.translation, references, options.reference[0])

    if options.recaser is None:
        translations = preparation.clean(translations)
        text = translations
    else:
        text = restore(translations, preparation, read_recaser(options.recaser))

    counts = count(translations, text, references, settings.tokenizer)
    write_lines(options.output_text, text)
    write_counts(options.output, counts)
