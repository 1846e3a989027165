"""Folders of n-best lists, which stand for their files."""

import pytest
from tests.refusals import input_error

from itersel import rescore, tune_nbest
from itersel.cli.main import main
from itersel.storage.files import write_lines

# in the order of the names of the files
LISTS = {
    "1.gz": ["0 ||| a b c d ||| f=1 g=3", "1 ||| e f g h ||| f=2 g=1"],
    "10": ["0 ||| a b x d ||| f=2 g=1"],
    "2": ["1 ||| e x g h ||| f=1 g=0"],
}
COMMANDS = {
    "first": ["rescore", "--first"],
    "best": ["rescore", "--weights=weights", "--feature=n=numbers"],
    "ranked": ["rescore", "--weights=weights", "--feature=n=numbers", "--k-best=2"],
    "tuned": ["tune", "--tuner=kbest-mira", "--quality=chrf", "--reference=reference", "--feature=n=numbers"],
    "seeds": [
        *("tune", "--tuner=kbest-mira", "--quality=numbers", "--seeds=1-2"),
        *("--devtest-nbest=lists", "--devtest-quality=numbers"),
    ],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with lists in a folder, which also has a hidden file and a folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lists/within").mkdir(parents=True)
    for name, lines in LISTS.items():
        write_lines(f"lists/{name}", lines)
    write_lines("lists/.hidden", ["no list"])
    write_lines("weights", ["f 1", "n -2"])
    write_lines("numbers", ["0.5", "0", "2", "3"])
    write_lines("reference", ["a b x d", "e f g h"])
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_same_as_their_files(folder, command):
    for output, lists in (("of-files", [f"lists/{name}" for name in LISTS]), ("of-folder", ["lists"])):
        assert main([*command, "--nbest", *lists, "--output", output]) == 0
    assert (folder / "of-folder").read_bytes() == (folder / "of-files").read_bytes() != b""


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_folders_without_files(folder, refused, command):
    refused([*command, "--nbest", "empty", "--output", "new"], "empty:")
    assert not (folder / "new").exists()


def test_in_python(folder):
    files = [f"lists/{name}" for name in LISTS]
    assert rescore(["lists"], {"f": 1.0}) == rescore(files, {"f": 1.0}) == ["a b x d", "e f g h"]
    reference = ["a b x d", "e f g h"]
    found = [tune_nbest(lists, reference, tuner="pro", quality="chrf") for lists in (["lists"], files)]
    assert found[0].weights.to_dict() == found[1].weights.to_dict() != {}
    with input_error("empty:"):
        tune_nbest(["empty"], reference, tuner="pro")
    with input_error():
        rescore("lists", {"f": 1.0})
