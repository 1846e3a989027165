"""What the commands on n-best lists of any decoder share: the options that name them, and warnings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from itersel.cli.arguments import add_files, add_options, named_file
from itersel.errors import InputError


def add_nbest(parser: argparse._ActionsContainer) -> None:
    """Add the options for n-best lists, and features in addition to those in the lists."""
    lists = (
        "n-best lists of any decoder, such as lists of several iterations: files, plain or compressed, or "
        "folders of files"
    )
    add_files(parser, {"--nbest FILE": lists}, required=True)
    feature = "a further feature: a number for each line of the lists, in their order; may be repeated"
    add_options(parser, {"--feature NAME=FILE": feature}, type=named_file, action="append", default=[])


def features_of(given: Sequence[tuple[str, str]], option: str = "--feature") -> dict[str, str]:
    """Return the files of an option such as ``--feature NAME=FILE``, by name."""
    found = dict(given)
    if len(found) < len(given):
        raise InputError(f"{option} gives a name twice; each needs a name of its own")
    return found


def warn(step: str, problem: str, names: Sequence[str]) -> None:
    """Warn of a problem with these features."""
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    print(f"itersel {step}: warning: {problem}: {shown}", file=sys.stderr)
