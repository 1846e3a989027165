"""Pools of processes, and a function applied to blocks by several, with its results in their order."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from queue import Queue
from threading import Thread
from typing import Any, TypeVar

from itersel.errors import InputError

Given = TypeVar("Given")
Result = TypeVar("Result")
# Returns the function; called once in each process.
Make = Callable[[], Callable[[Given], Result]]

AHEAD = 4
KILLED = "a process was killed; is there enough memory? Try fewer --jobs"


@contextmanager
def process_pool(
    processes: int, method: str, make: Make[Any, Any] | None = None
) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool; its processes end with the block, whatever they do, or if this process is killed."""
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context(method), _begin, (make,))
    # private: only Python 3.14 has a public way to end them
    running = pool._processes
    try:
        yield pool
        pool.shutdown()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        ended = list(running.values())
        for process in ended:
            process.terminate()
        for process in ended:
            process.join()


def map_blocks(make: Make[Given, Result], blocks: Iterator[Given], processes: int) -> Iterator[Result]:
    """Yield the results of a function for blocks, in order; one process means this one.

    Several get `make` and blocks, and send back results. Errors of `blocks`, `make` and the function are
    raised again; if a process was killed, it is an InputError.
    """
    if processes == 1:
        yield from map(make(), blocks)
        return
    # Only so many blocks are taken before the consumer of the results wants theirs. None follows the last.
    results: Queue[Future[Result] | None] = Queue(AHEAD * processes)
    # spawned, not forked, so they inherit no locks and share only mapped files
    with process_pool(processes, "spawn", make) as pool:
        # a daemon, because it may be waiting for input that never comes
        Thread(target=_submit, args=(pool, blocks, results), daemon=True).start()
        try:
            while future := results.get():
                yield future.result()
        except BrokenProcessPool:
            raise InputError(KILLED) from None
        finally:
            # the thread may be waiting for space; a pool that has ended takes no further block
            pool.shutdown(wait=False, cancel_futures=True)
            while not results.empty():
                results.get()


def _submit(
    pool: ProcessPoolExecutor, blocks: Iterator[Given], results: Queue[Future[Result] | None]
) -> None:
    """Pass on blocks; an error in reading one takes the place of its result."""
    future: Future[Result] | None = None
    try:
        for block in blocks:
            is_first = future is None
            try:
                future = pool.submit(_apply, block)
            except OSError as error:
                message = f"cannot start another process ({error.strerror}); try fewer --jobs"
                raise InputError(message) from None
            results.put(future)
            if is_first:
                # if kernels are not compiled yet, the first process compiles them for all
                wait([future])
        results.put(None)
    except Exception as error:  # whatever it is, the consumer waits for it
        future = Future()
        future.set_exception(error)
        results.put(future)


def _begin(make: Make[Any, Any] | None) -> None:
    """Prepare a process of a pool."""
    # Ctrl-C reaches all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    global _make
    _make = make


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)


@cache
def _function() -> Callable[[Any], Any]:
    assert _make
    return _make()


def _apply(block: Any) -> Any:
    return _function()(block)


_make: Make[Any, Any] | None = None
