"""``itersel detokenize``: turn the decoder's output into plain text, for reading and scoring."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_text_files, add_tokenizer, output_file
from itersel.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Restore the case of tokenised lowercased translations and detokenise them (Moses' rules). Text of a "
        "corpus that was given tokenised stays tokenised. With --counts, also write the n-gram matches and "
        "edits of each sentence, from which 'itersel report table' computes the scores."
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
    add_text_files(parser, "translations")
    parser.add_argument(
        "--references",
        nargs="+",
        action="extend",
        metavar="FILE",
        help="original references, to count against",
    )
    parser.add_argument(
        "--counts",
        type=output_file,
        metavar="FILE",
        help="file for the n-grams and edits of each sentence (HDF5)",
    )
    add_tokenizer(parser)
    # no default, so that --tokenizer without --counts can be rejected
    parser.set_defaults(tokenizer=None, run=run)


def run(options: argparse.Namespace) -> None:
    """Restore the case of translations and detokenise them."""
    from itersel.corpus.prepare import read_preparation, restore
    from itersel.corpus.recase import read_recaser
    from itersel.storage.files import read_lines, write_lines

    if (options.counts is None) != (options.references is None):
        raise InputError("--counts and --references need each other; give both or neither")
    if options.counts is None and options.tokenizer is not None:
        raise InputError("--tokenizer has no effect without --counts; give both or neither")
    if options.counts in ("-", options.output):
        raise InputError("--counts needs a file other than standard output and --output")
    preparation, recaser = read_preparation(options.preparation), read_recaser(options.recaser)
    if options.counts is None:
        write_lines(options.output, restore(read_lines(options.input), preparation, recaser))
        return
    from itersel.evaluate.bleu import read_references, read_translations
    from itersel.evaluate.counts import count, write_counts

    references = read_references(options.references)
    translations = read_translations(options.input, references, options.references[0])
    text = list(restore(translations, preparation, recaser))
    counts = count(translations, text, references, options.tokenizer or "13a")
    write_lines(options.output, text)
    write_counts(options.counts, counts)
