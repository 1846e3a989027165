"""Whether a step decodes sentences, or has n-best lists of another decoder instead."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_optional_files


def add_language_model(parser: argparse._ActionsContainer) -> None:
    """Add the option for the language model, which `has_given_lists` reads."""
    model = {"--language-model FILE": "compiled language model; none for lists of another decoder"}
    add_optional_files(parser, model)


def has_given_lists(options: argparse.Namespace) -> bool:
    """Whether there is no language model to decode with, so that files contain lists of another decoder.

    Their settings have a class of their own, by which the code of the steps recognises them.
    """
    return not options.language_model
