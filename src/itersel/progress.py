"""Progress on standard error, for people only: nothing is written where it is not a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")

SECONDS = 0.5  # between two updates


def progress(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Yield `items`, and show how far it is and how long it takes still."""
    if not sys.stderr.isatty():
        yield from items
        return
    start = shown = time.monotonic()
    for number, item in enumerate(items):
        yield item
        now = time.monotonic()
        if now - shown >= SECONDS:
            rate = (number + 1) / (now - start)
            left = (len(items) - number - 1) / rate
            status = f"{what}: {number + 1} of {len(items)}, {rate:.1f}/s, {left:.0f} s left"
            sys.stderr.write(f"\r{status} \033[K")
            sys.stderr.flush()
            shown = now
    sys.stderr.write("\r\033[K")


def show_count(number: int | None, what: str = "") -> None:
    """Show how many of an unknown number are done; None: show it no more."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" if number is None else f"\r{number:,} {what}\033[K")
        sys.stderr.flush()
