"""``itersel align``: models on a tiny corpus, given alignments, and bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from itersel.align.direction import SentenceLengthError
from itersel.align.pharaoh import read_alignment
from itersel.align.train import align
from itersel.cli.main import main
from itersel.storage.files import read_lines, write_lines

SOURCE = ["das haus", "das buch", "ein buch", "ein haus", "das kleine haus", "ein kleines buch", "", "haus"]
TARGET = ["the house", "the book", "a book", "a house", "the small house", "a small book", "nothing", "house"]
# Aligned word by word, in order; an empty side has no links.
ALIGNMENT = ["0-0 1-1"] * 4 + ["0-0 1-1 2-2"] * 2 + ["", "0-0"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_lines(tmp_path / "source", SOURCE)
    write_lines(tmp_path / "target.gz", TARGET)
    return tmp_path


def run(folder: Path, *options: str) -> int:
    files = ["--source", str(folder / "source"), "--target", str(folder / "target.gz")]
    return main(["align", *files, "--output", str(folder / "out.gz"), *options])


@pytest.mark.parametrize("model", ["eflomal", "fast_align", "hmm", "ibm4"])
def test_models_find_the_obvious_alignment(corpus: Path, model: str) -> None:
    assert run(corpus, "--model", model) == 0
    assert read_lines(corpus / "out.gz") == ALIGNMENT


def test_same_seed_same_bytes_on_any_number_of_cores(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(corpus, "--seed", "7")
    first = (corpus / "out.gz").read_bytes()
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        run(corpus, "--seed", "7")
    finally:
        os.sched_setaffinity(0, cores)
    assert (corpus / "out.gz").read_bytes() == first


def test_reserved_words_of_thot_are_ordinary_words() -> None:
    source, target = [["NULL", "haus"], ["NULL"], ["haus"]] * 3, [["NULL", "house"], ["NULL"], ["house"]] * 3
    forward, reverse = align(source, target, "fast_align")
    assert forward[0] == reverse[0] == [(0, 0), (1, 1)]


def test_a_sentence_that_is_too_long_is_an_error_not_an_empty_line(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(corpus / "source", [*SOURCE[:-1], "haus " * 201])
    assert run(corpus, "--model", "hmm") == 1
    error = capsys.readouterr().err
    assert f"{corpus / 'source'}:8: over 200 tokens" in error
    assert not (corpus / "out.gz").exists()


def test_the_pair_that_is_too_long_is_counted_with_the_empty_ones() -> None:
    with pytest.raises(SentenceLengthError) as caught:
        align([[], ["a"], ["a"] * 1025], [["b"], ["b"], ["b"]])
    assert (caught.value.pair, caught.value.limit) == (2, 1024)


def test_without_the_aligner(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is optional, because some machines have no wheel."""
    monkeypatch.setitem(sys.modules, "thot", None)
    assert run(corpus) == 1
    error = capsys.readouterr().err
    assert "pip install 'itersel[align]'" in error
    assert error.count("\n") == 1
    assert not (corpus / "out.gz").exists()


def test_given_alignments_are_symmetrised(tmp_path: Path) -> None:
    write_lines(tmp_path / "forward", ["0-0 1-1", ""])
    write_lines(tmp_path / "reverse.gz", ["0-0 2-1", "0-0"])
    options = ["--forward", str(tmp_path / "forward"), "--reverse", str(tmp_path / "reverse.gz")]
    for heuristic, lines in (
        ("grow-diag-final-and", ["0-0 1-1 2-1", "0-0"]),
        ("intersection", ["0-0", ""]),
        ("union", ["0-0 1-1 2-1", "0-0"]),
    ):
        output = tmp_path / heuristic
        assert main(["align", *options, "--symmetrization", heuristic, "--output", str(output)]) == 0
        assert read_lines(output) == lines


def test_different_line_counts(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "source", SOURCE[:5])
    assert run(corpus) == 1
    assert f"{corpus / 'target.gz'}:6: has no partner: 8 lines, but 5 in" in capsys.readouterr().err
    assert not (corpus / "out.gz").exists()


def test_different_line_counts_of_alignments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "forward", ["0-0"])
    write_lines(tmp_path / "reverse", ["0-0", "0-0"])
    options = ["--forward", str(tmp_path / "forward"), "--reverse", str(tmp_path / "reverse")]
    assert main(["align", *options, "--output", str(tmp_path / "out")]) == 1
    assert f"{tmp_path / 'reverse'}:2:" in capsys.readouterr().err


@pytest.mark.parametrize("bad", ["0:1", "1-", "a-b", "1--2", "-1-0", "0-0-0"])
def test_malformed_points(tmp_path: Path, bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "forward", ["0-0", f"0-0 {bad}"])
    write_lines(tmp_path / "reverse", ["0-0", "0-0"])
    options = ["--forward", str(tmp_path / "forward"), "--reverse", str(tmp_path / "reverse")]
    assert main(["align", *options, "--output", str(tmp_path / "out")]) == 1
    assert f"{tmp_path / 'forward'}:2: '{bad}' is not an alignment point" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_empty_alignment_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(Exception, match="empty: is empty"):
        read_alignment(tmp_path / "empty")


@pytest.mark.parametrize(
    "options", [["--source", "x"], ["--forward", "x"], ["--source", "x", "--reverse", "y"]]
)
def test_half_of_an_input_is_an_error(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", *options, "--output", "never"]) == 1
    assert "give either" in capsys.readouterr().err


def test_unknown_model_is_a_usage_error(corpus: Path) -> None:
    assert run(corpus, "--model", "giza") == 2
    assert run(corpus, "--seed", "-1") == 2


@pytest.mark.parametrize("step", ["align", "run"])
def test_files_with_names_of_modules_are_not_imported(corpus: Path, step: str) -> None:
    """Processes that a step starts do not look for modules in the working directory."""
    for name in ("types", "json", "tokenize", "numbers"):
        (corpus / f"{name}.py").write_text("raise SystemExit('imported')\n")
    words = {
        "align": ["--source", "source", "--target", "target.gz", "--output", "out.gz"],
        "run": ["--version"],
    }
    program = Path(sys.executable).with_name("itersel")
    command = [program, step, *words[step]]
    done = subprocess.run(command, cwd=corpus, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if step == "align":
        assert read_lines(corpus / "out.gz") == ALIGNMENT
