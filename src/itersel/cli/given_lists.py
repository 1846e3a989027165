"""Whether a step decodes sentences, or has given lists: n-best lists of another decoder."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_optional_files


def add_language_model(parser: argparse._ActionsContainer) -> None:
    """Add the option for the language model, which `has_given_lists` reads."""
    model = {"--language-model FILE": "compiled language model; none for lists of another decoder"}
    add_optional_files(parser, model)


def has_given_lists(options: argparse.Namespace) -> bool:
    """Whether there is no language model to decode with, so that files contain given lists.

    A run passes none if it has given lists (`itersel.config.splits.has_given_lists`). Then the settings of a
    step neither are nor contain an `itersel.config.search.Search`; what the step calls asks only for that.
    """
    return not options.language_model
