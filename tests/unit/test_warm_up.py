"""Kernels are compiled once, by the first job that needs them, in several processes."""

import ast
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from functools import partial

import pytest
from numba.core import config as numba_config
from tests.limited import limited
from tests.refusals import input_error

from itersel.cli import warm_up
from itersel.cli.main import main
from itersel.cli.warm_up_steps import WarmUpStep
from itersel.compile.cache_folder import PACKAGE, cache_folder
from itersel.errors import InputError
from itersel.run.atomic import atomic_path


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("wanted", [False, True])
def test_kernels_are_compiled_by_the_first_job(tmp_path, monkeypatch, capsys, marked, wanted):
    steps = []
    monkeypatch.setattr(warm_up, "_steps", lambda *given: steps.append(given))
    monkeypatch.setenv("ITERSEL_CACHE", str(tmp_path / "kernels"))
    monkeypatch.delenv(warm_up.WARM_UP_VARIABLE, raising=False)
    if wanted:
        monkeypatch.setenv(warm_up.WARM_UP_VARIABLE, "1")
    if marked:
        warm_up._marker().parent.mkdir(parents=True)
        warm_up._marker().touch()
    assert main(["lm", "compile", "--input", str(tmp_path / "none"), "--output", str(tmp_path / "out")]) == 1
    assert len(steps) == (wanted and not marked)
    said = capsys.readouterr().err
    assert (warm_up.COMPILING in said) == (wanted and not marked)
    assert warm_up.is_warm() == (wanted or marked)


