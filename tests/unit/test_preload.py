"""Steps that are handed over to a preloaded process end as if they had been run alone."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.unit.test_learn_algorithms import make_corpus, train_command

from itersel.cli import preload
from itersel.cli.handover import LENGTH, SOCKET_VARIABLE, USAGE_VARIABLE

ITERSEL = [sys.executable, "-m", "itersel.cli.main"]
WAIT = 300


def listen() -> None:
    """Let Ctrl-C reach this process: background processes of a shell ignore it, and tests inherit this."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Preloaded:
    """A preloaded process, and the environment in which steps are handed over to it."""

    def __init__(self, folder: Path) -> None:
        self.usage = folder / "usage"
        # the command tells its variable, and stays until its input ends
        code = f"import os, sys; print(os.environ['{SOCKET_VARIABLE}'], flush=True); sys.stdin.read()"
        self.command = subprocess.Popen(
            [*ITERSEL, "preload", "--", sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(folder)},
            preexec_fn=listen,
        )
        assert self.command.stdout is not None
        self.socket = Path(self.command.stdout.readline().strip())
        [self.server] = psutil.Process(self.command.pid).children()
        self.environment = {
            **os.environ,
            SOCKET_VARIABLE: str(self.socket),
            USAGE_VARIABLE: str(self.usage),
        }

    def start(self, *arguments: str, **settings: Any) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        settings = {"env": self.environment, "preexec_fn": listen, **pipes, **settings}
        return subprocess.Popen([*ITERSEL, *arguments], text=True, **settings)

    def usages(self) -> list[dict[str, float]]:
        """Return what was reported of the steps that were handed over since the last call."""
        lines = self.usage.read_text().splitlines() if self.usage.exists() else []
        self.usage.unlink(missing_ok=True)
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        if self.command.poll() is None:
            self.command.communicate("", timeout=WAIT)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Preloaded]:
    found = Preloaded(tmp_path_factory.mktemp("preloaded"))
    yield found
    found.end()


@pytest.fixture
def preloaded(shared: Preloaded) -> Preloaded:
    shared.usages()
    return shared


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Preloaded]:
    """Return one for a test that ends it."""
    found = Preloaded(tmp_path)
    yield found
    found.end()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    make_corpus(folder)
    return folder


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Return a named pipe; a step that reads it waits until someone writes."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def writer(server: psutil.Process, pipe: Path) -> int:
    """Wait for a step that reads the pipe; it gets nothing until the returned file is closed."""
    end = time.monotonic() + WAIT
    while True:
        try:
            file = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError as error:
            if error.errno != errno.ENXIO or time.monotonic() > end:
                raise
        time.sleep(0.02)
    # a signal that arrives just before Python blocks is handled when the call returns: here, never
    wait_until(lambda: any(is_reading(process.pid, pipe) for process in server.children()))
    return file


def is_reading(process: int, pipe: Path) -> bool:
    """Tell whether a process is blocked in a system call whose first argument is the pipe."""
    folder = Path("/proc", str(process))
    try:
        call = (folder / "syscall").read_text().split()
        return os.readlink(folder / "fd" / str(int(call[1], 16))) == str(pipe)
    except (IndexError, OSError):  # it runs, has ended, or the argument is not a file
        return False


@pytest.fixture
def waiting(preloaded: Preloaded, corpus: Path, pipe: Path) -> Iterator[subprocess.Popen[str]]:
    """Return a process that has handed over a step, which waits for its weights."""
    with decode(preloaded, corpus, pipe) as client:
        file = writer(preloaded.server, pipe)
        yield client
        client.kill()
        os.close(file)


def decode(preloaded: Preloaded, corpus: Path, weights: Path, **settings: Any) -> subprocess.Popen[str]:
    return preloaded.start("decode", *files_of(corpus), "--weights", str(weights), **settings)


def files_of(corpus: Path) -> list[str]:
    return ["--shard", str(corpus / "0.h5"), "--model", str(corpus / "lm.bin")]


