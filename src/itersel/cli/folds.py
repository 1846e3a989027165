"""The fold whose text a model leaves out: ``--fold F/N``, together with ``--leave-out``."""

from __future__ import annotations

import argparse
import re

from itersel.config.command_line import refuse
from itersel.errors import InputError


def fold(text: str) -> tuple[int, int]:
    """Parse ``F/N``, fold F (from 0) of N (2 or more)."""
    found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    number, folds = map(int, found.groups()) if found else (0, 0)
    if folds < 2 or number >= folds:
        refuse(text, "a fold of two or more: 0/2, 1/2, 0/3, ...")
    return number, folds


def check_fold(options: argparse.Namespace) -> None:
    """Reject --fold without --leave-out, and the reverse."""
    if (options.leave_out is None) != (options.fold is None):
        raise InputError("give --leave-out and --fold together, or neither")
