"""The decision of ``itersel step patience`` whether training has stopped, as steps read it.

After that, a step trains and decodes nothing, but passes on what the previous epoch has.
"""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_optional_files
from itersel.errors import InputError


def add_decision(parser: argparse._ActionsContainer, otherwise: str, passed_on: str = "") -> None:
    """Add the option with the decision whether training has stopped, and what to write `otherwise`."""
    decision = (
        f"output of 'itersel step patience' after the previous epoch: if training has stopped, {otherwise}"
    )
    add_optional_files(parser, {"--decision FILE": decision})
    if passed_on:
        add_optional_files(parser, {"--passed-on FILE": passed_on})


def training_has_stopped(options: argparse.Namespace) -> bool:
    """Return what the file of `add_decision` says; without a file, training continues."""
    from itersel.evaluate.epochs import read_decision

    return options.decision is not None and read_decision(options.decision).stopped


def file_passed_on(options: argparse.Namespace) -> str | None:
    """Return the previous epoch's file if training has stopped; an InputError if no option names it."""
    if not training_has_stopped(options):
        return None
    if options.passed_on is None:
        raise InputError("training has stopped; name the file of the previous epoch with --passed-on")
    path: str = options.passed_on
    return path
