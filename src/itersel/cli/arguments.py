"""Argument types, and arguments shared by several commands."""

from __future__ import annotations

import argparse
import importlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from itersel.config.command_line import (
    add_chosen_section,
    add_section_arguments,
    flag_of,
    refuse,
    section_of,
    whole,
)
from itersel.config.options import MAX_SEED, MIN_SEED, is_required
from itersel.config.settings import read_settings
from itersel.errors import InputError, suggest

T = TypeVar("T")

# The maximum number of processes of a step.
MAX_PROCESSES = 256
# The maximum number of seeds of a command.
MAX_SEEDS = 1000
# What help calls the numbers of epochs, iterations, shards and files.
PLACE_LETTERS = {"epoch": "t", "iteration": "i", "shard_number": "z", "file_number": "f"}


class Parser(argparse.ArgumentParser):
    """A parser that rejects abbreviated options: a new option must not change the meaning of a script.

    An option that was `renamed`, such as ``{"--old": "--new"}``, is refused with its new name.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})
        self.renamed: dict[str, str] = {}

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments, unless one of them is an old name of an option."""
        for argument in args or ():
            option = argument.partition("=")[0]
            if option in self.renamed:
                self.error(f"{option} is now called {self.renamed[option]}")
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Exit with a usage message, and suggest a command with a similar name."""
        chosen = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if chosen:
            similar = suggest(chosen[1], re.findall(r"[\w.-]+", chosen[2]))
            if similar:
                message = f"{message[: chosen.start()]}invalid choice: '{chosen[1]}'{similar}"
        super().error(message)


class ListedParser(Parser):
    """The parser of a command that most command lines only list: it is initialised when first used.

    For all commands, that would take longer than everything else that happens before a command runs.
    """

    def __init__(self, **settings: Any) -> None:
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        """Initialise the parser, because it lacks an attribute."""
        settings = vars(self).pop("_settings", None)
        if settings is None:
            raise AttributeError(name)
        # such as a description
        changed = dict(vars(self))
        super().__init__(**settings)
        vars(self).update(changed)
        return getattr(self, name)


def add_command(
    parser: argparse.ArgumentParser,
    name: str,
    module: str,
    arguments: Sequence[str] = (),
    is_full: bool = False,
) -> ModuleType:
    """Add the options of a command, and what runs it; returns its module in `itersel.cli`.

    The command `warm-up` has functions ``_add_warm_up`` and ``_warm_up``. If the module's `PARTS` name parts
    of the command, such as ``report page``, with a line of help, these have such functions instead:
    ``_add_page`` and ``_page``. Some options depend on the value of another one, which the module's `CHOSEN`
    names: those that fit the given `arguments` are added, or all of them if `is_full`.
    """
    command = importlib.import_module(f"itersel.cli.{module}")
    parsers = {name: parser}
    listed = getattr(command, "PARTS", {}).items()
    prefix = f"{name} "
    parts = {one.removeprefix(prefix): summary for one, summary in listed if one.startswith(prefix)}
    if parts:
        added = parser.add_subparsers(dest="part", metavar="PART", required=True)
        parsers = {one: added.add_parser(one, help=summary) for one, summary in parts.items()}

    for one, its_parser in parsers.items():
        function = one.replace("-", "_")
        getattr(command, f"_add_{function}")(its_parser)
        its_parser.set_defaults(run=getattr(command, f"_{function}", None))

    option, choices = getattr(command, "CHOSEN", {}).get(name, ("", ()))
    if option and is_full:
        # they share options
        parser.conflict_handler = "resolve"
        for choice in choices:
            add_chosen_section(parser, [f"--{option}", choice], option, choices)
    elif option:
        add_chosen_section(parser, arguments, option, choices)

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


def add_decision(parser: argparse._ActionsContainer, otherwise: str, passed_on: str = "") -> None:
    """Add the option with the decision whether training has stopped, and what to write `otherwise`."""
    decision = (
        f"output of 'itersel step patience' after the previous epoch: if training has stopped, {otherwise}"
    )
    add_optional_files(parser, {"--decision FILE": decision})
    if passed_on:
        add_optional_files(parser, {"--passed-on FILE": passed_on})


def add_optional_files(
    parser: argparse._ActionsContainer, options: Mapping[str, str], **settings: Any
) -> None:
    """Add options for files that only some jobs have; the workflow gives the others the bare option."""
    add_options(parser, options, nargs="?", **settings)


def add_files(parser: argparse._ActionsContainer, options: Mapping[str, str], **settings: Any) -> None:
    """Add options for several files each: they are repeated, or several files follow one option.

    Commands with positional arguments, which would be taken for further files, use the action ``append``.
    """
    add_options(parser, options, **{"nargs": "+", "action": "extend", **settings})


def add_settings(parser: argparse._ActionsContainer, kind: type, with_options: bool = False) -> None:
    """Add the option with the settings of a step, which are this dataclass, and perhaps one for each key.

    With options for the keys, `settings_of` returns the settings, else `read_settings`.
    """
    keys = ", ".join(item.name for item in fields(kind) if "place" not in item.metadata)
    given = "YAML or JSON file, as a part of a config, or JSON itself, or - for JSON on standard input"
    added = parser.add_argument("--settings", metavar="FILE", help=f"{given}; keys: {keys}")
    # the reference of commands explains the keys
    added.settings = kind  # type: ignore[attr-defined]
    if with_options:
        before = len(parser._actions)
        add_section_arguments(parser, kind)
        for action in parser._actions[before:]:
            # only what is stated is known to `settings_of`
            action.default = argparse.SUPPRESS


def settings_of(kind: type[T], options: argparse.Namespace) -> T:
    """Return the settings of a command that people type, too: from ``--settings``, or from options.

    Raises
    ------
    InputError
        If both are given, if a required option is missing, or for a wrong value.
    """
    items = fields(kind)  # type: ignore[arg-type]
    stated = [flag_of(item) for item in items if item.name in options]
    if options.settings is not None:
        if stated:
            raise InputError(f"--settings replaces {', '.join(stated)}; give only one of them")
        return read_settings(kind, options.settings)

    missing = [flag_of(item) for item in items if is_required(item) and item.name not in options]
    if missing:
        raise InputError(f"missing: {' and '.join(missing)} (or --settings)")
    return section_of(kind, options)


def add_place(parser: argparse._ActionsContainer, kind: type) -> None:
    """Add options for the place in a run, such as the epoch: the keys with a `place` in this dataclass."""
    for item in fields(kind):
        if "place" in item.metadata:
            explanation = item.metadata["explanation"].removesuffix(".")
            option = f"--{item.name.replace('_', '-')} {PLACE_LETTERS[item.name]}"
            shown = f"{explanation[0].lower()}{explanation[1:]} (default: {item.default})"
            add_options(parser, {option: shown}, type=whole(item.metadata["minimum"]))


positive = whole(1)
not_negative = whole(0)
seed = whole(MIN_SEED, MAX_SEED)


def seeds(text: str) -> tuple[int, ...]:
    """Parse two or more different seeds, such as ``1-5`` or ``1,7,9``."""
    found: list[int] = []
    if re.fullmatch(r"[0-9]{1,18}(-[0-9]{1,18})?(,[0-9]{1,18}(-[0-9]{1,18})?)*", text):
        for part in text.split(","):
            first, _, last = part.partition("-")
            begin, end = seed(first), seed(last or first)
            if end < begin:
                found.clear()
                break
            # a few too many rather than billions
            found += range(begin, min(end, begin + MAX_SEEDS) + 1)
    if not 2 <= len(found) <= MAX_SEEDS or len({*found}) < len(found):
        refuse(text, f"a list of 2 to {MAX_SEEDS} different seeds, such as 1-5 or 1,7,9")
    return tuple(found)


def fold(text: str) -> tuple[int, int]:
    """Parse ``F/N``, fold F (from 0) of N (2 or more)."""
    found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    number, folds = map(int, found.groups()) if found else (0, 0)
    if folds < 2 or number >= folds:
        refuse(text, "a fold of two or more: 0/2, 1/2, 0/3, ...")
    return number, folds


def check_fold(options: argparse.Namespace) -> None:
    """Reject --fold without --leave-out, and the reverse."""
    if (options.leave_out is None) != (options.fold is None):
        raise InputError("give --leave-out and --fold together, or neither")


def split(text: str) -> str:
    """Parse the name of a split, or ``hash``."""
    from itersel.corpus.text_names import SPLITS, is_split

    if not is_split(text):
        refuse(text, f"a split: {', '.join(SPLITS)}, test.NAME, devtest.NAME, or hash")
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


def features_of(given: Sequence[tuple[str, str]], option: str = "--feature") -> dict[str, str]:
    """Return the files of an option such as ``--feature NAME=FILE``, by name."""
    found = dict(given)
    if len(found) < len(given):
        raise InputError(f"{option} gives a name twice; each needs a name of its own")
    return found


def add_nbest(parser: argparse._ActionsContainer) -> None:
    """Add the options for n-best lists of any decoder, and features in addition to those in the lists."""
    lists = (
        "n-best lists of any decoder, such as lists of several iterations: files, plain or compressed, or "
        "folders of files"
    )
    add_files(parser, {"--nbest FILE": lists}, required=True)
    feature = "a further feature: a number for each line of the lists, in their order; may be repeated"
    add_options(parser, {"--feature NAME=FILE": feature}, type=named_file, action="append", default=[])


def add_text_files(parser: argparse.ArgumentParser, text: str) -> None:
    """Add the input and output options of a command that turns text into text."""
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


def add_retokenize(parser: argparse.ArgumentParser) -> None:
    """Add the option of commands that compute BLEU of tokenised text; see `add_tokenizer`."""
    from itersel.evaluate.names import DEFAULT_TOKENIZER, RETOKENIZATIONS

    kinds = f"{DEFAULT_TOKENIZER}, as in mteval-v11b, or none to keep the tokens (default: %(default)s)"
    retokenize = {"--retokenize": f"sacrebleu's tokenizer, applied to the tokenised text: {kinds}"}
    add_options(parser, retokenize, choices=RETOKENIZATIONS, default=DEFAULT_TOKENIZER)


def add_tokenizer(parser: argparse.ArgumentParser, has_default: bool = True) -> None:
    """Add the option of commands that compute BLEU of text as it was given.

    If it has no default, the command knows whether it is stated, and uses `DEFAULT_TOKENIZER` if not.
    """
    from itersel.evaluate.names import DEFAULT_TOKENIZER, TOKENIZERS

    kinds = f"none for words separated by spaces (default: {DEFAULT_TOKENIZER})"
    tokenizer = {"--tokenizer": f"sacrebleu's tokenizer for BLEU; {kinds}"}
    default = DEFAULT_TOKENIZER if has_default else None
    add_options(parser, tokenizer, choices=TOKENIZERS, default=default)
