"""Whether a step decodes sentences, or has given lists: n-best lists of another decoder."""

from __future__ import annotations

import argparse
from typing import TypeVar

from itersel.cli.arguments import add_optional_files

D = TypeVar("D")
L = TypeVar("L")


def add_language_model(parser: argparse._ActionsContainer) -> None:
    """Add the option for the language model, from which `has_given_lists` concludes what a step has."""
    model = {"--language-model FILE": "compiled language model; none for lists of another decoder"}
    add_optional_files(parser, model)


def has_given_lists(options: argparse.Namespace) -> bool:
    """Return whether a step has given lists.

    All steps decide this here, and a run in `itersel.config.splits.has_given_lists`. With given lists, a run
    passes `--nbest` to the step that divides text, and no language model to the steps that may decode.
    """
    # first, because of steps with both options, where --nbest only names lists to look up numbers in
    if "language_model" in options:
        return not options.language_model
    return bool(options.nbest)


def kind_of_settings(
    options: argparse.Namespace, of_decoder: type[D], of_lists: type[L]
) -> type[D] | type[L]:
    """Return the settings of a step: of given lists, or of our own decoder and its sentences.

    What a step calls looks at the class of its settings.
    """
    return of_lists if has_given_lists(options) else of_decoder
