"""Ctrl-C and SIGTERM: remove temporary files before ending, undisturbed by a second signal."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

# Exit statuses of processes ended by a signal, as in shells.
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM

# Further signals are ignored for this long: impatient users send two, and the second must not interrupt the
# removal of temporary files. Later ones count again, because Python may lose an exception (in `__del__`).
QUIET_SECONDS = 3.0

_last: dict[str, float] = {}


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed just now: libraries being imported turn it into other errors."""
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
    """Turn SIGTERM (which clusters send before killing) and SIGINT into exceptions, once, in this context."""
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
    """Turn the signals into exceptions until the process ends; returns the previous handlers by signal."""
    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, _end)}
    # processes that a shell starts in the background ignore Ctrl-C; keep that
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, _end)
    return before  # type: ignore[return-value]


def exit_process(status: int) -> NoReturn:
    """End the process with `status`; Ctrl-C no longer interrupts the shutdown of the interpreter."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(status)
