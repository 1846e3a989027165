"""The command line as a whole: syntax that scripts rely on, help, exit statuses, completion by shells."""

import argparse
import multiprocessing
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from unittest.mock import Mock

import pytest
from numba.core import config as numba_config
from tests.limited import limited
from tests.needs import missing

import itersel
import itersel.cli.weights
from itersel.cli import warm_up
from itersel.cli.arguments import add_command
from itersel.cli.completion import SHELLS
from itersel.cli.main import COMMANDS, FOR_PEOPLE, STEPS, WITHOUT_KERNELS, main
from itersel.code.digests import used_modules
from itersel.compile.cache_folder import cache_folder
from itersel.errors import InputError
from itersel.run.atomic import atomic_path

NAMES = [*([name] for name in COMMANDS if name != "step"), *(["step", name] for name in STEPS)]


@pytest.mark.parametrize("words", NAMES, ids=" ".join)
def test_help_explains_every_option(words, capsys):
    module, _ = (STEPS if words[0] == "step" else COMMANDS)[words[-1]]
    parsers = [argparse.ArgumentParser()]
    command = add_command(parsers[0], words[-1], module)
    for current in parsers:
        for action in current._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers += action.choices.values()
            else:
                assert action.help, f"{current.prog} {action.dest} has no help"
    assert main([*words, "--help"]) == 0
    assert f"usage: itersel {' '.join(words)}" in capsys.readouterr().out
    if module not in WITHOUT_KERNELS:
        parts = [one for one in getattr(command, "PARTS", ()) if one.split()[0] == words[-1]]
        assert any("kernels" in name for one in parts or [" ".join(words)] for name in used_modules(one))


