"""The lines that the language model of a fold leaves out."""

import shutil

import pytest
from tests.declared import redeclare
from tests.refusals import input_error
from tests.systems import itersel

from itersel.corpus.dividing import divide_corpus, equal_groups
from itersel.lm.arpa import write_arpa
from itersel.lm.estimate import estimate
from itersel.lm.numbered_text import lines_of_fold, read_numbered_text
from itersel.storage.files import read_lines, write_lines

LINES = [f"a{i % 7} b{i % 3} a{i % 5}" for i in range(43)]
DIFFERS = "0.target.gz"
MIXED = ("divided:", 43)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "a text"
    write_lines(path, LINES)
    divide_corpus(path, path, lambda lines: equal_groups(lines, 5, 3), tmp_path / "divided")
    return path


def ids(text, *files):
    return {int(line) for z in files for line in (text.parent / f"divided/{z}.ids").read_text().split()}


def test_every_line_is_in_one_fold(text):
    folds = [lines_of_fold(text, text.parent / "divided", fold, 3) for fold in range(3)]
    assert sorted(line for fold in folds for line in fold) == list(range(len(LINES)))
    assert folds == [ids(text, 0, 3), ids(text, 1, 4), ids(text, 2)]
    with input_error("divided:", 5, 6):
        lines_of_fold(text, text.parent / "divided", 0, 6)


def test_copies_are_left_out_whatever_their_file(text):
    write_lines(text, [*LINES, *LINES[:2], LINES[0]])
    folder = text.parent / "with copies"
    divide_corpus(text, text, lambda lines: equal_groups(lines, 5, 3), folder)
    copies = [{0, 43, 45}, {1, 44}]
    lines = [read_lines(folder / f"{file}.ids") for file in range(5)]
    assert any("@" in line for numbered in lines for line in numbered)
    for fold in range(3):
        own = {int(line.split()[0]) for numbered in lines[fold::3] for line in numbered}
        expected = own.union(*(group for group in copies if group & own))
        assert lines_of_fold(text, folder, fold, 3) == expected


def test_the_command_estimates_from_the_rest(text):
    rest, left_out = text.with_name("rest"), ids(text, 1, 3)
    write_lines(rest, [line for i, line in enumerate(LINES) if i not in left_out])
    folds = ["--leave-out", text.parent / "divided", "--fold=1/2", "--output", text.with_name("fold.arpa")]
    itersel("lm", "estimate", "--order=3", "--input", text, *folds)
    write_arpa(text.with_name("rest.arpa"), estimate(read_numbered_text([rest]), 3))
    assert text.with_name("fold.arpa").read_text() == text.with_name("rest.arpa").read_text()


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ("--leave-out=x --input=y", ("--leave-out", "--fold")),
        ("--fold=0/2 --input=y", ("--leave-out", "--fold")),
        ("--leave-out=x --fold=0/2 --input=-", "--leave-out"),
    ],
)
def test_conflicting_options(arguments, facts, tmp_path, refused):
    refused(["lm", "estimate", "--order=3", *arguments.split(), f"--output={tmp_path / 'new'}"], facts)


@pytest.mark.parametrize(
    ("damage", "facts"),
    [
        (lambda text, _: write_lines(text, LINES[::-1]), (DIFFERS, "0.ids")),
        (lambda _, folder: write_lines(folder / "0.target.gz", ["x"] * 9), DIFFERS),
        (lambda text, _: write_lines(text, [*LINES, "a"]), 44),
        (lambda _, folder: shutil.copy(folder / "0.ids", folder / "1.ids"), MIXED),
        (lambda _, folder: write_lines(folder / "1.ids", []), MIXED),
        (lambda _, folder: (folder / "4.ids").unlink(), MIXED),
        (lambda _, folder: (folder / "1.ids").unlink(), "1.ids"),
        (lambda _, folder: write_lines(folder / "1.ids", ["4", "-1"]), ("ids:2:", "'-1'")),
        (lambda _, folder: shutil.rmtree(folder), ("divided:", "'itersel step divide'")),
    ],
)
def test_a_folder_of_another_text(text, damage, facts):
    """Even if it declares what is in it."""
    damage(text, folder := text.parent / "divided")
    if folder.exists():
        redeclare(folder)
    with input_error(facts):
        lines_of_fold(text, text.parent / "divided", 0, 2)


def test_lines_that_are_in_no_file(text):
    """Natural tasks may leave lines out of all files; every fold includes them."""
    folder = text.parent / "divided"
    (folder / "4.ids").rename(folder / "rest.ids")
    redeclare(folder)
    found = [lines_of_fold(text, folder, fold, 4) for fold in range(4)]
    rest = set(map(int, (folder / "rest.ids").read_text().split()))
    assert set.union(*found) == set(range(len(LINES))) - rest
