"""The types of arguments that are not the keys of settings: how each is parsed, and what it can be."""

from __future__ import annotations

import os
import re

from itersel.config.command_line import refuse, whole
from itersel.keys import MAX_SEED, MIN_SEED

# The maximum number of seeds of a command.
MAX_SEEDS = 1000

positive = whole(1)
not_negative = whole(0)
seed = whole(MIN_SEED, MAX_SEED)


def seeds(text: str) -> tuple[int, ...]:
    """Parse two or more different seeds, such as ``1-5`` or ``1,7,9``."""
    found: list[int] = []
    if re.fullmatch(r"[0-9]{1,18}(-[0-9]{1,18})?(,[0-9]{1,18}(-[0-9]{1,18})?)*", text):
        for part in text.split(","):
            first, _, last = part.partition("-")
            begin, end = seed(first), seed(last or first)
            if end < begin:
                found.clear()
                break
            # a few too many rather than billions
            found += range(begin, min(end, begin + MAX_SEEDS) + 1)
    if not 2 <= len(found) <= MAX_SEEDS or len({*found}) < len(found):
        refuse(text, f"a list of 2 to {MAX_SEEDS} different seeds, such as 1-5 or 1,7,9")
    return tuple(found)


def split(text: str) -> str:
    """Parse the name of a split, or ``hash``."""
    from itersel.corpus.text_names import SPLITS, is_split

    if not is_split(text):
        refuse(text, f"a split: {', '.join(SPLITS)}, test.NAME, devtest.NAME, or hash")
    return text


def output_file(text: str) -> str:
    """Parse the name of a file to write, which must not be a folder."""
    if not text or text.endswith("/") or os.path.isdir(text):
        refuse(text, "the name of a file")
    return text


def named_file(text: str) -> tuple[str, str]:
    """Parse ``NAME=FILE``."""
    name, _, path = text.partition("=")
    if not name or not path:
        refuse(text, "NAME=FILE")
    return name, path
