"""Folders that declare what is in them: what was changed, mixed or lost is noticed before it is read."""

import gzip
import shutil
import threading

import pytest
from tests.declared import redeclare
from tests.refusals import input_error
from tests.steps import TEXT_LANGUAGES, settings, step
from tests.systems import itersel
from tests.text_grammars import index_lines, write

from itersel.cli.main import main
from itersel.errors import InputError
from itersel.run.atomic import new_folder
from itersel.storage.declared import (
    DECLARATION,
    DeclaredFolder,
    check_declared,
    declared_folder,
    is_declaration,
)
from itersel.storage.files import read_lines, write_lines

TEXT = ["ein haus", "das haus", "ein baum", "der baum"]


def make(path, lines=("a", "ü", "")):
    with declared_folder(path) as folder:
        folder.write("one.gz", lines)
        folder.append("two", lines[:1])
        folder.write("none", [])
        folder.append("two", lines[1:])
    return path


def test_the_declaration_is_that_of_the_files(tmp_path):
    """Compared with one made from the finished files."""
    folder = make(tmp_path / "made")
    written = (folder / DECLARATION).read_text()
    assert read_lines(redeclare(folder) / DECLARATION) == written.splitlines()
    found = DeclaredFolder(folder)
    assert sorted(found.names) == ["none", "one.gz", "two"]
    assert [read_lines(found.checked(name)) for name in found.names] == [[], ["a", "ü", ""], ["a", "ü", ""]]


def test_compression_makes_no_difference(tmp_path):
    path = make(tmp_path / "made") / "one.gz"
    written = path.read_bytes()
    path.write_bytes(gzip.compress(gzip.decompress(written), 9))
    assert path.read_bytes() != written
    assert DeclaredFolder(path.parent).checked(path.name) == path


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda path: write_lines(path, ["a", "ü"]), ""),
        (lambda path: write_lines(path, ["a", "u", ""]), ""),
        (lambda path: write_lines(path, ["ü", "a", ""]), ""),
        (lambda path: path.write_bytes(path.read_bytes() * 2), ""),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), ""),
        (lambda path: path.write_bytes(b""), ""),
        (lambda path: path.unlink(), ""),
    ],
)
@pytest.mark.parametrize("name", ["one.gz", "two"])
def test_changed_files(tmp_path, damage, line, name):
    folder = make(tmp_path / "made")
    damage(folder / name)
    with pytest.raises(InputError) as error:
        DeclaredFolder(folder).checked(name)
    assert error.value.path == folder / name


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([], 1),
        (["file\tlines"], 1),
        (["file\tlines\tdigest", "two\t3"], 2),
        (["file\tlines\tdigest", f"two\t3\t{'0' * 32}", f"two\t3\t{'0' * 32}"], 3),
        (["file\tlines\tdigest", f"../two\t3\t{'0' * 32}"], 2),
        (["file\tlines\tdigest", f"two\t-3\t{'0' * 32}"], 2),
    ],
)
def test_damaged_declarations(tmp_path, rows, line):
    folder = make(tmp_path / "made")
    write_lines(folder / DECLARATION, [*rows, *([f"x\t1\t{'0' * 32}"] if len(rows) == 1 else [])])
    with pytest.raises(InputError) as error:
        DeclaredFolder(folder).checked("two")
    assert error.value.line == line


def test_files_that_are_not_declared(tmp_path):
    folder = make(tmp_path / "made")
    write(folder / "more", "x")
    for check in (DeclaredFolder(folder).has, DeclaredFolder(folder).checked):
        with pytest.raises(InputError) as error:
            check("more")
        assert error.value.path == folder / "more"
    with pytest.raises(InputError):
        check_declared(folder / "more")


def test_files_of_the_user_need_no_declaration(tmp_path, monkeypatch):
    folder = make(tmp_path / "made")
    check_declared(None, write(tmp_path / "mine.gz", "x"), tmp_path / "missing", folder / "missing")
    monkeypatch.chdir(folder)
    check_declared("-", "one.gz")
    (folder / DECLARATION).unlink()
    check_declared(folder / "one.gz")
    with input_error(DECLARATION):
        DeclaredFolder(folder)


def new(path, content, other=None):
    """Make a folder; when it is finished, but not yet visible, `other` is called."""
    with new_folder(path) as folder:
        (folder / "part").mkdir()
        (folder / "part/one").write_text(content)
        if other is not None:
            other()


def test_overlapping_attempts_do_not_see_each_other(tmp_path):
    """The second starts and ends while the first is writing; equal results are no error."""
    inside = []

    def second():
        inside.extend(path.name for path in tmp_path.iterdir())
        new(tmp_path / "out", "x")
        first = (tmp_path / "out").stat().st_ino
        inside.append(first)

    new(tmp_path / "out", "x", second)
    assert len(inside) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").stat().st_ino == inside[1]  # nobody who reads it is disturbed
    assert (tmp_path / "out/part/one").read_text() == "x"


@pytest.mark.parametrize(
    "other",
    [
        lambda path: new(path, "y"),
        lambda path: path.mkdir() or (path / "part").mkdir() or (path / "part/two").write_text("x"),
        lambda path: path.mkdir() or (path / "one").write_text("x"),
    ],
)
def test_different_attempts_are_never_mixed(tmp_path, other):
    out = tmp_path / "out"
    with pytest.raises(InputError) as error:
        new(out, "x", lambda: other(out))
    assert error.value.path == out
    left = {str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()}
    assert left in ({"part/one": "y"}, {"part/two": "x"}, {"one": "x"})
    assert list(tmp_path.iterdir()) == [out]


def test_an_empty_folder_is_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    new(tmp_path / "out", "x")
    assert (tmp_path / "out/part/one").read_text() == "x"