def test_help_lists_all_commands(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    people, _, workflow = out.partition("\ncommands:\n")[2].partition("\ncommands of the workflow:\n")
    assert re.findall(r"(?m)^  (\S+)", people) == list(FOR_PEOPLE)
    assert sorted([*re.findall(r"(?m)^  (\S+)", workflow), *FOR_PEOPLE]) == sorted(COMMANDS)
    assert main(["step", "--help"]) == 0
    assert re.findall(r"(?m)^    (\S+)", capsys.readouterr().out) == list(STEPS)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"itersel {itersel.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "the following arguments are required: COMMAND"),
        ("step", "the following arguments are required: STEP"),
        ("bleu", "the following arguments are required: --reference, SYSTEM"),
        ("bleu --reference a b --no-such-option", "unrecognized arguments: --no-such-option"),
        ("translat", "invalid choice: 'translat' (did you mean 'translate'?)"),
        ("weights shwo", "invalid choice: 'shwo' (did you mean 'show'?)"),
        ("step mixx", "invalid choice: 'mixx' (did you mean 'mix'?)"),
        ("step mix --inputs a --previous b c --output d", "unrecognized arguments: c"),
        ("compare --reference a --trials x b c", "'x' is not a whole number of 1 or more"),
        ("weights export w.h5 --output .", "'.' is not the name of a file"),
        ("weights export w.h5 --output new/", "'new/' is not the name of a file"),
        ("tune --tuner pro --nbest a --output b --passes 3", "unrecognized arguments: --passes 3"),
        ("tune --tuner pro --nbest a --output b --strength nan", "'nan' is not a number"),
        ("tune --tuner kbest-mira --nbest a --output b --c 0", "'0' is not a number above 0"),
        ("tune --tuner pro --nbest a --output b --bleu some", "invalid choice: 'some'"),
        ("tune --tuner pro --nbest a --output b --interpolation 2", "at most 1"),
        ("tune --tuner pro --nbest a --output b --strength -1", "of 0 or more"),
        ("decode --shard a --model b --weights c --k-best 1000000000", "'1000000000' is not a whole"),
        ("train --shard a --model b --output c --epoch 1_0", "'1_0' is not a whole number"),
        ("corpus prepare --source a --target b --output c --source-language x y", "'x' is not a language"),
        ("lm estimate --ord 3 --input a --output b", "the following arguments are required: --order"),
        ("lm estimate --order 3 --input a --leave-out b --fold 2/2 --output c", "'2/2' is not a fold of two"),
        ("lm estimate --order 3 --input a --leave-out b --fold 0/1 --output c", "'0/1' is not a fold of two"),
        ("translate --system a --jobs 0", "'0' is not a whole number from 1 to 256"),
        ("translate --system a --k-best 0", "'0' is not a whole number from 1 to 10000"),
        ("--print-completion tcl", "invalid choice: 'tcl'"),
    ],
)  # fmt: skip
def test_bad_arguments_are_usage_errors(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments.split()) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("usage: itersel")
    assert message in shown.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_a_run_in_an_empty_folder(tmp_path):
    done = limited("run", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("itersel run: no config.yaml here; 'itersel init DIR' writes a project")


def test_known_errors_are_one_line(tmp_path, capsys):
    (tmp_path / "latin1").write_bytes(b"fine\nf\xe4hig\n")
    for name, said in (
        ("latin1", "latin1:2: not valid UTF-8; convert the file with iconv\n"),
        ("missing", "missing: no such file\n"),
        ("a\nb\x1b[31m\u2028c", "a\\nb\\x1b[31m\\u2028c: no such file\n"),
    ):
        assert main(["bleu", "--reference", str(tmp_path / name), "x"]) == 1
        assert capsys.readouterr().err == f"itersel bleu: {tmp_path}/{said}"


def test_closed_pipe_is_no_error(tmp_path):
    (tmp_path / "ref").write_text("a b c d\n")
    command = f"{sys.executable} -m itersel.cli.main bleu --reference ref" + " ref" * 2000
    shell = f"set -o pipefail; {command} | head -1"
    result = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_outputs_do_not_depend_on_the_locale(tmp_path):
    (tmp_path / "weights").write_text("häuser\u3042 1.5\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = limited("weights", "show", tmp_path / "weights", env=environment, text=False)
    assert done.stdout.decode("utf-8").splitlines()[-1] == "häuser\u3042\t1.5"


def test_out_of_memory_is_one_line(monkeypatch, refused):
    monkeypatch.setattr(itersel.cli.weights, "_show", Mock(side_effect=MemoryError))
    refused(["weights", "show", "x"], "itersel weights: not enough memory")


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
    assert ("; about a minute\nkernels compiled in 0 s\n" in said) == (wanted and not marked)
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
    assert capsys.readouterr().err == f"kernels are in {cache_folder()}\n"
    assert [path.name for path in cache_folder().iterdir()] == ["all.warm"]


def test_one_job_compiles_while_others_wait(tmp_path):
    messages = tmp_path / "messages"
    code = f"""
import os, sys, time
from pathlib import Path
from itersel.cli import warm_up

def steps(folder, main):
    while Path({str(messages)!r}).read_text().count("waiting for another job") < 2:
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
from itersel.compile.cache_folder import cache_folder

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
from itersel.cli import warm_up
from itersel.cli.main import main
from itersel.compile import interpreted

counted = []
for name, function in interpreted._NAMES.items():
    interpreted._NAMES[name] = lambda *given, function=function: counted.append(given) or function(*given)
warm_up.PREPARATION = ["lm estimate --order 1 --input %target --output %arpa"]
warm_up._prepare_interpreted(Path(), main)
print(Path("arpa").exists(), len(counted))
"""


def test_warm_up_does_not_check_interpreted_kernels(tmp_path):
    """That would take most of its time."""
    environment = {**os.environ, "ITERSEL_CACHE": str(tmp_path), warm_up.WARM_UP_VARIABLE: "0"}
    environment["NUMBA_DISABLE_JIT"] = "0"
    done = limited(program=("-c", PREPARED), cwd=tmp_path, env=environment)
    assert done.stdout == "True 0\n"


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
    missing = ["decode", "--shard", "none.h5", "--model", "none.bin", "--weights", "none.h5"]
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
    assert "kernels compiled in" in done.stderr


def test_processes_of_a_warm_up(tmp_path):
    def write(name):
        (tmp_path / name).touch()

    def fail():
        raise InputError("is wrong")

    warm_up._run_processes([partial(write, "a"), partial(write, "b")])
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}
    with pytest.raises(InputError, match="is wrong"):
        warm_up._run_processes([partial(write, "a"), fail])
    # whatever the error is, and even if it cannot be sent
    for error in (ZeroDivisionError("is wrong"), LockedError("is wrong"), SystemExit("is wrong")):
        with pytest.raises(Exception, match="is wrong") as raised:
            warm_up._run_processes([partial(write, "a"), partial(raise_it, error)])
        assert not isinstance(raised.value, InputError)
    # nobody waits for the second
    with pytest.raises(InputError, match="is wrong"):
        warm_up._run_processes([fail, partial(time.sleep, 10_000)])
    assert not multiprocessing.active_children()
    with pytest.raises(InputError, match="a process was killed"):
        warm_up._run_processes([partial(write, "a"), lambda: os.kill(os.getpid(), signal.SIGKILL)])


def test_a_failed_warm_up_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"could not be compiled: itersel lm: .*no such file"):
        warm_up._run_steps(["lm estimate --order 2 --input none --output %arpa"], tmp_path, main)


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    for shell in SHELLS:
        done = limited("--print-completion", shell)
        assert (done.returncode, done.stderr) == (0, "")
        (folder / shell).write_text(done.stdout)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_the_script(scripts, shell):
    text = (scripts / shell).read_text()
    assert all(word in text for word in ("detokenize", "max-difference", "kbest-mira"))
    if not shutil.which(shell):
        missing(f"{shell} is not installed")
    subprocess.run([shell, "-n", str(scripts / shell)], check=True)


COMPLETED = [
    ("det", ["detokenize"]),
    ("grammar ", ["export", "extract", "import", "index"]),
    ("step pat", ["patience"]),
    ("tune --tuner kb", ["kbest-mira"]),
    # an option of one tuner only
    ("tune --interp", ["--interpolation"]),
]


@pytest.mark.parametrize(("words", "expected"), [*COMPLETED, ("decode --shard a_s", ["a shard.h5"])])
def test_bash_completes(scripts, tmp_path, words, expected):
    (tmp_path / "a shard.h5").touch()
    script = """
source "$1"; shift
COMP_WORDS=(itersel "$@"); COMP_CWORD=$#
_shtab_itersel
printf '%s\\n' "${COMPREPLY[@]}"
"""
    completed = [word.replace("_", " ") for word in words.split(" ")]
    command = ["bash", "-c", script, "bash", str(scripts / "bash"), *completed]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert sorted(done.stdout.split("\n")[:-1]) == expected, done.stderr


@pytest.mark.parametrize(("words", "expected"), COMPLETED)
def test_fish_completes(scripts, words, expected):
    if not shutil.which("fish"):
        missing("fish is not installed")
    script = f'source {shlex.quote(str(scripts / "fish"))}; complete -C "itersel {words}"'
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=False)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == expected, done.stderr
