"""``itersel lists``: make a shard of n-best lists of another decoder."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from itersel.cli.arguments import add_options, add_output, language
from itersel.errors import InputError


def _add_lists(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make a shard to learn from (HDF5) of n-best lists of another decoder, such as those of a shard that "
        "'itersel shard --nbest' has cut. Equal translations of a sentence count once."
    )
    lists = "n-best lists, 'number ||| text ||| features ||| score' or JSON lines, plain or compressed"
    add_options(parser, {"--nbest FILE": lists}, nargs="+", required=True)
    references = "references, one sentence per line; several files for several references"
    add_options(parser, {"--references FILE": references}, nargs="+", action="extend", default=[])
    files = {
        "--ids FILE": "numbers of the sentences in the lists, in training order (default: all)",
        "--quality FILE": "a number from 0 to 1 for each translation, to learn from instead of BLEU",
        "--dense FILE": "names of the dense features, one per line (default: as in 'itersel shard')",
    }
    add_options(parser, files)
    tokenize = "tokenise and lowercase for BLEU by the rules of this language (default: words as they are)"
    add_options(parser, {"--language CODE": tokenize}, type=language)
    protect = "regular expression of text that is one token; may be repeated"
    add_options(parser, {"--protect REGEX": protect}, action="append", default=[])
    add_output(parser, "shard of lists, .h5")


def _lists(options: argparse.Namespace) -> None:
    from itersel.corpus.prepare import Preparation
    from itersel.decode.lists import import_lists

    if options.protect and options.language is None:
        raise InputError("--protect has no effect without --language; remove it")
    words: Callable[[Sequence[str]], Sequence[str]] = list
    if options.language is not None:
        words = Preparation("", options.language, protected=tuple(options.protect)).target
    import_lists(
        options.output,
        options.nbest,
        options.references,
        ids=options.ids,
        quality=options.quality,
        dense=options.dense,
        words=words,
    )
