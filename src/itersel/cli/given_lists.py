"""Whether a step decodes sentences, or has given lists: n-best lists of another decoder."""

from __future__ import annotations

import argparse
from typing import TypeVar

from itersel.cli.arguments import add_optional_files

D = TypeVar("D")
L = TypeVar("L")


def add_language_model(parser: argparse._ActionsContainer) -> None:
    """Add the option for the language model, which `kind_of_settings` reads."""
    model = {"--language-model FILE": "compiled language model; none for lists of another decoder"}
    add_optional_files(parser, model)


def kind_of_settings(
    options: argparse.Namespace, of_decoder: type[D], of_lists: type[L]
) -> type[D] | type[L]:
    """Return the settings of a step: of our decoder or, without a language model for it, of given lists.

    All steps that take a language model decide this here, and a run in
    `itersel.config.splits.has_given_lists`: it passes a language model unless it has given lists. What a step
    calls asks which of the two its settings are.
    """
    return of_decoder if options.language_model else of_lists
