"""``itersel warm-up``: compile all kernels into the cache, by running the steps of `warm_up_steps`.

Here: who compiles them and when, who waits, and in which processes the steps run.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import fcntl
import io
import multiprocessing
import os
import pickle
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from itersel.cli.signals import INTERRUPTED
from itersel.compile.cache_folder import CACHE_VARIABLE, cache_folder, make_writable
from itersel.compile.numba_versions import is_plain, numba_config, plain_notice
from itersel.errors import InputError
from itersel.run.atomic import remove_leftovers
from itersel.run.progress import Clock, duration, signs_of_life

if TYPE_CHECKING:
    from itersel.cli.warm_up_steps import WarmUpStep

# It compiles them itself; see `add_command`.
RUNS_KERNELS = False

# Set by the workflow: the first job on a kind of machine compiles the kernels for all others.
WARM_UP_VARIABLE = "ITERSEL_WARM_UP"
# Set by the workflow, too, which itself says what `say_if_plain` would say in every job.
RUN_VARIABLE = "ITERSEL_RUN"
# Signs of life.
PREPARING = "preparing to compile kernels"
SIGN = "compiling kernels"
WAITING = "waiting for the kernels"
COMPILING = "compiling kernels, once for this machine and version"
# A step that spends less on compilation says nothing.
SILENT_SECONDS = 1.5
# The command line: arguments in, exit status out.
Main = Callable[[Sequence[str]], int]


def _add_warm_up(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compile all kernels into the cache ($ITERSEL_CACHE, or else the user's cache folder), so that jobs "
        "that start together do not each compile them. Kernels that are already in the cache are only loaded."
    )


def _warm_up(options: argparse.Namespace) -> None:
    say_if_plain()
    warm_up(options.main)
    _say(f"kernels are in {cache_folder()}")


def warm_up(main: Main) -> None:
    """Run the steps, and mark the cache; kernels are compiled for the types of arrays that files give."""
    make_writable(cache_folder())
    remove_leftovers(cache_folder())
    start = time.monotonic()
    was_warm = is_warm()
    if not was_warm:
        _say(f"{COMPILING}; about a minute")
    with _no_inner_warm_up(), tempfile.TemporaryDirectory() as folder:
        _steps(Path(folder), main)
    _marker().touch()
    if not was_warm:
        _say(f"kernels compiled in {duration(time.monotonic() - start)}")


@contextlib.contextmanager
def _no_inner_warm_up() -> Iterator[None]:
    """Let the steps of a warm-up not wait for its lock."""
    before = os.environ.get(WARM_UP_VARIABLE)
    os.environ[WARM_UP_VARIABLE] = "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ[WARM_UP_VARIABLE]
        else:
            os.environ[WARM_UP_VARIABLE] = before


def warm_up_once(main: Main) -> None:
    """Compile all kernels, if the workflow asks for it and no job has done so for this kind of machine.

    In the plain way, commands outside of workflows do the same, because processes that fill numba's cache at
    the same time can mix up its files.

    Jobs that start in the meantime wait. If the process that holds the lock dies, the next one takes over. On
    a file system without locks, each job compiles for itself, which takes longer: into the same folder, or,
    in the plain way, into one of its own.
    """
    if not _is_wanted() or is_warm():
        return

    make_writable(cache_folder())
    with _marker().with_suffix(".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"waiting for another job that compiles the kernels into {cache_folder()}")
            with signs_of_life(WAITING):
                fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError:  # no locks here
            if is_plain():
                _use_own_cache()

        if not is_warm():
            warm_up(main)


def _use_own_cache() -> None:
    """Let this process and those that it starts have a cache that is removed when it ends."""
    advice = "`itersel warm-up` compiles them once for all"
    _say(f"kernels are compiled for this process alone: {cache_folder()} has no file locks; {advice}")
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    os.environ[CACHE_VARIABLE] = folder.name


def _is_wanted() -> bool:
    wanted = os.environ.get(WARM_UP_VARIABLE)
    return is_plain() and not numba_config.DISABLE_JIT if wanted is None else wanted != "0"


def say_if_plain() -> None:
    """Say that kernels are compiled in the plain way, if they are; for its jobs, a workflow says it once."""
    if RUN_VARIABLE not in os.environ and (notice := plain_notice()):
        _say(notice)


def is_warm() -> bool:
    """Return whether all kernels have been compiled for this machine and version."""
    return _marker().exists()


class Announcer:
    """Says that a step compiles kernels, and at the end how long it took; silent if it takes no time."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._depth = 0
        self._begin = 0.0
        self._seconds = 0.0
        self._is_said = False

    def on_start(self, event: object) -> None:
        """Note that a kernel is compiled; its compilation includes the kernels that it calls."""
        now = self._clock()
        if self._depth == 0:
            self._begin = now
        self._depth += 1
        if not self._is_said and self._seconds + now - self._begin >= SILENT_SECONDS:
            self._is_said = True
            _say(f"{COMPILING}; up to a minute (`itersel warm-up` compiles all of them)")

    def on_end(self, event: object) -> None:
        """Note that a kernel has been compiled."""
        self._depth -= 1
        if self._depth == 0:
            self._seconds += self._clock() - self._begin

    def close(self) -> None:
        """Say how long it took."""
        if self._is_said:
            _say(f"kernels compiled in {duration(self._seconds)}")


