"""``itersel detokenize``: turn the decoder's output into plain text, for reading and scoring."""

from __future__ import annotations

import argparse

from itersel.cli.argument_types import output_file
from itersel.cli.arguments import add_files, add_optional_files, add_options
from itersel.cli.settings import add_settings, refuse_unused, settings_of
from itersel.cli.shared_options import add_text_files
from itersel.config.text_steps import DetokenizeSettings
from itersel.errors import InputError

# See `add_command`.
RUNS_KERNELS = False


def _add_detokenize(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Restore the case of tokenised lowercased translations and detokenise them (Moses' rules). Text of a "
        "corpus that was given tokenised stays tokenised. With --counts, also write the n-gram matches and "
        "edits of each sentence, from which 'itersel step table' computes the scores; then, without "
        "--recaser, the input is the text of another system, which is cleaned as references are."
    )

    add_options(parser, {"--preparation FILE": "preparation.json of the training corpus"}, required=True)
    add_optional_files(parser, {"--recaser FILE": "recaser.json of the training corpus"})
    add_text_files(parser, "translations")

    references = {"--reference FILE": "reference translations that are not tokenised, to count against"}
    add_files(parser, references)
    counts = {"--counts FILE": "file for the n-grams and edits of each sentence (HDF5)"}
    add_options(parser, counts, type=output_file)
    add_settings(parser, DetokenizeSettings, with_options=True)


def _detokenize(options: argparse.Namespace) -> None:
    from itersel.corpus.prepare import read_preparation, restore
    from itersel.corpus.recase import read_recaser
    from itersel.storage.files import read_lines, write_lines

    if (options.counts is None) != (options.reference is None):
        raise InputError("--counts and --reference need each other; give both or neither")
    settings = settings_of(DetokenizeSettings, options)
    if options.counts is None:
        refuse_unused(settings, "without --counts")
    if options.counts in ("-", options.output):
        raise InputError("--counts needs a file other than standard output and --output")

    is_other = options.recaser is None
    if is_other and options.counts is None:
        raise InputError("give --recaser, too; only with --counts may it be left out")

    preparation = read_preparation(options.preparation)

    if options.counts is None:
        lines = read_lines(options.input)
        write_lines(options.output, restore(lines, preparation, read_recaser(options.recaser)))
        return

    from itersel.evaluate.counts import count, write_counts
    from itersel.evaluate.metrics import read_references, read_translations
    from itersel.evaluate.tokenizers import tokenizer_of

    references = read_references(options.reference)
    translations = read_translations(options.input, references, options.reference[0])
    if is_other:
        translations = preparation.clean(translations)
        text = translations
    else:
        text = restore(translations, preparation, read_recaser(options.recaser))

    tokenizer = tokenizer_of(preparation.words.target_language, settings.tokenizer)
    counts = count(translations, text, references, tokenizer)
    write_lines(options.output, text)
    write_counts(options.counts, counts)
