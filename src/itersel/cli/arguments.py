"""Argument types, and arguments shared by several steps."""

from __future__ import annotations

import argparse
import importlib
import os
import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

from itersel.config.command_line import refuse, whole
from itersel.errors import suggest
from itersel.limits import (
    LANGUAGE_PATTERN,
    MAX_PROCESSES,
    SPLITS,
    TEXT_SCORES,
    TOKENIZED_BLEU,
    TOKENIZERS,
    is_test_set_name,
)


class Parser(argparse.ArgumentParser):
    """A parser that rejects abbreviated options: a new option must not change the meaning of a script."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        """Exit with a usage message, and suggest a step with a similar name."""
        chosen = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if chosen:
            similar = suggest(chosen[1], re.findall(r"[\w.-]+", chosen[2]))
            if similar:
                message = f"{message[: chosen.start()]}invalid choice: '{chosen[1]}'{similar}"
        super().error(message)


def add_step(step: argparse.ArgumentParser, name: str, module: str) -> ModuleType:
    """Add the options of a step, and what runs it; returns its module in `itersel.cli`.

    The step `warm-up` has functions ``_add_warm_up`` and ``_warm_up``. If the module's `SUBSTEPS` name parts
    of the step, such as ``report page``, with a line of help, these have such functions instead:
    ``_add_page`` and ``_page``.
    """
    command = importlib.import_module(f"itersel.cli.{module}")
    parsers = {name: step}
    listed, prefix = getattr(command, "SUBSTEPS", {}).items(), f"{name} "
    substeps = {one.removeprefix(prefix): summary for one, summary in listed if one.startswith(prefix)}
    if substeps:
        steps = step.add_subparsers(dest="substep", metavar="SUBSTEP", required=True)
        parsers = {one: steps.add_parser(one, help=summary) for one, summary in substeps.items()}
    for one, parser in parsers.items():
        function = one.replace("-", "_")
        getattr(command, f"_add_{function}")(parser)
        parser.set_defaults(run=getattr(command, f"_{function}", None))
    return command


def add_options(parser: argparse._ActionsContainer, options: Mapping[str, str], **settings: Any) -> None:
    """Add options with the same settings, by explanation; a metavar may follow the name, ``--shard FILE``."""
    for option, explanation in options.items():
        name, _, metavar = option.partition(" ")
        shown = {**settings, "metavar": metavar} if metavar else settings
        parser.add_argument(name, help=explanation, **shown)


def add_output(parser: argparse._ActionsContainer, explanation: str, option: str = "--output FILE") -> None:
    """Add the option for a file that is always written."""
    add_options(parser, {option: explanation}, required=True, type=output_file)


def add_patience(parser: argparse._ActionsContainer, otherwise: str, passed_on: str = "") -> None:
    """Add the option with the decision whether training has stopped, and what to write `otherwise`."""
    decision = (
        f"output of 'itersel report patience' after the previous epoch: if training has stopped, {otherwise}"
    )
    add_options(parser, {"--patience FILE": decision})
    if passed_on:
        add_options(parser, {"--passed-on FILE": passed_on})


positive = whole(1)
not_negative = whole(0)
# what numpy takes
seed = whole(0, 2**32 - 1)


def split(text: str) -> str:
    """Parse the name of a split, or ``hash``."""
    kind, _, name = text.partition(".")
    is_named = kind in ("test", "devtest") and is_test_set_name(name)
    if text not in (*SPLITS, "hash") and not is_named:
        refuse(text, f"a split: {', '.join(SPLITS)}, test.NAME, devtest.NAME, or hash")
    return text


def language(text: str) -> str:
    """Parse a language code."""
    if not re.fullmatch(LANGUAGE_PATTERN, text):
        refuse(text, "a language code, such as de or pt-br")
    return text


def output_file(text: str) -> str:
    """Parse the name of a file to write, which must not be a folder."""
    if not text or text.endswith("/") or os.path.isdir(text):
        refuse(text, "the name of a file")
    return text


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number of processes."""
    jobs = {"--jobs N": "number of processes; the output is the same (default: %(default)s)"}
    add_options(parser, jobs, type=whole(1, MAX_PROCESSES), default=1)


def named_file(text: str) -> tuple[str, str]:
    """Parse ``NAME=FILE``."""
    name, _, path = text.partition("=")
    if not name or not path:
        refuse(text, "NAME=FILE")
    return name, path


def add_text_files(parser: argparse.ArgumentParser, text: str) -> None:
    """Add the input and output options of a step that turns text into text."""
    files = f"{text}, plain or compressed, or - for standard input (default)"
    add_options(parser, {"--input": files}, default="-")
    add_text_output(parser)


def add_text_output(parser: argparse.ArgumentParser) -> None:
    """Add the option for text that is written to standard output by default."""
    output = {"--output": "file, plain or compressed, or - for standard output (default)"}
    add_options(parser, output, type=output_file, default="-")


def add_reference(parser: argparse.ArgumentParser) -> None:
    """Add the option for the references of one text."""
    reference = "reference translation, one sentence per line, plain or compressed; may be repeated"
    add_options(parser, {"--reference FILE": reference}, required=True, action="append")


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """Add the options of steps that compute BLEU of tokenised translations."""
    add_reference(parser)
    add_tokenize(parser)


def add_tokenize(parser: argparse.ArgumentParser) -> None:
    """Add the option for the tokenisation of tokenised translations."""
    tokenize = "sacrebleu's tokenisation: 13a as in mteval-v11b, none for tokenised text (default: 13a)"
    add_options(parser, {"--tokenize": tokenize}, choices=("13a", "none"), default="13a")


def add_tokenizer(parser: argparse.ArgumentParser, default: str | None = "13a") -> None:
    """Add the option of steps that compute BLEU of detokenised text."""
    tokenizer = "sacrebleu's tokenizer for BLEU of detokenised text (default: 13a)"
    add_options(parser, {"--tokenizer": tokenizer}, choices=TOKENIZERS, default=default)


def add_devtest_scoring(parser: argparse.ArgumentParser) -> None:
    """Add the options of how translations of devtest are scored."""
    add_scoring(parser)
    by = "score by which the epoch is chosen (default: %(default)s); all others need the next three options"
    add_options(parser, {"--by": by}, choices=(TOKENIZED_BLEU, *TEXT_SCORES), default=TOKENIZED_BLEU)
    add_options(parser, {"--raw-references FILE": "original references, before preparation"}, nargs="+")
    files = {
        "--preparation FILE": "preparation.json of the training corpus",
        "--recaser FILE": "recaser.json of the training corpus",
        "--labels FILE": "task label of each line of devtest",
        "--task LABEL": "score only the lines with this label",
    }
    add_options(parser, files)
    add_tokenizer(parser)


def add_randomization(parser: argparse.ArgumentParser) -> None:
    """Add the options of steps that test significance."""
    trials = {"--trials": "number of random trials (default: 10000)"}
    add_options(parser, trials, type=positive, default=10_000)
    add_options(parser, {"--seed": "seed of the trials (default: 1)"}, type=seed, default=1)
