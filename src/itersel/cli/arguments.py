"""Add arguments to a parser by their explanations: values, and files that are read or written."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from itersel.cli.argument_types import output_file


def add_options(parser: argparse._ActionsContainer, options: Mapping[str, str], **settings: Any) -> None:
    """Add options with the same settings, by explanation; a metavar may follow the name, ``--start FILE``."""
    for option, explanation in options.items():
        name, _, metavar = option.partition(" ")
        shown = {**settings, "metavar": metavar} if metavar else settings
        parser.add_argument(name, help=explanation, **shown)


def add_files(parser: argparse._ActionsContainer, options: Mapping[str, str], **settings: Any) -> None:
    """Add options for several files each: they are repeated, or several files follow one option.

    Commands with positional arguments, which would be taken for further files, use the action ``append``.
    """
    add_options(parser, options, **{"nargs": "+", "action": "extend", **settings})


def add_optional_files(
    parser: argparse._ActionsContainer, options: Mapping[str, str], **settings: Any
) -> None:
    """Add options for files that only some jobs have; the workflow gives the others the bare option."""
    add_options(parser, options, nargs="?", **settings)


def add_feature_models(parser: argparse._ActionsContainer, names_key: str) -> None:
    """Add options for the models of features of text; a key says how those of the user are named."""
    aligners = "models of 'itersel align --save', one of each direction, for features of linked words"
    add_files(parser, {"--aligner FILE": aligners}, nargs="*", default=[])
    text_models = "output of 'itersel step text-models', for lexical scores and those of the language model"
    add_optional_files(parser, {"--text-models DIR": text_models})
    user_models = f"your compiled language models, in the order of the key {names_key}"
    add_files(parser, {"--user-model FILE": user_models}, nargs="*", default=[])


def add_output(parser: argparse._ActionsContainer, explanation: str, option: str = "--output FILE") -> None:
    """Add the option for a file that is always written."""
    add_options(parser, {option: explanation}, required=True, type=output_file)
