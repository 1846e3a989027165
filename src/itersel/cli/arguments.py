"""Argument types, and arguments shared by several steps."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, NoReturn

from itersel.errors import suggest
from itersel.limits import (
    LANGUAGE_PATTERN,
    MAX_PROCESSES,
    SPLITS,
    TEMPLATES,
    TOKENIZERS,
    is_test_set_name,
)
from itersel.numerals import parse_number

MAX_NUMPY_SEED = 2**32 - 1


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


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers within bounds."""
    limit = f"from {least} to {most}" if most is not None else f"of {least} or more"

    def parse(text: str) -> int:
        # int() alone would accept '1_000' and digits of other scripts
        number = int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
        if number is None or number < least or (most is not None and number > most):
            refuse(text, f"a whole number {limit}")
        return number

    return parse


positive = whole(1)
not_negative = whole(0)
seed = whole(0, MAX_NUMPY_SEED)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number of processes."""
    parser.add_argument(
        "--jobs",
        type=whole(1, MAX_PROCESSES),
        default=1,
        metavar="N",
        help="number of processes; the output is the same (default: %(default)s)",
    )


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


def fold(text: str) -> tuple[int, int]:
    """Parse ``F/N``, fold F (from 0) of N (2 or more)."""
    found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    number, folds = map(int, found.groups()) if found else (0, 0)
    if folds < 2 or number >= folds:
        refuse(text, "a fold of two or more: 0/2, 1/2, 0/3, ...")
    return number, folds


def finite(text: str) -> float:
    """Parse a finite number."""
    try:
        number = parse_number(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        refuse(text, "a number")
    return number


def above(least: float) -> Callable[[str], float]:
    """Return a parser of finite numbers above `least`."""

    def parse(text: str) -> float:
        number = finite(text)
        if number <= least:
            refuse(text, f"a number above {least:g}")
        return number

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
    """Add an option for each key of a section, or those named, with its default, bounds and explanation.

    Keys that are ``true`` or ``false`` in the config become flags.
    """
    types = typing.get_type_hints(section)
    for item in fields(section):
        if names and item.name not in names:
            continue
        name, explanation = (
            "--" + item.name.replace("_", "-"),
            item.metadata["explanation"].replace("%", "%%"),
        )
        if types[item.name] is bool:
            parser.add_argument(name, action="store_true", help=explanation)
        elif typing.get_origin(types[item.name]) is tuple:
            chosen: Any = item.default
            choices = item.metadata.get("choices", ())
            known = f" Known: {', '.join(choices)}." if choices else ""
            shown = ",".join(chosen) or ("all" if choices else "none")
            parser.add_argument(
                name,
                type=_different_names(choices) if choices else _no_empty_names,
                default=chosen,
                metavar="NAMES",
                help=f"{explanation}{known} Separate them with commas (default: {shown}).",
            )
        elif "choices" in item.metadata:
            parser.add_argument(
                name,
                choices=item.metadata["choices"],
                default=item.default,
                help=f"{explanation} (default: %(default)s)",
            )
        else:
            parser.add_argument(
                name,
                type=_bounded(types[item.name], item.metadata),
                default=item.default,
                metavar="N",
                help=f"{explanation} (default: %(default)s)",
            )


def add_chosen_section(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str],
    option: str,
    choices: Mapping[str, Any],
    default: str | None = None,
) -> None:
    """Add the options of the config section that the command line names, as in ``--learner mira``.

    Parameters
    ----------
    parser
        Parser of the step.
    arguments
        Command line after the name of the step.
    option, choices, default
        The option that names the section, the sections by name, and the default name.
    """
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    first.add_argument(f"--{option}", default=default, dest="name")
    with contextlib.suppress(argparse.ArgumentError):
        name = first.parse_known_args(arguments)[0].name
        if name in choices:
            add_section_arguments(parser.add_argument_group(f"{option} {name}"), choices[name])


def _different_names(known: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """Return a parser of different names, separated by commas; there may be none."""

    def parse(text: str) -> tuple[str, ...]:
        found = names(text)
        if len(set(found)) != len(found) or not set(found) <= set(known):
            refuse(text, f"a comma-separated list of different names out of {', '.join(known)}")
        return found

    return parse


def _no_empty_names(text: str) -> tuple[str, ...]:
    if not all(text.split(",")):
        refuse(text, "a comma-separated list of names")
    return names(text)


def _bounded(kind: type, bounds: Mapping[str, Any]) -> Callable[[str], Any]:
    """Return a parser of numbers within the bounds of an option."""
    if kind is int:
        return whole(bounds["minimum"], bounds.get("maximum"))
    number = above(bounds["above"]) if "above" in bounds else not_below(bounds["minimum"])
    return not_above(number, bounds["maximum"]) if "maximum" in bounds else number


def not_below(least: float) -> Callable[[str], float]:
    """Return a parser of finite numbers of `least` or more."""

    def parse(text: str) -> float:
        number = finite(text)
        if number < least:
            refuse(text, f"a number of {least:g} or more")
        return number

    return parse


def not_above(parse: Callable[[str], float], most: float) -> Callable[[str], float]:
    """Return a parser that also rejects numbers above `most`."""

    def parse_bounded(text: str) -> float:
        number = parse(text)
        if number > most:
            refuse(text, f"a number of at most {most:g}")
        return number

    return parse_bounded


def add_reference(parser: argparse.ArgumentParser) -> None:
    """Add the option for the reference translations of one text."""
    parser.add_argument(
        "--reference",
        required=True,
        action="append",
        metavar="FILE",
        help="reference translation, one sentence per line, plain or compressed; may be repeated",
    )


def add_text_files(parser: argparse.ArgumentParser, text: str) -> None:
    """Add the input and output options of a step that turns text into text."""
    parser.add_argument(
        "--input", default="-", help=f"{text}, plain or compressed, or - for standard input (default)"
    )
    parser.add_argument(
        "--output",
        type=output_file,
        default="-",
        help="file, plain or compressed, or - for standard output (default)",
    )


def add_tokenize(parser: argparse.ArgumentParser) -> None:
    """Add the option of steps that compute BLEU."""
    parser.add_argument(
        "--tokenize",
        choices=("13a", "none"),
        default="13a",
        help="sacrebleu's tokenisation: 13a as in mteval-v11b, none for tokenised text (default: 13a)",
    )


def add_tokenizer(parser: argparse.ArgumentParser) -> None:
    """Add the option of steps that compute BLEU of detokenised text."""
    parser.add_argument(
        "--tokenizer",
        choices=TOKENIZERS,
        default="13a",
        help="sacrebleu's tokenizer for BLEU of detokenised text (default: 13a)",
    )


def add_randomization_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of steps that test significance."""
    parser.add_argument(
        "--trials", type=positive, default=10_000, help="number of random trials (default: 10000)"
    )
    parser.add_argument("--seed", type=seed, default=1, help="seed of the trials (default: 1)")