@contextlib.contextmanager
def announced_compilation() -> Iterator[None]:
    """Say so if the block compiles kernels for a while, as far as numba reports it."""
    try:
        from numba.core import event
    except ImportError:  # an untested version
        yield
        return

    class Listener(Announcer, event.Listener):
        """What numba accepts."""

    announcer = Listener()
    with event.install_listener("numba:compile", announcer), contextlib.closing(announcer):
        yield


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _marker() -> Path:
    """Return the file that marks a complete cache."""
    return cache_folder() / "all.warm"


def _steps(folder: Path, main: Main) -> None:
    """Run every step; on several cores in two processes, of which the second takes longer."""
    from itersel.cli.warm_up_steps import LISTS, learning_steps

    if not _may_fork():
        with signs_of_life(SIGN):
            _prepare(folder, main)
            _run_steps([*LISTS, *learning_steps()], folder, main)
        return
    # what the second reads is made without compiling anything
    (folder / "again").mkdir()
    _run_processes([partial(_prepare_interpreted, folder, main)], PREPARING)
    first = partial(_prepare, folder / "again", main, LISTS)
    second = partial(_run_steps, learning_steps(), folder, main)
    _run_processes([first, second], SIGN)


def _may_fork() -> bool:
    """Return whether two processes are better than one, and safe."""
    # where processors cannot be counted, as on macOS, one process is right
    has_cores = len(getattr(os, "sched_getaffinity", lambda _: {0})(0)) > 1
    # a forked process has the locks of other threads, but not the threads; and see `warm_up_once` for numba's
    # own cache
    return has_cores and threading.active_count() == 1 and not is_plain()


def _prepare_interpreted(folder: Path, main: Main) -> None:
    # nothing is tested here, and checks would take most of the time
    from itersel.compile.interpreted import leave_indices_unchecked

    leave_indices_unchecked()
    numba_config.DISABLE_JIT = 1
    _prepare(folder, main)


def _run_processes(calls: Sequence[Callable[[], None]], sign: str = SIGN) -> None:
    """Make each call in a separate process and raise the first error, after all processes have ended."""
    context = multiprocessing.get_context("fork")
    running = []
    for call in calls:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_send_error, args=(call, sender), daemon=True)
        process.start()
        # before the next process is forked, which would hold it open
        sender.close()
        running.append((process, receiver))

    try:
        # starts a thread, which must not exist before the last fork
        with signs_of_life(sign):
            for _, receiver in running:
                try:
                    received = receiver.recv_bytes()
                except EOFError:
                    raise InputError("the kernels could not be compiled: a process was killed") from None
                if received:
                    raise pickle.loads(received)
    except BaseException:
        for process, _ in running:
            process.terminate()
        raise
    finally:
        for process, _ in running:
            process.join()


def _send_error(call: Callable[[], None], sender: Connection) -> None:
    """Make a call, and send the error that it ends with, or nothing in zero bytes."""
    # the process that waits is interrupted, too
    with contextlib.suppress(KeyboardInterrupt):
        try:
            call()
            answer = b""
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # every command loads this module, and no result depends on it
            from itersel.run.processes import packed_error

            answer = packed_error(error)
        sender.send_bytes(answer)


def _prepare(folder: Path, main: Main, further: Sequence[WarmUpStep] = ()) -> None:
    from itersel.cli.warm_up_steps import PREPARATION, write_files

    write_files(folder)
    _run_steps([*PREPARATION, *further], folder, main)


def _run_steps(steps: Iterable[WarmUpStep], folder: Path, main: Main) -> None:
    for step in steps:
        # warnings about a corpus of four sentences say nothing to anyone
        with contextlib.redirect_stderr(io.StringIO()) as messages:
            status = main(step.words(folder))
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        if status:
            raise InputError(f"the kernels could not be compiled: {messages.getvalue().strip()}")
