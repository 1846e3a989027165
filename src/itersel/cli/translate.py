"""``itersel translate``: from raw text to translations, with a trained system."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_text_files
from itersel.errors import InputError
from itersel.limits import MAX_SENTENCE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Translate raw text, one sentence per line. The text is prepared like that of the run; the case of "
        "translations is restored, and they are detokenised unless the corpus was given tokenised."
    )
    parser.add_argument(
        "--system",
        required=True,
        metavar="DIR",
        help="folder of a system, such as experiments/NAME/best in a run",
    )
    add_text_files(parser, "text")
    parser.add_argument(
        "--keep-tokens",
        action="store_true",
        help="write what the decoder writes: lowercased words with spaces between them",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prepare, extract the grammars, decode, restore case and spaces."""
    import tempfile
    from pathlib import Path

    from itersel.cli.decode import translate_shard
    from itersel.corpus.prepare import read_preparation
    from itersel.corpus.recase import read_recaser
    from itersel.corpus.restore import restore
    from itersel.corpus.text import check_words, read_text, split_words
    from itersel.grammar.extract import extract_shard
    from itersel.report.resources import read_resources
    from itersel.storage.files import read_lines, write_lines

    resources = read_resources(options.system)
    preparation, recaser = read_preparation(resources.preparation), read_recaser(resources.recaser)
    lines = read_text(options.input)
    if preparation.tokenized:
        check_words(list(map(split_words, lines)), options.input)
    source = preparation.split_compounds(preparation.source(lines))
    for number, line in enumerate(source, 1):
        if (words := len(split_words(line))) > MAX_SENTENCE:
            why = f"a sentence of {words} words; up to {MAX_SENTENCE} are translated, cut it"
            raise InputError(why, options.input, number)
    with tempfile.TemporaryDirectory() as folder:
        text, shard, best = Path(folder, "source"), Path(folder, "shard.h5"), Path(folder, "best")
        write_lines(text, source)
        extract_shard(resources.index, text, shard, settings=resources.extraction)
        try:
            with best.open("w", encoding="utf-8") as stream:
                translate_shard(
                    stream,
                    shard=shard,
                    model=resources.model,
                    weights=Path(options.system, "weights.h5"),
                    pop_limit=resources.pop_limit,
                    features=resources.features,
                    max_span=resources.extraction.max_span,
                )
        except InputError as error:
            # the temporary shard is as good as the index that it was made from
            place = resources.index if error.path in (None, shard) else error.path
            raise InputError(error.message, place, error.line) from None
        lines = read_lines(best)
    write_lines(options.output, lines if options.keep_tokens else restore(lines, preparation, recaser))
