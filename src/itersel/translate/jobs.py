"""Translation by several processes, with output in input order.

Processes are spawned, not forked, so they inherit no locks and share only mapped files. For each process, a
thread of the parent sends one block after another; the threads take blocks in turn.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import NamedTuple

from itersel.errors import InputError
from itersel.storage.formats import FilePath
from itersel.translate.document import Details
from itersel.translate.system import load_system
from itersel.translate.translator import Block, Translator

AHEAD = 4
KILLED = "a process was killed while it translated; is there enough memory? Try fewer --jobs"


class Job(NamedTuple):
    """What each process needs to know.

    Attributes
    ----------
    system
        Folder or bundle.
    input
        Name of the text, for messages.
    keep_tokens, details
        See `itersel.translate.translator.Translator`.
    """

    system: FilePath
    input: FilePath
    keep_tokens: bool
    details: Details | None


def translate_blocks(blocks: Iterator[Block], job: Job, processes: int) -> Iterator[list[str]]:
    """Yield lists of translations in order: a line of text or JSON for each line of the blocks.

    Raises
    ------
    InputError
        If reading `blocks` or translating fails, or a process was killed.
    """
    # with any number of jobs, so errors in the system are reported before any text is read
    system = load_system(job.system)
    if processes == 1:
        translator = Translator(system, job.keep_tokens, job.details)
        for block in blocks:
            # one line at a time, so each translation is available as soon as possible
            for line in translator.translate(block, job.input):
                yield [line]
        return
    del system
    with _Pool(blocks, job, processes) as pool:
        yield from pool.results()


class _Pool:
    """Processes, their threads, and translations that have not been yielded yet."""

    def __init__(self, blocks: Iterator[Block], job: Job, processes: int) -> None:
        self._blocks, self._job = blocks, job
        self._taken = self._yielded = 0
        # Blocks that may wait for the consumer of the translations.
        self._ahead = AHEAD * processes
        self._reading, self._changed = threading.Lock(), threading.Condition()
        self._done: dict[int, list[str] | Exception | None] = {}
        # If kernels are not compiled yet, the first process compiles them for all.
        self._first_done = threading.Event()
        self._context = multiprocessing.get_context("spawn")
        self._running: list[multiprocessing.process.BaseProcess] = []
        self._ended = False
        # Daemons, because they may be waiting for input that never comes.
        self._threads = [
            threading.Thread(target=self._feed, args=(number,), daemon=True) for number in range(processes)
        ]

    def __enter__(self) -> _Pool:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            running = list(self._running)
        self._first_done.set()
        for process in running:
            process.terminate()
        for process in running:
            process.join()

    def results(self) -> Iterator[list[str]]:
        """Yield translations; reraises the errors of reading and translating."""
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
        """Send blocks to one process, and store the translations."""
        if number:
            self._first_done.wait()
        connection: Connection | None = None
        while taken := self._take():
            place, block = taken
            result: list[str] | Exception
            try:
                if connection is None:
                    connection = self._start()
                connection.send(block)
                result = connection.recv()
            except InputError as error:
                result = error
            except (EOFError, OSError):
                result = InputError(KILLED)
            self._put(place, result)
            self._first_done.set()
            if isinstance(result, Exception):
                return

    def _take(self) -> tuple[int, Block] | None:
        """Return the next block and its number; None at the end of the text, or if it cannot be read."""
        with self._reading:
            with self._changed:
                self._changed.wait_for(lambda: self._ended or self._taken < self._yielded + self._ahead)
            if self._taken < 0 or self._ended:
                return None
            place, self._taken = self._taken, self._taken + 1
            result: Exception | None = None
            try:
                if block := next(self._blocks, None):
                    return place, block
            except Exception as error:
                result = error
            self._taken = -1
        self._put(place, result)
        self._first_done.set()
        return None

    def _put(self, place: int, result: list[str] | Exception | None) -> None:
        with self._changed:
            self._done[place] = result
            self._changed.notify_all()

    def _start(self) -> Connection:
        """Start a process, and return the connection to it.

        Raises
        ------
        InputError
            If the system refuses another process.
        EOFError
            If no more translations are wanted.
        """
        with self._changed:
            if self._ended:
                raise EOFError
            try:
                here, there = self._context.Pipe()
                process = self._context.Process(target=_work, args=(there, self._job), daemon=True)
                process.start()
            except OSError as error:
                raise InputError(
                    f"cannot start another process ({error.strerror}); try fewer --jobs"
                ) from None
            self._running.append(process)
        there.close()
        return here


def _work(connection: Connection, job: Job) -> None:
    """Translate blocks until there are no more; errors go back like translations."""
    # Ctrl-C reaches all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    translator: Translator | None = None
    while True:
        try:
            block = connection.recv()
        except EOFError:
            return
        try:
            if translator is None:
                translator = Translator(load_system(job.system), job.keep_tokens, job.details)
            result: list[str] | Exception = list(translator.translate(block, job.input))
        except (InputError, OSError, MemoryError) as error:
            result = error
        connection.send(result)
