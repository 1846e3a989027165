"""Argument types, and arguments shared by several steps."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import math
import os
import re
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from types import ModuleType
from typing import Any, NoReturn

from itersel.config.options import BOUNDS, split_optional, types_of
from itersel.errors import InputError, suggest
from itersel.limits import (
    LANGUAGE_PATTERN,
    MAX_PROCESSES,
    SPLITS,
    TEXT_SCORES,
    TOKENIZED_BLEU,
    TOKENIZERS,
    is_test_set_name,
    parse_number,
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

    The step `warm-up` has functions ``_add_warm_up`` and ``_warm_up``. If the module names `SUBSTEPS` of the
    step, each with a line of help, these have such functions instead.
    """
    command = importlib.import_module(f"itersel.cli.{module}")
    parsers = {name: step}
    substeps = getattr(command, "SUBSTEPS", {}).get(name)
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
    decision = f"output of 'itersel report patience' an epoch before: if training has stopped, {otherwise}"
    add_options(parser, {"--patience FILE": decision})
    if passed_on:
        add_options(parser, {"--passed-on FILE": passed_on})


def refuse(text: str, wanted: str) -> NoReturn:
    """Raise the error for an option whose value is not `wanted`."""
    raise argparse.ArgumentTypeError(f"'{text}' is not {wanted}")


def whole(minimum: int, maximum: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers within bounds."""
    limit = f"from {minimum} to {maximum}" if maximum is not None else f"of {minimum} or more"

    def parse(text: str) -> int:
        # int() alone would accept '1_000' and digits of other scripts
        number = int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
        if number is None or number < minimum or (maximum is not None and number > maximum):
            refuse(text, f"a whole number {limit}")
        return number

    return parse


positive = whole(1)
not_negative = whole(0)
# what numpy takes
seed = whole(0, 2**32 - 1)


def number(
    *, above: float | None = None, minimum: float | None = None, maximum: float | None = None
) -> Callable[[str], float]:
    """Return a parser of finite numbers within bounds."""

    def parse(text: str) -> float:
        try:
            value = parse_number(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            refuse(text, "a number")
        if above is not None and value <= above:
            refuse(text, f"a number above {above:g}")
        if minimum is not None and value < minimum:
            refuse(text, f"a number of {minimum:g} or more")
        if maximum is not None and value > maximum:
            refuse(text, f"a number of at most {maximum:g}")
        return value

    return parse


def split(text: str) -> str:
    """Parse the name of a split, or ``hash``."""
    kind, _, name = text.partition(".")
    is_named = kind in ("test", "devtest") and is_test_set_name(name)
    if text not in (*SPLITS, "hash") and not is_named:
        refuse(text, f"a split: {', '.join(SPLITS)}, test.NAME, devtest.NAME, or hash")
    return text


def names(text: str) -> tuple[str, ...]:
    """Parse names separated by commas; there may be none."""
    return tuple(filter(None, text.split(",")))


def different_names(known: Collection[str] | None) -> Callable[[str], tuple[str, ...]]:
    """Return a parser of names separated by commas: of different known ones or none, or of any."""

    def parse(text: str) -> tuple[str, ...]:
        found = names(text)
        if known is None and not all(text.split(",")):
            refuse(text, "a comma-separated list of names")
        if known is not None and (len({*found}) != len(found) or not all(name in known for name in found)):
            refuse(text, f"a comma-separated list of different names out of {', '.join(known)}")
        return found

    return parse


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


def add_section_arguments(
    parser: argparse._ActionsContainer, section: Any, names: Collection[str] = ()
) -> None:
    """Add an option for each key of a section, or for those in `names`; true or false become flags."""
    for item in fields(section):
        if names and item.name not in names:
            continue
        (kind, is_optional), bounds = split_optional(types_of(section)[item.name]), item.metadata
        chosen: Any = item.default
        choices, shown = bounds.get("choices"), bounds["explanation"].replace("%", "%%")
        settings: dict[str, Any] = {"default": chosen}
        if kind is bool:
            settings = {"action": "store_true"}
        elif typing.get_origin(kind) is tuple:
            known, none = ("", "none") if choices is None else (" Known: %(known)s.", "all")
            shown += f"{known} Separate them with commas (default: {','.join(chosen) or none})."
            settings |= {"type": different_names(choices), "metavar": "NAMES"}
        else:
            shown += "" if is_optional else " (default: %(default)s)"
            limits = {name: bounds[name] for name in BOUNDS if name in bounds}
            if choices is not None:
                settings["choices"] = choices
            else:
                settings |= {"type": number(**limits) if kind is float else whole(**limits), "metavar": "N"}
        action = parser.add_argument("--" + item.name.replace("_", "-"), **settings)
        # what packages add to the choices is looked up only when help is shown
        action.known, action.help = choices, shown  # type: ignore[attr-defined]


def add_chosen_section(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str],
    option: str,
    choices: Mapping[str, Any],
    default: str | None = None,
) -> None:
    """Add the options of the section that `option` names on the command line, as in ``--learner mira``."""
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    first.add_argument(f"--{option}", default=default, dest="name")
    name = None
    with contextlib.suppress(argparse.ArgumentError):
        name = first.parse_known_args(arguments)[0].name
    if name is not None and name in choices:
        try:
            add_section_arguments(parser.add_argument_group(f"{option} {name}"), choices[name])
        except argparse.ArgumentError as error:
            raise InputError(f"{option} '{name}' cannot have this key: {error}") from None


def section_of(kind: Any, options: argparse.Namespace) -> Any:
    """Return a section with the values of parsed options: the inverse of `plan.commands.options_of`."""
    return kind(**{item.name: getattr(options, item.name) for item in fields(kind)})


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
    by = "score that chooses the epoch (default: %(default)s); others, of plain text, need the next three"
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
