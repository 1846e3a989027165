"""Tables in several formats, which the names of the output files determine."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Any

from itersel.cli.argument_types import output_file
from itersel.cli.arguments import add_files
from itersel.errors import InputError

# How the names of files end.
TABLE_SUFFIXES = (".txt", ".tsv", ".json")
PAPER_SUFFIXES = (".tex", ".md")
PAGE_SUFFIX = ".html"
# Returns the lines of a table in a format.
Formatter = Callable[[Any], list[str]]


def add_table_files(
    parser: argparse.ArgumentParser,
    suffixes: tuple[str, ...],
    required: bool = True,
    has_positional: bool = False,
) -> None:
    """Add the option for the output files."""
    files = {"--output": f"output files; the name determines the format: {', '.join(suffixes)}"}
    # positional arguments would be taken for further files
    several = {"action": "append", "nargs": None} if has_positional else {}
    add_files(parser, files, type=output_file, required=required, default=[], **several)


def write_formats(paths: list[str], content: Any, formatters: Mapping[str, Formatter]) -> None:
    """Write files in the formats that their names imply; if a name implies none, no file is written."""
    from itersel.storage.files import suffix_in, write_lines

    chosen: dict[str, Formatter] = {}
    for path in paths:
        suffix = suffix_in(path, formatters)
        if suffix is None:
            raise InputError(f"the name must end in {', '.join(formatters)}", path)
        chosen[path] = formatters[suffix]
    for path, formatted in chosen.items():
        write_lines(path, formatted(content))


def write_table(
    paths: list[str],
    table: Any,
    text: Formatter,
    tsv: Formatter,
    content: Callable[[Any], object] = lambda table: table,
) -> None:
    """Write a table as text, tab-separated values and JSON, which has its `content`."""
    formatters: tuple[Formatter, ...] = text, tsv, lambda table: json_lines(content(table))
    write_formats(paths, table, dict(zip(TABLE_SUFFIXES, formatters, strict=True)))


def json_lines(table: object) -> list[str]:
    """Return the lines of JSON."""
    return [json.dumps(table, indent=2, ensure_ascii=False)]
