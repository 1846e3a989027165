"""``itersel warm-up``: compile all kernels into the cache, by running every step on a few sentences."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import io
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from itersel.errors import InputError

SOURCE = ["das haus ist klein .", "das kleine haus", "ein haus ist das", "klein ist das haus ."]
TARGET = ["the house is small .", "the small house", "a house is that", "small is the house ."]
ALIGNMENT = ["0-0 1-1 2-2 3-3 4-4", "0-0 1-1 2-2", "0-0 1-1 2-2 3-3", "0-0 1-1 2-2 3-3 4-4"]


# Set by the workflow: the first job on a kind of machine compiles the kernels for all others.
WARM_UP_VARIABLE = "ITERSEL_WARM_UP"
COMPILING = "compiling kernels, once for this checkout; about 90 s on two idle cores"
# The command line: arguments in, exit status out.
Main = Callable[[Sequence[str]], int]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Compile all kernels into the cache ($ITERSEL_CACHE, or else the user's cache folder), so that jobs "
        "that start together do not each compile them."
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run the steps, whatever the cache holds."""
    from itersel.jit import cache_folder

    start = time.monotonic()
    warm_up(options.main)
    print(f"kernels are in {cache_folder()} ({time.monotonic() - start:.0f} s)", file=sys.stderr)