def test_second_warm_up_compiles_nothing_and_removes_leftovers(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(warm_up, "_steps", lambda *given: None)
    monkeypatch.setenv("ITERSEL_CACHE", str(tmp_path))
    assert main(["warm-up"]) == 0
    assert warm_up.COMPILING in capsys.readouterr().err
    with atomic_path(cache_folder() / "x.nbc") as temporary:
        temporary.touch()
    (cache_folder() / "x.nbc").unlink()
    temporary.with_name(temporary.name.replace(f".{os.getpid()}.", ".999999999.")).touch()
    assert main(["warm-up"]) == 0
    said = capsys.readouterr().err
    assert str(cache_folder()) in said
    assert warm_up.COMPILING not in said
    assert [path.name for path in cache_folder().iterdir()] == ["all.warm"]


def test_one_job_compiles_while_others_wait(tmp_path):
    messages = tmp_path / "messages"
    code = f"""
import os, sys, time
from pathlib import Path
from itersel.cli import warm_up

def steps(folder, main):
    # one line of this job, and one of each that waits
    while len(Path({str(messages)!r}).read_text().splitlines()) < 3:
        time.sleep(0.05)
    print("compiled", flush=True)

warm_up._steps = steps
os.environ["ITERSEL_CACHE"] = {str(tmp_path)!r}
os.environ[warm_up.WARM_UP_VARIABLE] = "1"
warm_up.warm_up_once(None)
assert warm_up.is_warm()
"""
    with messages.open("a") as stream:
        pipes = {"stdout": subprocess.PIPE, "stderr": stream, "text": True}
        processes = [subprocess.Popen([sys.executable, "-c", code], **pipes) for _ in range(3)]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sorted(outputs) == ["", "", "compiled\n"]


# Runs two steps where files cannot be locked, and prints in which folder kernels are compiled.
WITHOUT_LOCKS = """
import errno, fcntl, os
from itersel.cli import warm_up
from itersel.compile.cache_folder import PACKAGE, cache_folder

def refuse(*given):
    raise OSError(errno.ENOLCK, "No locks available")

fcntl.flock = refuse
warm_up._steps = lambda *given: print(cache_folder(), flush=True)
for _ in range(2):
    warm_up.warm_up_once(None)
    assert warm_up.is_warm()
"""


@pytest.mark.parametrize("is_plain", ["0", "1"])
def test_file_system_without_locks(tmp_path, is_plain):
    """Processes that compile at the same time can mix up the files of plain numba, so they share none."""
    shared = tmp_path / "kernels"
    environment = {**os.environ, "ITERSEL_CACHE": str(shared), "ITERSEL_PLAIN_NUMBA": is_plain}
    environment |= {warm_up.WARM_UP_VARIABLE: "1", "TMPDIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    folders = []
    for _ in range(1 + int(is_plain)):
        done = limited(program=("-c", WITHOUT_LOCKS), env=environment)
        assert done.returncode == 0, done.stderr
        folders += done.stdout.splitlines()
    assert len(folders) == len(set(folders)) == 1 + int(is_plain)
    assert all(folder.startswith(f"{shared}/") == (is_plain == "0") for folder in folders)
    assert list(tmp_path.iterdir()) == [shared]
    assert len(list(shared.rglob("all.warm"))) == (is_plain == "0")


@pytest.mark.parametrize("value", [None, "1"])
def test_warm_up_leaves_the_environment_as_it_was(tmp_path, monkeypatch, value):
    monkeypatch.setenv("ITERSEL_CACHE", str(tmp_path))
    monkeypatch.delenv(warm_up.WARM_UP_VARIABLE, raising=False)
    if value:
        monkeypatch.setenv(warm_up.WARM_UP_VARIABLE, value)
    inner = []
    monkeypatch.setattr(warm_up, "_steps", lambda *given: inner.append(os.environ[warm_up.WARM_UP_VARIABLE]))
    warm_up.warm_up(main)
    assert inner == ["0"]
    assert os.environ.get(warm_up.WARM_UP_VARIABLE) == value


def test_no_kernels_are_loaded_before_they_are_compiled():
    """Warm-up forks processes, some of which interpret the kernels instead of compiling them."""
    code = """
import sys
from itersel.cli import warm_up
from itersel.cli.main import main
warm_up.warm_up_once = lambda main: print("itersel.compile.jit" in sys.modules)
main(["lm", "compile", "--input", "none", "--output", "none.bin"])
"""
    assert limited(program=("-c", code)).stdout == "False\n"


# Prepares the files of a warm-up with kernels that count how often their indices are checked.
PREPARED = """
from pathlib import Path
from itersel.cli import warm_up, warm_up_steps
from itersel.cli.main import main
from itersel.compile import interpreted

counted = []
for name, function in interpreted._NAMES.items():
    interpreted._NAMES[name] = lambda *given, function=function: counted.append(given) or function(*given)
warm_up_steps.PREPARATION = [
    warm_up_steps.WarmUpStep("lm estimate --order 1 --input %target --output %arpa")
]
warm_up._prepare_interpreted(Path(), main)
print(Path("arpa").exists(), len(counted))
"""


def test_warm_up_does_not_check_interpreted_kernels(tmp_path):
    """That would take most of its time."""
    environment = {**os.environ, "ITERSEL_CACHE": str(tmp_path), warm_up.WARM_UP_VARIABLE: "0"}
    environment["NUMBA_DISABLE_JIT"] = "0"
    done = limited(program=("-c", PREPARED), cwd=tmp_path, env=environment)
    assert done.stdout == "True 0\n"


# Prints the names of the kernels that the steps of a warm-up call, interpreted, which takes half a minute.
CALLED = """
from pathlib import Path
from itersel.compile import interpreted

called = set()

def recorded(function):
    def call(*given):
        called.add(f"{function.__module__}.{function.__name__}")
        return function(*given)
    return call

interpreted.with_checked_indices = recorded
from itersel.cli import warm_up
from itersel.cli.main import main
warm_up._may_fork = lambda: False
warm_up._steps(Path(), main)
print(*called)
"""
# They are compiled only for grammars with other categories than X, which few have.
OF_CATEGORIES = {
    f"itersel.decode.parse_kernels.{name}" for name in ("add_categories", "add_waiting", "find_node")
}


def kernels_and_what_they_call():
    """Return the names that the code of each kernel of the package mentions, as names of kernels."""
    mentioned = {}
    for path in PACKAGE.rglob("*kernels*.py"):
        module = ".".join(["itersel", *path.relative_to(PACKAGE).with_suffix("").parts])
        tree = ast.parse(path.read_text())
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        names = {node.name: f"{module}.{node.name}" for node in functions}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}

        for node in functions:
            if {ast.unparse(one) for one in node.decorator_list} & {"kernel", "leaf_kernel", "inline_kernel"}:
                used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
                mentioned[f"{module}.{node.name}"] = {names[one] for one in used & names.keys()}
    return mentioned


@pytest.mark.slow
def test_steps_call_all_kernels(tmp_path):
    """Or kernels call them, so that they are compiled with these."""
    environment = {**os.environ, "ITERSEL_CACHE": str(tmp_path), warm_up.WARM_UP_VARIABLE: "0"}
    done = limited(program=("-c", CALLED), cwd=tmp_path, env={**environment, "NUMBA_DISABLE_JIT": "1"})
    kernels = kernels_and_what_they_call()
    compiled = set()
    waiting = done.stdout.split()
    assert waiting, done.stderr
    while waiting:
        name = waiting.pop()
        if name in kernels.keys() - compiled - OF_CATEGORIES:
            compiled.add(name)
            waiting += kernels[name]
    assert kernels.keys() - compiled == OF_CATEGORIES, "add steps to itersel.cli.warm_up_steps that call them"


# Makes numba load what it compiles with. Kernels outside of the package are not in the cache.
COMPILED = """
import sys
from itersel.compile.jit import kernel
kernel(lambda: 1)()
print("numba.np.arraymath" in sys.modules, "scipy.linalg" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.skipif(numba_config.DISABLE_JIT, reason="nothing is compiled")
def test_kernels_are_compiled_without_linear_algebra():
    """As long as numba would import it: another numba may need other means, or none."""
    missing = ["decode", "--sentences", "none.h5", "--language-model", "none.bin", "--weights", "none.h5"]
    start = f"from itersel.cli.main import main; assert main({[*missing, '--output', 'x.txt']}) == 1\n"
    printed = [limited(program=("-c", code)).stdout for code in (COMPILED, start + COMPILED)]
    assert printed == ["True True\n", "True False\n"]


class LockedError(Exception):
    def __init__(self, text):
        super().__init__(text)
        self.lock = threading.Lock()


def raise_it(error):
    raise error


# Runs a step that compiles the kernels first, and prints how many threads run when a process is forked.
FORKS = """
import os, sys, threading
from itersel.cli import warm_up
from itersel.cli.main import main

def fork(fork=os.fork):
    print(threading.active_count(), file=sys.__stdout__, flush=True)
    return fork()

os.fork = fork
os.sched_getaffinity = lambda process: {0, 1}
warm_up._prepare = warm_up._run_steps = lambda *given: None
"""
STEP = 'main(["lm", "compile", "--input", "none", "--output", "none.bin"])'
OTHER_THREAD = """
ended = threading.Event()
threading.Thread(target=ended.wait).start()
"""


@pytest.mark.parametrize(("before", "threads"), [("", "1\n1\n1\n"), (OTHER_THREAD, "")])
def test_no_process_is_forked_while_threads_run(tmp_path, before, threads):
    """A forked process would have the locks of threads that it lacks; then one process does everything."""
    environment = {**os.environ, "ITERSEL_CACHE": str(tmp_path), warm_up.WARM_UP_VARIABLE: "1"}
    environment["ITERSEL_PLAIN_NUMBA"] = "0"
    after = "\nended.set()" if before else ""
    done = limited(program=("-c", FORKS + before + STEP + after), env=environment)
    assert done.stdout == threads
    # that it begins, and that it has ended
    assert warm_up.COMPILING in done.stderr


def test_processes_of_a_warm_up(tmp_path):
    def write(name):
        (tmp_path / name).touch()

    def fail():
        raise InputError("is wrong", "file", 7)

    warm_up._run_processes([partial(write, "a"), partial(write, "b")])
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}
    with input_error("file:7:"):
        warm_up._run_processes([partial(write, "a"), fail])
    # whatever the error is, and even if it cannot be sent
    for error in (ZeroDivisionError("is wrong"), LockedError("is wrong"), SystemExit("is wrong")):
        with pytest.raises(Exception, match="is wrong") as raised:
            warm_up._run_processes([partial(write, "a"), partial(raise_it, error)])
        assert not isinstance(raised.value, InputError)
    # nobody waits for the second
    with input_error("file:7:"):
        warm_up._run_processes([fail, signal.pause])
    assert not multiprocessing.active_children()
    with input_error():
        warm_up._run_processes([partial(write, "a"), lambda: os.kill(os.getpid(), signal.SIGKILL)])


def test_a_failed_warm_up_is_one_line(tmp_path):
    with input_error("itersel lm:", "none:"):
        warm_up._run_steps([WarmUpStep("lm estimate --order 2 --input none --output %arpa")], tmp_path, main)
