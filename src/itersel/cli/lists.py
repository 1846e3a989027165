"""``itersel lists``: make a shard of n-best lists of another decoder."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from itersel.cli.arguments import add_options, add_output, language
from itersel.config.command_line import whole
from itersel.errors import InputError


def _add_lists(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make a shard to learn from (HDF5) of n-best lists of another decoder, which 'itersel shard --nbest' "
        "has cut. Equal translations of a sentence count once."
    )
    add_options(parser, {"--folder DIR": "output of 'itersel shard --nbest'"}, required=True)
    add_options(parser, {"--number Z": "number of the shard, from 0"}, type=whole(0), required=True)
    tokenize = "tokenise and lowercase for BLEU by the rules of this language (default: words as they are)"
    add_options(parser, {"--language CODE": tokenize}, type=language)
    protect = "regular expression of text that is one token; may be repeated"
    add_options(parser, {"--protect REGEX": protect}, action="append", default=[])
    add_output(parser, "shard of lists, .h5")


def _lists(options: argparse.Namespace) -> None:
    from itersel.corpus.prepare import Preparation
    from itersel.decode.lists import import_lists, write_list_shard

    if options.protect and options.language is None:
        raise InputError("--protect has no effect without --language; remove it")
    words: Callable[[Sequence[str]], Sequence[str]] = list
    if options.language is not None:
        words = Preparation("", options.language, protected=tuple(options.protect)).target
    write_list_shard(options.output, import_lists(options.folder, options.number, words))