def warm_up(main: Main) -> None:
    """Run the steps, and mark the cache; kernels are compiled for the types of arrays that files give."""
    os.environ.pop(WARM_UP_VARIABLE, None)  # the steps run here, and would wait for their own lock
    print(COMPILING, file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        _steps(Path(folder), main)
    _marker().parent.mkdir(parents=True, exist_ok=True)
    _marker().touch()


def warm_up_once(main: Main) -> None:
    """Compile all kernels if the workflow wants it and none of its jobs has done so on such a machine.

    Jobs that start meanwhile wait. The lock is that of a process: when it dies, the next one goes on. Where
    the file system has no locks, each job compiles for itself, which takes longer and does no harm.
    """
    if os.environ.pop(WARM_UP_VARIABLE, None) is None or is_warm():
        return
    from itersel.jit import cache_folder

    _marker().parent.mkdir(parents=True, exist_ok=True)
    with _marker().with_suffix(".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"waiting for another job that compiles the kernels into {cache_folder()}"
            print(message, file=sys.stderr, flush=True)
            fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError:
            pass  # no locks here
        if not is_warm():
            warm_up(main)


def is_warm() -> bool:
    """Tell whether all kernels have been compiled for this kind of processor."""
    return _marker().exists()


def announce_compilation() -> None:
    """Say so if a step that was started by hand is about to compile kernels, which takes a while."""
    from numba.core import config

    from itersel.jit import cache_folder

    interpreted: bool = config.DISABLE_JIT  # type: ignore[attr-defined]
    if not interpreted and next(cache_folder().rglob("*.nbc"), None) is None:
        message = "compiling kernels, once for this checkout; this takes a minute or two"
        print(f"{message} (`itersel warm-up` compiles all of them)", file=sys.stderr, flush=True)


def _marker() -> Path:
    """Return the file that is there when the kernels for this kind of processor are."""
    from llvmlite.binding import get_host_cpu_name

    from itersel.jit import cache_folder

    return cache_folder() / f"{get_host_cpu_name()}.warm"


def _steps(folder: Path, main: Main) -> None:
    """Run every step; on several cores in two processes, of which the second takes longer."""
    # where processors cannot be counted, as on macOS, one process is right
    if len(getattr(os, "sched_getaffinity", lambda _: {0})(0)) == 1:
        _prepare(folder, main)
        _learn(folder, main)
        return
    # what the second reads is made without compiling anything
    (folder / "again").mkdir()
    _run_processes([partial(_prepare_interpreted, folder, main)])
    _run_processes([partial(_prepare, folder / "again", main), partial(_learn, folder, main)])


def _prepare_interpreted(folder: Path, main: Main) -> None:
    from numba.core import config

    config.DISABLE_JIT = 1  # type: ignore[attr-defined]
    _prepare(folder, main)


def _run_processes(tasks: Sequence[Callable[[], None]]) -> None:
    """Run each task in a process of its own, and raise the first error; then none of them is left."""
    context = multiprocessing.get_context("fork")
    running = []
    for task in tasks:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_send_error, args=(task, sender), daemon=True)
        process.start()
        # before the next process is forked, which would hold it open
        sender.close()
        running.append((process, receiver))
    try:
        for _, receiver in running:
            try:
                error = receiver.recv_bytes().decode()
            except EOFError:
                error = "the kernels could not be compiled: a process was killed"
            if error:
                raise InputError(error)
    except BaseException:
        for process, _ in running:
            process.terminate()
        raise
    finally:
        for process, _ in running:
            process.join()


def _send_error(task: Callable[[], None], sender: Connection) -> None:
    """Run a task, and send the message of the error that it ends with, if any."""
    error = ""
    try:
        task()
    except InputError as wrong:
        error = str(wrong)
    except KeyboardInterrupt:
        return  # the process that waits is interrupted, too
    sender.send_bytes(error.encode())


def _prepare(folder: Path, main: Main) -> None:
    """Run the steps from text to shards and a language model."""
    path, itersel = partial(os.path.join, folder), partial(_itersel, main)
    for name, lines in (("source", SOURCE), ("target", TARGET), ("alignment", ALIGNMENT), ("ids", "0123")):
        Path(path(name)).write_text("".join(line + "\n" for line in lines))
    itersel("lm", "estimate", "--order", "3", "--input", path("target"), "--output", path("arpa"))
    itersel("lm", "compile", "--input", path("arpa"), "--output", path("lm"))
    itersel("lm", "score", "--model", path("lm"), "--input", path("target"), "--output", path("scores"))
    corpus = ["--source", path("source"), "--target", path("target")]
    itersel("grammar", "index", *corpus, "--alignment", path("alignment"), "--output", path("index"))
    extract = ["--index", path("index"), "--input", path("source"), "--references", path("target")]
    itersel("grammar", "extract", *extract, "--output", path("plain.h5"))
    itersel("grammar", "extract", *extract, "--leave-one-out", path("ids"), "--output", path("loo.h5"))


def _learn(folder: Path, main: Main) -> None:
    """Run the steps that decode and learn."""
    path, itersel = partial(os.path.join, folder), partial(_itersel, main)
    model = ["--model", path("lm")]
    train = ["train", "--shard", path("loo.h5"), *model, "--k-best", "10", "--output", path("shard.h5")]
    for learner in (
        ["perceptron", "--update", "sentence"],
        ["perceptron", "--update", "sequential", "--regularization", "l1", "--strength", "0.1"],
        ["adagrad"],
        ["mira", "--constraints", "hope-fear", "--candidates", "forest"],
        ["mira", "--constraints", "all"],
    ):
        itersel(*train, "--learner", *learner)
    Path(path("list")).write_text(path("shard.h5") + "\n")
    mix = ["mix", "--inputs", path("list"), "--shards", "1", "--epoch", "1", "--mixing", "selection"]
    itersel(*mix, "--select", "10", "--matrix", path("W.h5"), "--output", path("v.h5"))
    decode = ["decode", "--shard", path("plain.h5"), *model, "--weights", path("v.h5")]
    itersel(*decode, "--k-best", "10", "--output", path("translations"))
    itersel("forest", "--shard", path("loo.h5"), *model, "--output", path("forests.h5"))
    tune = [
        "tune",
        "--lists",
        path("lists"),
        "--shards",
        "1",
        "--iteration",
        "1",
        "--output",
        path("tuned.h5"),
    ]
    Path(path("lists")).write_text(path("forests.h5") + "\n")
    itersel(*tune, "--tuner", "forest-mert")
    for features, tuners in (("dense", ("mert", "pro")), ("all", ("kbest-mira",))):
        lists = ["kbest", "--shard", path("loo.h5"), *model, "--features", features, "--k-best", "10"]
        itersel(*lists, "--output", path("lists.h5"))
        Path(path("lists")).write_text(path("lists.h5") + "\n")
        for tuner in tuners:
            itersel(*tune, "--tuner", tuner)


def _itersel(main: Main, *arguments: str) -> None:
    from itersel.cli.signals import INTERRUPTED

    # warnings about a corpus of four sentences say nothing to anyone
    with contextlib.redirect_stderr(io.StringIO()) as messages:
        status = main(arguments)
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    if status:
        raise InputError(f"the kernels could not be compiled: {messages.getvalue().strip()}")
