"""Tables in several formats, chosen by the names of the output files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import TypeVar

from itersel.cli.arguments import output_file
from itersel.errors import InputError

FORMATS = (".txt", ".tsv", ".json")

Table = TypeVar("Table")
Form = Callable[[Table], list[str]]


def add_formats(parser: argparse.ArgumentParser) -> None:
    """Add the option for the output files of a table."""
    parser.add_argument(
        "--output",
        nargs="+",
        type=output_file,
        required=True,
        help="output files; the name determines the format: .txt, .tsv, .json",
    )


def write_formats(paths: list[str], table: Table, text: Form[Table], tsv: Form[Table]) -> None:
    """Write a table to files.

    Parameters
    ----------
    paths
        Output files, whose names determine the formats.
    table
        The table as plain values, which are the content of the JSON.
    text, tsv
        Functions that return the lines of the table in these formats.

    Raises
    ------
    InputError
        If the name of a file ends in none of the `FORMATS`; no file is written then.
    """
    from itersel.storage.files import write_lines

    forms = dict(zip(FORMATS, (text, tsv, _json), strict=True))
    chosen = []
    for path in paths:
        suffix = next((suffix for suffix in FORMATS if path.endswith(suffix)), None)
        if suffix is None:
            raise InputError(f"the name must end in {', '.join(FORMATS)}", path)
        chosen.append(forms[suffix])
    for path, form in zip(paths, chosen, strict=True):
        write_lines(path, form(table))


def _json(table: object) -> list[str]:
    return [json.dumps(table, indent=2, ensure_ascii=False)]
