"""Snakemake's command line and profiles: values that begin with a dash, and errors of one line."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections.abc import Collection
from typing import NoReturn


def join_options(arguments: list[str], names: Collection[str]) -> None:
    """Join options with values that begin with a dash, as in ``--qos``: argparse takes these for options."""
    for number in range(len(arguments) - 2, -1, -1):
        name, value = arguments[number : number + 2]
        if name in names and value.startswith("-"):
            arguments[number : number + 2] = [f"{name}={value}"]


def shorten_errors() -> None:
    """Make Snakemake's errors in options one line, which the page of its usage hides."""
    parsing = sys.modules.get("snakemake.common.argparse")
    if parsing is not None:
        parsing.ArgumentParser.error = _error


def _error(parser: ArgumentParser, message: str) -> NoReturn:
    executor = re.match(r"argument --executor\S*: invalid choice: '(\w[\w-]*)'", message)
    if executor:
        message += f"; for {executor[1]}: pip install snakemake-executor-plugin-{executor[1]}"
    elif message.startswith("unrecognized arguments"):
        message += (
            " (on the command line or in the profile; options of an executor need its package,"
            " snakemake-executor-plugin-NAME)"
        )
    parser.exit(2, f"{parser.prog}: error: {message}\n")