@pytest.mark.slow
def test_same_results(preloaded: Preloaded, corpus: Path, tmp_path: Path) -> None:
    """The same bytes, output and statuses, also of steps that fail, in folders of their own."""
    weights = tmp_path / "weights"
    weights.write_text("LanguageModel 1\n")
    commands = [
        train_command(corpus, "--shard", str(corpus / "0.h5"), "--output", "weights.h5"),
        ["train", "--shard", "nothing.h5", "--model", "nothing", "--output", "weights.h5"],
        ["train", "--nothing"],
        ["decode", "--help"],
        [
            "decode",
            "--shard",
            str(corpus / "0.h5"),
            "--model",
            str(corpus / "lm.bin"),
            "--weights",
            str(weights),
        ],
    ]
    alone = {**os.environ, USAGE_VARIABLE: str(preloaded.usage)}
    for number, command in enumerate(commands):
        results = []
        for name, environment in (("alone", alone), ("preloaded", preloaded.environment)):
            folder = tmp_path / f"{name} {number}"
            folder.mkdir()
            process = preloaded.start(*command, cwd=folder, env=environment)
            output = process.communicate()
            files = {path.name: path.read_bytes() for path in folder.iterdir()}
            results.append((process.returncode, output, files))
            assert len(preloaded.usages()) == (name == "preloaded"), command
        assert results[0] == results[1]
        assert results[0][0] == [0, 1, 2, 0, 0][number]
    assert results[0][1][0].count("\n") == 3


def test_usage(own: Preloaded, corpus: Path, tmp_path: Path) -> None:
    """What is loaded is counted once, as part of the first step."""
    command = train_command(corpus, "--shard", str(corpus / "0.h5"), "--output", str(tmp_path / "weights.h5"))
    for _ in range(2):
        own.start(*command).communicate()
    first, second = own.usages()
    assert first["cpu_time"] > 2 * second["cpu_time"] > 0
    assert 10 < second["max_rss"] < 1000
    # within 10 MB, although the server has loaded most of it
    assert abs(first["max_rss"] - second["max_rss"]) < 10


def test_several_at_once(preloaded: Preloaded, corpus: Path, tmp_path: Path) -> None:
    """Each has its own streams, folder and environment."""
    processes = []
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "weights").write_text(f"LanguageModel {number}\n")
        processes.append(decode(preloaded, corpus, Path("weights"), cwd=folder))
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert len(preloaded.usages()) == 4
    assert all(output.count("\n") == 3 and not errors for output, errors in outputs)


@pytest.mark.parametrize(
    ("number", "status", "message"),
    [
        (signal.SIGTERM, 143, ""),
        (signal.SIGINT, 130, "itersel decode: interrupted\n"),
        (signal.SIGUSR1, -signal.SIGUSR1, ""),
    ],
)
def test_signals_reach_the_step(
    preloaded: Preloaded,
    waiting: subprocess.Popen[str],
    number: signal.Signals,
    status: int,
    message: str,
) -> None:
    waiting.send_signal(number)
    _, errors = waiting.communicate()
    assert (waiting.returncode, errors) == (status, message)
    assert not preloaded.server.children()


def test_step_that_is_killed(preloaded: Preloaded, waiting: subprocess.Popen[str]) -> None:
    [step] = preloaded.server.children()
    step.kill()
    assert waiting.communicate() == ("", "")
    assert waiting.returncode == -signal.SIGKILL
    assert len(preloaded.usages()) == 1


def test_process_that_is_killed_takes_its_step_with_it(
    preloaded: Preloaded, waiting: subprocess.Popen[str]
) -> None:
    waiting.kill()
    wait_until(lambda: not preloaded.server.children())
    assert preloaded.server.is_running()


def test_server_that_is_killed(own: Preloaded, corpus: Path, pipe: Path) -> None:
    """Its steps end with it; others are not handed over."""
    client = decode(own, corpus, pipe)
    file = writer(own.server, pipe)
    [step] = own.server.children()
    own.server.kill()
    _, errors = client.communicate()
    assert (client.returncode, errors) == (1, "itersel: the process of `itersel preload` has been killed\n")
    wait_until(lambda: not step.is_running())
    os.close(file)
    process = own.start("train", "--help")
    assert process.communicate()[0].startswith("usage: itersel train")
    assert process.returncode == 0
    assert own.usages() == []


