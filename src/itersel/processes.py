"""A function applied to blocks by several processes, with its results in the order of the blocks.

Processes are spawned, not forked, so they inherit no locks and share only mapped files. For each process, a
thread of the parent sends one block after another; the threads take blocks in turn.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

from itersel.errors import InputError

Given = TypeVar("Given")
Result = TypeVar("Result")
# Returns the function; called once in each process.
Make = Callable[[], Callable[[Given], Result]]

AHEAD = 4
KILLED = "a process was killed; is there enough memory? Try fewer --jobs"


def map_blocks(make: Make[Given, Result], blocks: Iterator[Given], processes: int) -> Iterator[Result]:
    """Yield the results of a function for blocks, in order; one process means this one.

    Several get `make` and blocks, and send back results, which are neither None nor exceptions. Errors of
    `blocks`, `make` and the function are raised again; if a process was killed, it is an InputError.
    """
    if processes == 1:
        yield from map(make(), blocks)
        return
    pool = _Pool(make, blocks, processes)
    try:
        yield from pool.results()
    finally:
        pool.end()


class _Pool(Generic[Given, Result]):
    """Processes, their threads, and results that have not been yielded yet."""

    def __init__(self, make: Make[Given, Result], blocks: Iterator[Given], processes: int) -> None:
        self._make, self._blocks = make, blocks
        self._taken = self._yielded = 0
        # Blocks that may wait for the consumer of the results.
        self._ahead = AHEAD * processes
        self._reading, self._changed = threading.Lock(), threading.Condition()
        self._done: dict[int, Result | Exception | None] = {}
        # If kernels are not compiled yet, the first process compiles them for all.
        self._first_done = threading.Event()
        self._context = multiprocessing.get_context("spawn")
        self._running: list[multiprocessing.process.BaseProcess] = []
        self._ended = False
        # Daemons, because they may be waiting for input that never comes.
        for number in range(processes):
            threading.Thread(target=self._feed, args=(number,), daemon=True).start()

    def end(self) -> None:
        """End all processes."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            running = list(self._running)
        self._first_done.set()
        for process in running:
            process.terminate()
        for process in running:
            process.join()

    def results(self) -> Iterator[Result]:
        """Yield the results; reraises the errors of reading and of the function."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._yielded in self._done)
                result = self._done.pop(self._yielded)
            if result is None:
                return
            if isinstance(result, Exception):
                raise result
            yield result
            with self._changed:
                self._yielded += 1
                self._changed.notify_all()

    def _feed(self, number: int) -> None:
        """Send blocks to one process, and store the results."""
        if number:
            self._first_done.wait()
        connection: Connection | None = None
        while taken := self._take():
            place, block = taken
            result: Result | Exception
            try:
                if connection is None:
                    connection = self._start()
                connection.send(block)
                result = connection.recv()
            except (EOFError, OSError):
                result = InputError(KILLED)
            except Exception as error:  # whatever it is, `results` waits for it
                result = error
            self._put(place, result)
            self._first_done.set()
            if isinstance(result, Exception):
                return

    def _take(self) -> tuple[int, Given] | None:
        """Return the next block and its number; None at the end, or if it cannot be read."""
        with self._reading:
            with self._changed:
                self._changed.wait_for(lambda: self._ended or self._taken < self._yielded + self._ahead)
            if self._taken < 0 or self._ended:
                return None
            place, self._taken = self._taken, self._taken + 1
            result: Exception | None = None
            try:
                for block in self._blocks:
                    return place, block
            except Exception as error:
                result = error
            self._taken = -1
        self._put(place, result)
        self._first_done.set()
        return None

    def _put(self, place: int, result: Result | Exception | None) -> None:
        with self._changed:
            self._done[place] = result
            self._changed.notify_all()

    def _start(self) -> Connection:
        """Start a process, and return the connection to it; an EOFError if no more results are wanted."""
        with self._changed:
            if self._ended:
                raise EOFError
            try:
                here, there = self._context.Pipe()
                process = self._context.Process(target=_work, args=(there, self._make), daemon=True)
                process.start()
            except OSError as error:
                message = f"cannot start another process ({error.strerror}); try fewer --jobs"
                raise InputError(message) from None
            self._running.append(process)
        there.close()
        return here


def _work(connection: Connection, make: Make[Given, Result]) -> None:
    """Apply the function to blocks until there are no more; errors go back like results."""
    # Ctrl-C reaches all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    function: Callable[[Given], Result] | None = None
    while True:
        try:
            block = connection.recv()
        except EOFError:
            return
        try:
            if function is None:
                function = make()
            result: Result | Exception = function(block)
        except Exception as error:  # raised again by `results`
            result = error
        # the parent may have been killed
        with contextlib.suppress(BrokenPipeError):
            connection.send(result)
