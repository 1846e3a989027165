"""``itersel align``: a tiny corpus, given alignments, and bad input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from itersel.cli.main import main
from itersel.corpus.pharaoh import read_alignment
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


def test_the_obvious_alignment(corpus: Path) -> None:
    assert run(corpus) == 0
    assert read_lines(corpus / "out.gz") == ALIGNMENT


@pytest.mark.parametrize(
    "options", [["--symmetrization", "union"], ["--forward", "x", "--reverse", "y"], ["--forward", "x"]]
)
def test_direction_goes_alone(corpus: Path, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(corpus, "--direction", "forward", *options) == 1
    assert "--direction can be used with --source and --target, but not" in capsys.readouterr().err


def test_alignments_from_pipes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0-0\n")
    command = f"{sys.executable} -m itersel.cli.main align --forward <(cat a) --reverse <(cat a) --output out"
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    assert read_lines(tmp_path / "out") == ["0-0"]


def test_directions_are_symmetrised_as_one_command_does(corpus: Path) -> None:
    assert run(corpus, "--seed", "7") == 0
    expected = (corpus / "out.gz").read_bytes()
    options = []
    for direction in ("forward", "reverse"):
        assert run(corpus, "--seed", "7", "--direction", direction) == 0
        (corpus / "out.gz").rename(corpus / f"{direction}.gz")
        options += [f"--{direction}", str(corpus / f"{direction}.gz")]
    assert main(["align", *options, "--output", str(corpus / "out.gz")]) == 0
    assert (corpus / "out.gz").read_bytes() == expected


def test_models_align_other_text(corpus: Path) -> None:
    """One model gives its direction, two are symmetrised; the order of the files does not matter."""
    models = [str(corpus / f"{direction}.model") for direction in ("reverse", "forward")]
    for model in models:
        assert run(corpus, "--direction", Path(model).stem, "--save", model) == 0
    lines = {"buch das": "the book", "haus ein ein": "house a", "": "", "neu haus": "house", "das": "the"}
    write_lines(corpus / "source", list(lines))
    write_lines(corpus / "target.gz", list(lines.values()))
    found = {}
    for chosen in (models, models[::-1], models[:1], models[1:]):
        assert run(corpus, *(word for model in chosen for word in ("--model", model))) == 0
        found[tuple(chosen)] = read_lines(corpus / "out.gz")
    both, turned, reverse, forward = found.values()
    for name, points in (("reverse", reverse), ("forward", forward)):
        write_lines(corpus / name, points)
    given = ["--forward", str(corpus / "forward"), "--reverse", str(corpus / "reverse")]
    assert main(["align", *given, "--output", str(corpus / "expected")]) == 0
    assert both == turned == read_lines(corpus / "expected")
    # "neu" is unknown; without what the model knows, the second word would be linked to the first
    assert (forward[3], reverse[3]) == ("1-0", "1-0")
    for points, side in ((forward, 1), (reverse, 0)):
        assert all(
            len({link.split("-")[side] for link in line.split()}) == len(line.split()) for line in points
        )


def test_links_with_a_model_do_not_depend_on_other_lines(corpus: Path) -> None:
    model = str(corpus / "forward.model")
    assert run(corpus, "--direction", "forward", "--save", model) == 0
    assert run(corpus, "--model", model) == 0
    alone = read_lines(corpus / "out.gz")
    for path, lines in ((corpus / "source", SOURCE), (corpus / "target.gz", TARGET)):
        write_lines(path, ["", "haus", *lines, *reversed(lines)])
    assert run(corpus, "--model", model) == 0
    assert read_lines(corpus / "out.gz")[2:] == [*alone, *reversed(alone)]


def test_model_of_other_text(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(corpus / "forward.model")
    assert run(corpus, "--direction", "forward", "--save", model) == 0
    for name in ("source", "target.gz"):
        write_lines(corpus / name, ["the house"])
    assert run(corpus, "--model", model) == 1
    assert "forward.model: knows no word of one side" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--save", "m"], "--save needs --direction"),
        (["--save", "out.gz", "--direction", "forward"], "--save and --output name the same file"),
        (["--model", "forward.model", "--direction", "forward"], "not with --direction or --save"),
        (["--model", "forward.model", "--save", "m"], "not with --direction or --save"),
        (["--model", "forward.model", "forward.model"], "one model, or one of each direction"),
        (["--model", "forward.model", "--symmetrization", "union"], "needs models of both directions"),
        (["--model", "nowhere.model"], "nowhere.model: no such file"),
    ],
)
def test_models_with_other_options(
    corpus: Path,
    options: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(corpus)
    assert run(corpus, "--direction", "forward", "--save", "forward.model") == 0
    (corpus / "out.gz").unlink()
    assert run(corpus, *options) == 1
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in corpus.iterdir()) == ["forward.model", "source", "target.gz"]


def test_a_sentence_that_is_too_long(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "source", [*SOURCE[:-1], "haus " * 1025])
    assert run(corpus) == 1
    assert f"{corpus / 'source'}:8: has over 1,024 words" in capsys.readouterr().err
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
        list(read_alignment(tmp_path / "empty"))


@pytest.mark.parametrize(
    "options",
    [["--source", "x"], ["--forward", "x"], ["--source", "x", "--reverse", "y"], ["--direction", "forward"]],
)
def test_half_of_an_input_is_an_error(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", *options, "--output", "never"]) == 1
    assert "give either" in capsys.readouterr().err


def test_usage_errors(corpus: Path) -> None:
    assert run(corpus, "--direction", "both") == 2
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