@pytest.mark.parametrize("sent", [b"", b"\0\0", LENGTH.pack(0), LENGTH.pack(10) + b"{}"])
def test_process_that_is_killed_while_it_asks(
    preloaded: Preloaded, waiting: subprocess.Popen[str], sent: bytes
) -> None:
    """The preloaded process and its other steps are not affected."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.fspath(preloaded.socket))
        connection.sendall(sent)
    assert preloaded.start("train", "--help").wait() == 0
    assert len(preloaded.usages()) == 1
    assert waiting.poll() is None


def test_command_ends_while_a_step_runs(own: Preloaded, corpus: Path, pipe: Path) -> None:
    """As it might without the preloaded process; the step ends well."""
    client = decode(own, corpus, pipe)
    file = writer(own.server, pipe)
    own.end()
    time.sleep(2)
    assert own.server.is_running()
    os.write(file, b"LanguageModel 1\n")
    os.close(file)
    output, errors = client.communicate()
    assert (client.returncode, errors, output.count("\n")) == (0, "", 3)
    own.server.wait(WAIT)
    assert not own.socket.parent.exists()


def test_unlike_processes_run_their_steps(preloaded: Preloaded, tmp_path: Path) -> None:
    """Those that could not get the same from the preloaded process."""
    help_of_train = preloaded.start("train", "--help").communicate()[0]
    assert len(preloaded.usages()) == 1
    reading, writing = os.pipe()

    def close_input() -> None:
        listen()
        os.close(0)

    def mask() -> None:
        listen()
        os.umask(0o027)

    for settings in (
        {"env": {**preloaded.environment, "PYTHONHASHSEED": "1"}},
        {"preexec_fn": mask},
        {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)},
        {"pass_fds": [reading]},
        {"preexec_fn": close_input},
    ):
        process = preloaded.start("train", "--help", **settings)
        assert process.communicate()[0] == help_of_train
        assert process.returncode == 0
        assert preloaded.usages() == []
    # a step that is not preloaded
    assert preloaded.start("bleu", "--help").wait() == 0
    assert preloaded.usages() == []
    os.close(reading)
    os.close(writing)


def test_private_socket(own: Preloaded) -> None:
    assert own.socket.is_socket()
    assert own.socket.parent.stat().st_mode & 0o777 == 0o700
    own.end()
    own.server.wait(WAIT)
    assert not own.socket.parent.exists()


@pytest.mark.parametrize(
    ("command", "status", "errors"),
    [
        (["bash", "-c", 'echo "$@"; exit 7', "bash", "--", "a b", "--help"], 7, ""),
        (["bash", "-c", "echo -- a b --help; kill -TERM $$"], -signal.SIGTERM, ""),
        (["--", "echo", "--", "a b", "--help"], 0, ""),
        (["./missing"], 1, "itersel preload: ./missing: No such file or directory\n"),
        (["--"], 1, "itersel preload: name a command: itersel preload -- COMMAND\n"),
    ],
)
def test_command(command: list[str], status: int, errors: str) -> None:
    """It gets its words, and its status is that of `itersel preload`."""
    done = subprocess.run([*ITERSEL, "preload", *command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, errors)
    assert done.stdout == ("-- a b --help\n" if status != 1 else "")


def test_pipes_of_the_command() -> None:
    """A process that writes to a pipe without a reader ends silently, as usual."""
    command = ["bash", "-c", "yes | head -n 1; echo ${PIPESTATUS[0]}"]
    done = subprocess.run([*ITERSEL, "preload", *command], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"y\n{128 + signal.SIGPIPE}\n", "")


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_command_without_a_stream(tmp_path: Path, closed: int) -> None:
    """Its steps run by themselves; no socket is left."""
    code = f"import os; open('found', 'w').write(os.environ.get('{SOCKET_VARIABLE}', 'none'))"
    subprocess.run(
        [*ITERSEL, "preload", sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        preexec_fn=lambda: os.close(closed),
        check=True,
    )
    assert (tmp_path / "found").read_text() == "none"
    assert [path.name for path in tmp_path.iterdir()] == ["found"]


def test_folder_with_a_long_name(tmp_path: Path) -> None:
    """The path of a socket has at most 107 bytes."""
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    found = Preloaded(folder)
    found.end()
    assert found.socket.parent.parent == Path("/tmp")
    assert list(folder.iterdir()) == []


def loaded(code: str, command: list[str]) -> list[str]:
    """Return the modules of the package and the kernels that a process has loaded."""
    after = (
        "print(*(name for name in sys.modules if name.startswith('itersel')));"
        "print(*(f'{one.py_func.__module__}.{one.__name__}' for one in _KERNELS for _ in one.overloads))"
    )
    head = "import sys; from itersel.cli.main import main; from itersel.jit import _KERNELS;"
    done = subprocess.run(
        [sys.executable, "-c", head + code + after, *command], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.slow
def test_everything_is_loaded(corpus: Path, tmp_path: Path) -> None:
    """Training loads no further modules and kernels."""
    command = train_command(corpus, "--shard", str(corpus / "0.h5"), "--output", str(tmp_path / "weights.h5"))
    needed = loaded("main(sys.argv[1:]);", command)
    found = loaded("from itersel.cli.preload import Loader; Loader()(sys.argv[1:]);", command)
    assert set(needed) <= set(found)
    assert any("kernels." in name for name in needed) == ("NUMBA_DISABLE_JIT" not in os.environ)


def test_steps_and_their_functions() -> None:
    for step, function in preload.STEPS.items():
        assert preload.used_modules(step, function)
