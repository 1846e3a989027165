"""Ctrl-C and SIGTERM: an end that removes temporary files, and that a second signal does not disturb."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

# Statuses of processes that a signal ended, as shells count them.
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM

# So long after a signal others are ignored: whoever is impatient sends two, and the second must not hit the
# removal of temporary files. Later ones count again, for Python may lose an exception (in `__del__`).
QUIET_SECONDS = 3.0

_last: dict[str, float] = {}


def was_interrupted() -> bool:
    """Tell whether Ctrl-C was pressed just now: libraries that are being imported make other errors of it."""
    return _is_quiet("interrupted")


def _is_quiet(what: str) -> bool:
    return time.monotonic() - _last.get(what, -QUIET_SECONDS) < QUIET_SECONDS


def _end(number: int, frame: FrameType | None) -> None:
    if _is_quiet("signal"):
        return
    _last["signal"] = time.monotonic()
    if number == signal.SIGINT:
        _last["interrupted"] = _last["signal"]
        raise KeyboardInterrupt
    raise SystemExit(TERMINATED)


@contextlib.contextmanager
def clean_end() -> Iterator[None]:
    """Turn SIGTERM, which clusters send before they kill, and SIGINT into exceptions, once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = listen()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def listen() -> dict[int, Any]:
    """Do the same until the process ends; returns what was done before at which signal."""
    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, _end)}
    # what a shell starts in the background ignores Ctrl-C, and goes on doing so
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, _end)
    return before  # type: ignore[return-value]


def exit_process(status: int) -> NoReturn:
    """End the process with `status`; Ctrl-C does not disturb the end of the interpreter any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(status)