def test_errors_name_the_folder(tmp_path):
    with pytest.raises(FileNotFoundError) as error, new_folder(tmp_path / "out") as folder:
        (folder / "missing/one").write_text("x")
    assert str(error.value.filename) == str(tmp_path / "out/missing/one")
    with pytest.raises(OSError, match="28") as full, new_folder(tmp_path / "out"):
        raise OSError(28, "full")
    assert str(full.value.filename) == str(tmp_path / "out")


@pytest.mark.parametrize("lists", [False, True])
def test_attempts_at_dividing_that_overlap(tmp_path, lists):
    """Threads, so that their writing overlaps; both succeed, and the folder is that of a single attempt."""
    write(tmp_path / "text", *TEXT * 500)
    write(tmp_path / "lists", *(f"{i} ||| {line} ||| LM= -1" for i, line in enumerate(TEXT * 500)))
    text = tmp_path / "text"
    given = (
        ["--nbest", tmp_path / "lists", "--reference", text]
        if lists
        else ["--source", text, "--target", text]
    )
    command = ["step", "divide", *given, *settings(division={"files": 2})]
    itersel(*command, "--output", tmp_path / "alone")
    status = []
    again = list(map(str, [*command, "--output", tmp_path / "both"]))
    gate = threading.Barrier(2)

    def attempt():
        gate.wait()
        status.append(main(again))

    threads = [threading.Thread(target=attempt) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # a thread that starts after the other has ended is refused, which is no mixture
    assert 0 in status
    contents = [
        {path.name: path.read_bytes() for path in folder.iterdir()}
        for folder in (tmp_path / "alone", tmp_path / "both")
    ]
    assert contents[0] == contents[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone", "both", "lists", "text"]


@pytest.fixture
def cut(tmp_path):
    """Text in two files, its index, and its lists in two files."""
    index_lines(tmp_path, TEXT, TEXT, ["0-0 1-1"] * 4)
    write(tmp_path / "nbest", *(f"{i} ||| {line} ||| LM= -1" for i, line in enumerate(TEXT)))
    texts = ["--source", tmp_path / "source", "--target", tmp_path / "target"]
    lists = ["--nbest", tmp_path / "nbest", "--reference", tmp_path / "target"]
    division = settings(division={"files": 2})
    itersel("step", "divide", *texts, *division, "--output", tmp_path / "divided")
    itersel("step", "divide", *lists, *division, "--output", tmp_path / "cut")
    write(tmp_path / "grammar", "[X] ||| haus ||| house ||| LM=1")
    return tmp_path


LISTS = f"{step('step lists', **TEXT_LANGUAGES)} --divided-lists cut --file-number 0"
EXTRACT = "grammar extract --index % --input %0.source.gz --reference %0.target.gz --leave-one-out %0.ids"
READERS = {
    "divided/0.source.gz": (EXTRACT, "grammar import --grammar grammar --input %0.source.gz"),
    "divided/0.target.gz": (
        EXTRACT,
        "grammar import --grammar grammar --input %0.source.gz --reference %0.target.gz",
        "lm estimate --order 2 --input target --leave-out divided --fold 0/2",
    ),
    "divided/0.ids": (EXTRACT, "lm estimate --order 2 --input target --leave-out divided --fold 0/2"),
    "divided/1.ids": ("lm estimate --order 2 --input target --leave-out divided --fold 0/2",),
    "cut/0.ids": (LISTS,),
    "cut/0.lists.gz": (LISTS,),
    "cut/0.target.gz": (LISTS,),
    "cut/dense.txt": (LISTS,),
}


@pytest.mark.parametrize(("name", "command"), [(name, one) for name, all in READERS.items() for one in all])
@pytest.mark.parametrize("damage", ["change", "lose", "hide"])
def test_every_reader_checks_its_files(cut, refused, monkeypatch, name, command, damage):
    """Whether a line is missing, the file, or its line in the declaration."""
    monkeypatch.chdir(cut)
    path = cut / name
    words = command.replace("--index %", "--index index").replace("%", "divided/").split()
    itersel(*words, "--output", "good.h5" if words[0] != "lm" else "good.arpa")
    output = "bad.h5" if words[0] != "lm" else "bad.arpa"
    if damage == "change":
        write_lines(path, read_lines(path)[1:])
    elif damage == "lose":
        path.unlink()
    else:
        declaration = path.with_name(DECLARATION)
        rows = [row for row in read_lines(declaration) if not row.startswith(f"{path.name}\t")]
        write_lines(declaration, rows)
    refused([*words, "--output", output], name)
    assert not (cut / output).exists()


def test_folders_of_an_older_version(cut, refused, monkeypatch):
    """Refused where a folder is named; files that are named on their own are as good as any."""
    monkeypatch.chdir(cut)
    for folder in ("divided", "cut"):
        (cut / folder / DECLARATION).unlink()
    refused([*LISTS.split(), "--output=out.h5"], "cut:", DECLARATION)
    fold = [
        "lm",
        "estimate",
        "--order=2",
        "--input=target",
        "--leave-out=divided",
        "--fold=0/2",
        "--output=x",
    ]
    refused(fold, "divided:", DECLARATION)
    shutil.move(cut / "divided", cut / "mine")
    extract = EXTRACT.replace("--index %", "--index index").replace("%", "mine/")
    itersel(*extract.split(), "--output", "mine.h5")


def test_table_of_the_user_is_no_declaration(tmp_path):
    """Whatever it is called: text of one's own may be anywhere."""
    (tmp_path / DECLARATION).write_text("shard\tbleu\n0\t31.5\n")
    assert not is_declaration(tmp_path / DECLARATION)
    (tmp_path / "0.source.gz").write_bytes(b"text")
    check_declared(tmp_path / "0.source.gz")
