"""Tables in several formats, which the names of the output files determine."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Any

from itersel.cli.arguments import add_files, output_file
from itersel.errors import InputError

# How the names of files end.
TABLE_SUFFIXES = (".txt", ".tsv", ".json")
PAPER_SUFFIXES = (".tex", ".md")
PAGE_SUFFIX = ".html"
# Returns the lines of a format.
Form = Callable[[Any], list[str]]


def add_outputs(
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


def write_forms(paths: list[str], content: Any, forms: Mapping[str, Form]) -> None:
    """Write lines in the formats that the names of the files end in; if one has none, no file is written."""
    from itersel.storage.files import write_lines

    chosen: dict[str, Form] = {}
    for path in paths:
        suffix = next((suffix for suffix in forms if path.endswith(suffix)), None)
        if suffix is None:
            raise InputError(f"the name must end in {', '.join(forms)}", path)
        chosen[path] = forms[suffix]
    for path, form in chosen.items():
        write_lines(path, form(content))


def write_table(paths: list[str], table: Any, text: Form, tsv: Form) -> None:
    """Write a table as text, tab-separated values and JSON."""
    write_forms(paths, table, dict(zip(TABLE_SUFFIXES, (text, tsv, json_lines), strict=True)))


def json_lines(table: object) -> list[str]:
    """Return the lines of JSON."""
    return [json.dumps(table, indent=2, ensure_ascii=False)]
