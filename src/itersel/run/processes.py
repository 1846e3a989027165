"""A function applied to blocks by several processes, with its results in the order of the blocks.

Processes are spawned, not forked, so they inherit no locks and share only mapped files. For each process, a
thread of the parent sends one block after another; the threads take blocks in turn.

A pool of `concurrent.futures` would be shorter, but if a process is killed while it sends or receives, such a
pool may wait for the rest forever, even when the program ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import Queue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from itersel.errors import InputError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

Given = TypeVar("Given")
Result = TypeVar("Result")
# Returns the function; called once in each process.
Make = Callable[[], Callable[[Given], Result]]

AHEAD = 4
KILLED = "a process was killed; is there enough memory? Try fewer --processes"


def map_blocks(make: Make[Given, Result], blocks: Iterator[Given], processes: int) -> Iterator[Result]:
    """Yield the results of a function for blocks, in order; with one process, this one does the work.

    No block is None. Several processes get `make` and blocks, and send back results, which are neither None
    nor exceptions. Errors of `blocks`, `make` and the function are raised again; if a process was killed, it
    is an InputError.
    """
    if processes == 1:
        yield from map(make(), blocks)
        return
    pool = _Pool(make, blocks, processes)
    try:
        while (result := pool.results.get().result()) is not None:
            yield result
    finally:
        pool.end()


class _Pool(Generic[Given, Result]):
    """Processes, their threads, and the results of blocks that have been taken; None follows the last."""

    def __init__(self, make: Make[Given, Result], blocks: Iterator[Given], processes: int) -> None:
        self._make = make
        self._blocks = blocks
        # The queue is bounded, so that blocks are not read far ahead of the consumer of the results.
        self.results: Queue[Future[Result | None]] = Queue(AHEAD * processes)

        self._reading = threading.Lock()
        self._starting = threading.Lock()
        # If kernels are not compiled yet, the first process compiles them for all.
        self._first_done = threading.Event()
        self._context = multiprocessing.get_context("spawn")
        self._running: list[multiprocessing.process.BaseProcess] = []
        self._ended = False

        # Daemons, because they may be waiting for input that never comes.
        for number in range(processes):
            threading.Thread(target=self._feed, args=(number,), daemon=True).start()

    def end(self) -> None:
        """End all processes and, unless they are waiting for input, all threads."""
        with self._starting:
            self._ended = True
        self._first_done.set()
        for process in self._running:
            process.terminate()
        for process in self._running:
            process.join()
        # a thread may be waiting for space
        while not self.results.empty():
            self.results.get()

    def _feed(self, number: int) -> None:
        """Send blocks to one process, and store the results."""
        if number:
            self._first_done.wait()

        connection: Connection | None = None
        while taken := self._take():
            future, block = taken
            try:
                sent = ForkingPickler.dumps(block)
                if connection is None:
                    connection = self._start()
                result: Result | Exception = ForkingPickler.loads(_exchange(connection, sent))
            except Exception as error:  # whatever it is, the consumer waits for it
                result = error

            if isinstance(result, Exception):
                future.set_exception(result)
                break
            future.set_result(result)
            self._first_done.set()

        self._first_done.set()

    def _take(self) -> tuple[Future[Result | None], Given] | None:
        """Return the next block and the place of its result; None at the end, or if it cannot be read."""
        with self._reading:
            future: Future[Result | None] = Future()
            self.results.put(future)
            try:
                block = None if self._ended else next(self._blocks, None)
                if block is not None:
                    return future, block
                future.set_result(None)
            except Exception as error:
                future.set_exception(error)
            return None

    def _start(self) -> Connection:
        """Start a process, and return the connection to it; an error if no more results are wanted."""
        with self._starting:
            if self._ended:
                raise InputError(KILLED)

            try:
                made = bytes(ForkingPickler.dumps(self._make))
                here, there = self._context.Pipe()
                process = self._context.Process(target=_work, args=(there, made), daemon=True)
                process.start()
            except OSError as error:
                message = f"cannot start another process ({error.strerror}); try fewer --processes"
                raise InputError(message) from None
            self._running.append(process)

        there.close()
        return here


def _exchange(connection: Connection, sent: Buffer) -> bytes:
    """Send a message to a process, and return its answer."""
    try:
        connection.send_bytes(sent)
        return connection.recv_bytes()
    except (EOFError, OSError):
        raise InputError(KILLED) from None


def _work(connection: Connection, made: bytes) -> None:
    """Apply the function to blocks until there are no more; errors go back like results.

    Everything is sent as bytes: what cannot be packed or unpacked is an error, too, and does not end the
    process.
    """
    # Ctrl-C reaches all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    function: Callable[[Any], object] | None = None

    while True:
        try:
            received = connection.recv_bytes()
        except EOFError:
            return

        try:
            if function is None:
                function = ForkingPickler.loads(made)()
            answer = bytes(ForkingPickler.dumps(function(ForkingPickler.loads(received))))
        except BaseException as error:  # raised again by the parent
            answer = packed_error(error)

        # the parent may have been killed
        with contextlib.suppress(BrokenPipeError):
            connection.send_bytes(answer)


def packed_error(error: BaseException) -> bytes:
    """Return an error as bytes for another process, which is also shown where it was raised.

    Errors that cannot be packed, and those that end a process without being an Exception, become a
    RuntimeError with their text.
    """
    where = "".join(traceback.format_exception(error))
    try:
        if isinstance(error, Exception):
            error.add_note(where)
            content = bytes(ForkingPickler.dumps(error))
            if type(ForkingPickler.loads(content)) is type(error):
                return content
    except Exception:
        pass

    other = RuntimeError("".join(traceback.format_exception_only(error)).partition("\n")[0])
    other.add_note(where)
    return bytes(ForkingPickler.dumps(other))
