"""Options that several commands have: of processes, of text, and of the n-best lists of any decoder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from itersel.cli.argument_types import named_file, output_file
from itersel.cli.arguments import add_files, add_options
from itersel.config.command_line import whole
from itersel.errors import InputError

# The maximum number of processes of a step.
MAX_PROCESSES = 256


def add_processes(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number of processes."""
    processes = {"--processes N": "number of processes; the output is the same (default: %(default)s)"}
    add_options(parser, processes, type=whole(1, MAX_PROCESSES), default=1)


def add_text_files(parser: argparse.ArgumentParser, text: str) -> None:
    """Add the input and output options of a command that turns text into text."""
    files = f"{text}, plain or compressed, or - for standard input (default)"
    add_options(parser, {"--input": files}, default="-")
    add_text_output(parser)


def add_text_output(parser: argparse.ArgumentParser) -> None:
    """Add the option for text that is written to standard output by default."""
    output = {"--output": "file, plain or compressed, or - for standard output (default)"}
    add_options(parser, output, type=output_file, default="-")


def add_nbest(parser: argparse._ActionsContainer) -> None:
    """Add the options for n-best lists of any decoder, and features in addition to those in the lists."""
    lists = (
        "n-best lists of any decoder, such as lists of several iterations: files, plain or compressed, or "
        "folders of files"
    )
    add_files(parser, {"--nbest FILE": lists}, required=True)
    feature = "a further feature: a number for each line of the lists, in their order; may be repeated"
    add_options(parser, {"--feature NAME=FILE": feature}, type=named_file, action="append", default=[])


def features_of(given: Sequence[tuple[str, str]], option: str = "--feature") -> dict[str, str]:
    """Return the files of an option such as ``--feature NAME=FILE``, by name."""
    found = dict(given)
    if len(found) < len(given):
        raise InputError(f"{option} gives a name twice; each needs a name of its own")
    return found


def add_tokenizer(parser: argparse.ArgumentParser) -> None:
    """Add the option of commands that compute BLEU of text as it was given."""
    from itersel.evaluate.names import DEFAULT_TOKENIZER, TOKENIZERS

    kinds = f"none for words separated by spaces (default: {DEFAULT_TOKENIZER}, whatever the language)"
    tokenizer = {"--tokenizer": f"sacrebleu's tokenizer for BLEU; {kinds}"}
    add_options(parser, tokenizer, choices=TOKENIZERS, default=DEFAULT_TOKENIZER)
