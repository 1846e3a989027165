"""Output files: complete or absent, however the process ends; leftovers of killed processes are removed."""

import errno
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.limited import limited
from tests.refusals import input_error

from itersel.errors import InputError
from itersel.run.atomic import atomic_path, new_folder, remove_leftovers, temporary_folder
from itersel.run.manifests import stale_manifests
from itersel.storage.files import line_blocks, open_output, read_lines, read_manifest, suffix_in, write_lines

SLEEPER = """
import signal, sys
from itersel.run.atomic import atomic_path
with atomic_path(sys.argv[1]) as path:
    path.write_text("half")
    print("there", flush=True)
    signal.pause()
"""


def test_temporary_names_host_and_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "node_7.cluster-2 ü")
    with atomic_path(tmp_path / "deep" / "w.tar.gz") as path:
        path.write_text("x")
        host, process, chance, name = path.name.removeprefix(".tmp.").split(".", 3)
        assert (host, process, name) == ("node7cluster-2", str(os.getpid()), "w.tar.gz")
        assert len(chance) == 8
        assert not (tmp_path / "deep/w.tar.gz").exists()
    assert os.listdir(tmp_path / "deep") == ["w.tar.gz"]


def test_long_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even the longest host leaves temporary names shorter than any file system allows; suffixes remain."""
    monkeypatch.setattr(socket, "gethostname", lambda: "h" * 99)
    for name in ("x" * 248 + ".tar.gz", "ä" * 123 + "x.tar.gz", "x.tar.gz"):
        with atomic_path(tmp_path / name) as path:
            path.write_text(name)
            assert len(os.fsencode(path.name)) <= 143
            assert path.name.encode().decode().endswith(name[-9:])
        assert (tmp_path / name).read_text() == name
        (tmp_path / name).unlink()


@pytest.mark.parametrize("error", [ValueError, OSError, SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize(("opened", "write"), [(atomic_path, "write_text"), (open_output, "write")])
def test_temporaries_vanish_on_exceptions(tmp_path, opened, write, error):
    def fail(output):
        getattr(output, write)("half")
        raise error

    (tmp_path / "out").write_text("before")
    with pytest.raises(error), opened(tmp_path / "out") as output:
        fail(output)
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_text() == "before"


def test_errors_name_the_output(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as error, atomic_path(tmp_path) as path:
        path.write_text("x")
    assert error.value.filename == str(tmp_path)
    # An error in another file keeps its name.
    with pytest.raises(FileNotFoundError) as missing, atomic_path(tmp_path / "out"):
        (tmp_path / "missing").read_text()
    assert missing.value.filename == str(tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError) as error, atomic_path(tmp_path / "file" / "out"):
        pass
    assert os.listdir(tmp_path) == ["file"]


def test_folder_of_temporary_files(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "out")
    assert temporary_folder(tmp_path / "new" / "out") == tmp_path / "new"
    assert temporary_folder(tmp_path / "link") == tmp_path / "deep"
    assert temporary_folder("/dev/null") == Path(tempfile.gettempdir())


@pytest.mark.parametrize("name", ["out", "out.gz"])
def test_full_disk_text(tmp_path: Path, name: str) -> None:
    write_lines(tmp_path / "weights", (f"feature{i} {random.random()}" for i in range(10_000)))
    arguments = ["weights", "export", tmp_path / "weights", "--output", tmp_path / name]
    done = limited(*arguments, file_size=4096)
    assert (done.returncode, done.stderr) == (1, f"itersel weights: {tmp_path / name}: File too large\n")
    assert os.listdir(tmp_path) == ["weights"]


def test_full_disk_arrays(tmp_path: Path) -> None:
    code = """
import sys, numpy
from itersel.storage.arrayfile import write_arrays
from itersel.storage.formats import FileFormat, numbers
format = FileFormat("x", 1, ("itersel x",), {"a": numbers("<f8", "N")})
try:
    write_arrays(sys.argv[1], format, {"a": numpy.zeros(10_000)}, {})
except OSError as error:
    print(error.filename)
