"""Progress on standard error: a line that updates on a terminal, elsewhere at most one line per minute.

Jobs write standard error to a log, so `tail -f` shows how far a job has got. A job that finishes within a
minute writes nothing.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, TypeVar, cast

Item = TypeVar("Item")
# Returns seconds since any fixed time.
Clock = Callable[[], float]

# Seconds between two updates.
TERMINAL_SECONDS = 0.5
LOG_SECONDS = 60.0
# After this long without a line, a step reports that it is still running. Longer than LOG_SECONDS, because
# the lines of `progress` say more.
SILENT_SECONDS = 72.0


class Display:
    """Shows a changing text on standard error at a limited rate."""

    # When this process last showed something, by the stream's `id`.
    last_shown: ClassVar[dict[int, float]] = {}

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._stream = sys.stderr
        self._terminal = self._stream.isatty()
        self._start = self._shown = clock()

    def due(self) -> float | None:
        """Return the seconds since the start if it is time to show something, else None."""
        now = self._clock()
        wait = TERMINAL_SECONDS if self._terminal else LOG_SECONDS
        return now - self._start if now - self._shown >= wait else None

    def show(self, text: str) -> None:
        """Show a text; on a terminal it replaces the previous one."""
        self._shown = self._clock()
        Display.last_shown[id(self._stream)] = self._shown
        self._write(f"\r{text} \033[K" if self._terminal else f"{text}\n")

    def clear(self) -> None:
        """Clear the line on a terminal."""
        if self._terminal:
            self._write("\r\033[K")

    def watch(self, what: str, ended: threading.Event) -> None:
        """Write a line whenever nothing has been shown for `SILENT_SECONDS`, until `ended`.

        What is written elsewhere does not count, such as messages of a step that are collected.
        """
        while not ended.wait(SILENT_SECONDS / 12):
            now = self._clock()
            last = Display.last_shown.get(id(self._stream), self._start)
            if now - max(self._start, last) >= SILENT_SECONDS:
                self.show(f"{what}: running for {duration(now - self._start)}")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def progress(
    items: Iterable[Item],
    what: str,
    count: int | None = None,
    status: Callable[[], str] | None = None,
    clock: Clock = time.monotonic,
) -> Iterator[Item]:
    """Yield `items`, and show how many are done, the rate, and the time left.

    Their number is `count`, by default their length; `status` returns additional text to show.
    """
    total = len(cast(Sequence[Item], items)) if count is None else count
    display = Display(clock)
    for number, item in enumerate(items, 1):
        yield item
        if seconds := display.due():
            each = seconds / number
            rate = f"{1 / each:.1f}/s" if each < 1 else f"{each:.1f} s each"
            left = duration((total - number) * each)
            further = f", {status()}" if status else ""
            display.show(f"{what}: {number:,} of {total:,}, {rate}, {left} left{further}")
    display.clear()


def count_up(
    items: Iterable[Item], what: str, size: Callable[[Item], int], clock: Clock = time.monotonic
) -> Iterator[Item]:
    """Yield `items`, whose number is unknown, and show the sum of their sizes so far."""
    display = Display(clock)
    total = 0
    for item in items:
        total += size(item)
        if display.due():
            display.show(f"{total:,} {what}")
        yield item
    display.clear()


@contextlib.contextmanager
def signs_of_life(what: str) -> Iterator[None]:
    """Log that the block is still running whenever nothing else has been shown for a while.

    For steps that spend minutes in one call: a kernel, an optimiser or a subprocess.
    """
    if sys.stderr.isatty():
        yield
        return

    ended = threading.Event()
    # with the present stream, which the block may replace
    thread = threading.Thread(target=Display().watch, args=(what, ended), daemon=True)
    thread.start()

    try:
        yield
    finally:
        # stop first, so that an error message is the last line of the log
        ended.set()
        thread.join()


def duration(seconds: float) -> str:
    """Return a duration in readable form: ``45 s``, ``12 min``, ``3 h 5 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
