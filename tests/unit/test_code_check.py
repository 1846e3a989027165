"""Jobs notice that the code was edited during their run."""

import os
import shutil

import pytest
from tests.limited import limited

from itersel.code.edits import CODE_VARIABLE, PACKAGE, fingerprint, is_changed


@pytest.fixture
def folder(tmp_path):
    for name in ("code/a.py", "code/deep/b.py", "code/__pycache__/a.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")
    return tmp_path / "code"


def test_contents_count_and_times_do_not(folder):
    before = fingerprint(folder)
    assert not is_changed(before, folder)
    os.utime(folder / "a.py", (0, 0))
    assert not is_changed(before, folder)
    other = shutil.copytree(folder, folder.with_name("other"), copy_function=shutil.copy)
    assert not is_changed(before, other)
    (folder / "__pycache__/new.pyc").touch()
    for name in (".a.py.swp", ".#a.py", "#a.py#", "4913", "a.py~"):
        (folder / name).touch()
    (folder / "broken.py").symlink_to("nowhere")
    (folder / "again").symlink_to(folder)
    assert not is_changed(before, folder)


@pytest.mark.parametrize(
    "edit",
    [
        lambda path: path.write_text("# deep/c.py\n"),
        lambda path: path.with_name("c.py").touch(),
        lambda path: path.unlink(),
        lambda path: path.rename(path.with_name("c.py")),
    ],
    ids=["change", "add", "remove", "rename"],
)
def test_edits(folder, edit):
    before = fingerprint(folder)
    edit(folder / "deep/b.py")
    assert is_changed(before, folder)


def test_steps_check_the_code_that_they_run(tmp_path):
    """Not that of the process that took the fingerprint."""
    source = tmp_path / "src"
    shutil.copytree(PACKAGE, source / "itersel", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(source), CODE_VARIABLE: fingerprint()}
    assert limited("weights", "show", "--help", env=environment).returncode == 0
    with (source / "itersel/errors.py").open("a") as stream:
        stream.write("# edited\n")
    done = limited("weights", "show", "--help", env=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"itersel weights: {source / 'itersel'}: ")
    assert done.stderr.count("\n") == 1