"""
    done = limited(tmp_path / "out", program=("-c", code), file_size=4096)
    assert (done.stdout, done.returncode) == (f"{tmp_path / 'out'}\n", 0)
    assert os.listdir(tmp_path) == []


def test_standard_output_that_is_full() -> None:
    with open("/dev/full", "w") as full:
        done = limited("config", "schema", "--output", "-", stdout=full)
    assert done.stderr.splitlines()[0] == "itersel config: standard output: No space left on device"


def temporary(process: int, name: str = "out.h5", host: str | None = None) -> str:
    """Return the name of a temporary file of a process, on this host by default."""
    own = "".join(x for x in socket.gethostname() if x.isascii() and (x.isalnum() or x == "-"))
    return f".tmp.{host or own}.{process}.0123abcd.{name}"


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SLEEPER, str(tmp_path / "a" / "out")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "there\n"
    [left] = (tmp_path / "a").iterdir()
    assert remove_leftovers(tmp_path) == []  # it is alive
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert remove_leftovers(tmp_path) == [left]
    assert list((tmp_path / "a").iterdir()) == []


def test_other_files_are_kept(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    folder, link = (tmp_path / temporary(dead.pid, name) for name in ("folder", "link"))
    folder.mkdir()
    (folder / "inside").touch()
    name = temporary(dead.pid)
    names = [temporary(dead.pid, host="another-host"), *map(temporary, (os.getpid(), 1, 0, -1))]
    names += [name.removesuffix(".out.h5"), name.replace("abcd", "ABCD"), f"x{name}"]
    keep = [tmp_path / one for one in names]
    deep = tmp_path / "deep"
    deep.mkdir()
    removed = [tmp_path / name, deep / temporary(4194305)]
    for path in (*keep, *removed):
        path.touch()
    others = [tmp_path / temporary(1, "folder"), deep]
    others[0].mkdir()
    link.symlink_to(deep, target_is_directory=True)
    assert sorted(remove_leftovers(tmp_path)) == sorted([*removed, folder])
    assert sorted(tmp_path.iterdir()) == sorted([*keep, *others, link])
    assert remove_leftovers(tmp_path / "missing") == []


@pytest.mark.parametrize("folder", ["results", "./results", "results/"])
def test_manifests_of_files_that_do_not_exist(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/a/lists").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/2").touch()
    (tmp_path / "results/link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    for number in range(3):
        (tmp_path / f"results/a/{number}").touch()
    complete, other = tmp_path / "results/a/files.txt", tmp_path / "results/a/lists/files.txt"
    complete.write_text("results/a/0\n./results/a/1\n")
    other.write_text("results/a/2\nresults/link/2\n")
    assert stale_manifests(folder, "files.txt") == []
    (tmp_path / "results/a/2").unlink()
    assert list(map(os.path.normpath, stale_manifests(folder, "files.txt"))) == ["results/a/lists/files.txt"]
    complete.write_text("results/link/3\n")
    assert len(stale_manifests(folder, "files.txt")) == 2
    assert complete.exists()
    assert other.exists()
    assert stale_manifests("missing", "files.txt") == []


def test_links_are_kept_and_pipes_are_written_to(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    with atomic_path(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"

    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    with atomic_path(tmp_path / "pipe") as temporary:
        temporary.write_text("sent")
    assert reader.communicate()[0] == b"sent"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert not list(tmp_path.glob(".tmp.*"))


def test_suffixes_are_found_in_either_case() -> None:
    suffixes = (".arpa", ".bin")
    names = ("lm.bin", "LM.BIN", "a.bin/lm.Arpa", "bin", "lm.bin.gz")
    assert [suffix_in(name, suffixes) for name in names] == [".bin", ".bin", ".arpa", None, None]


def test_lists_of_names(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("a b\nc\n")
    assert read_manifest(path) == ["a b", "c"]
    for text, facts in ("a\n\nb\n", ":2:"), ("a\0b\n", (":1:", "U+0000")):
        path.write_text(text)
        with input_error(facts):
            read_manifest(path)
    with input_error("U+0000"):
        read_lines("a\0b")


@pytest.mark.parametrize("pieces", [[b"\xef\xbb\xbfa\n", b"b\n"], [b"a\n", b"b\n"]])
def test_lines_of_a_pipe_are_read_one_by_one(tmp_path: Path, pieces: list[bytes]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    keeper = os.open(pipe, os.O_RDWR)  # otherwise opening the pipe would wait for the other end
    try:
        blocks = line_blocks(pipe)
        for piece, line in zip(pieces, "ab", strict=True):
            os.write(keeper, piece)
            assert next(blocks) == [line]
    finally:
        os.close(keeper)
    assert list(blocks) == []


def test_split_byte_order_mark(tmp_path: Path) -> None:
    """No block is larger than requested, so the byte order mark may be split."""
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfab\ncd\n")
    for limit in (2, 3, 4, 100):
        assert [line for block in line_blocks(path, limit) for line in block] == ["ab", "cd"]


def test_read_errors_name_the_file(tmp_path: Path) -> None:
    """The system names a file only if it cannot be opened."""
    (tmp_path / "text").symlink_to("/proc/self/mem")
    with pytest.raises(OSError, match=rf"\[Errno {errno.EIO}\]") as error:
        read_lines(tmp_path / "text")
    assert error.value.filename == str(tmp_path / "text")


def write_text(path):
    with atomic_path(path) as temporary:
        temporary.write_text("new")


def write_folder(path):
    with new_folder(path) as folder:
        (folder / "part").write_text("new")


@pytest.mark.parametrize("write", [write_text, write_folder])
def test_attempt_that_was_replaced_writes_nothing(tmp_path, monkeypatch, write):
    """Another attempt at the same job of a cluster may have written the output already."""
    token, output = tmp_path / "4.running.n1", tmp_path / "outputs/output"
    output.parent.mkdir()
    monkeypatch.setenv("ARRAYS_TOKEN", str(token))
    with pytest.raises(InputError) as error:
        write(output)
    assert str(output) in str(error.value)
    assert list(output.parent.iterdir()) == []
    token.touch()
    write(output)
    assert output.exists()
    assert list(output.parent.iterdir()) == [output]