def add_templates(parser: argparse._ActionsContainer, default: Sequence[str], meaning: str) -> None:
    """Add the option that names templates of sparse features."""
    shown = ",".join(default) or "all that the shard has"
    parser.add_argument(
        "--templates",
        type=_different_names(TEMPLATES),
        default=tuple(default),
        metavar="A,B,..",
        help=f"{meaning}: {', '.join(TEMPLATES)} (default: {shown})",
    )


def add_tuning_arguments(parser: argparse.ArgumentParser, output: str, settings: Any) -> None:
    """Add the options of steps that decode a shard for tuning.

    Parameters
    ----------
    parser
        Parser of the step.
    output
        Help of ``--output``.
    settings
        The section with the settings of the decoder.
    """
    files = parser.add_argument_group("files")
    files.add_argument("--shard", required=True, metavar="FILE", help="shard.h5 with references")
    files.add_argument("--model", required=True, metavar="FILE", help="compiled language model")
    files.add_argument(
        "--weights",
        metavar="FILE",
        help="weights, .h5 or text (default: fixed weights of the dense features, for the first iteration)",
    )
    files.add_argument("--output", required=True, type=output_file, metavar="FILE", help=output)
    place = parser.add_argument_group("position in the run, recorded in the file")
    place.add_argument(
        "--iteration", type=positive, default=1, metavar="T", help="number of the iteration (default: 1)"
    )
    place.add_argument(
        "--shard-number",
        type=not_negative,
        default=0,
        metavar="Z",
        help="number of the shard, from 0 (default: 0)",
    )
    add_section_arguments(parser.add_argument_group("decoding"), settings)


def refuse(text: str, wanted: str) -> NoReturn:
    """Raise the error for an option whose value is not `wanted`."""
    raise argparse.ArgumentTypeError(f"'{text}' is not {wanted}")
