"""``itersel align``: a tiny corpus, given alignments, and bad input."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numba import config
from tests.refusals import input_error

from itersel.align import sampler
from itersel.align.sampler import schedule
from itersel.cli.main import main
from itersel.corpus.alignments import read_alignment
from itersel.grammar.index_kernels import parse_alignments
from itersel.storage.files import read_lines, write_lines

SOURCE = ["das haus", "das buch", "ein buch", "ein haus", "das kleine haus", "ein kleines buch", "", "haus"]
TARGET = ["the house", "the book", "a book", "a house", "the small house", "a small book", "nothing", "house"]
# Aligned word by word, in order; an empty side has no links.
ALIGNMENT = ["0-0 1-1"] * 4 + ["0-0 1-1 2-2"] * 2 + ["", "0-0"]
TEXTS = "--source source --target target.gz"
EITHER = ("--source", "--target", "--forward", "--reverse")
# Sentence pairs of a text over which the aligner passes 26 times; over those here, 2,654 times.
SEVERAL = 100_000


@pytest.fixture(scope="module", autouse=True)
def fewer_passes() -> Iterator[None]:
    """Let interpreted kernels, which are slow, make fewer passes: enough for so little text."""
    with pytest.MonkeyPatch.context() as patch:
        if config.DISABLE_JIT:
            patch.setattr(sampler, "schedule", lambda pairs: schedule(max(pairs, SEVERAL)))
        yield


def write_corpus(folder: Path) -> None:
    write_lines(folder / "source", SOURCE)
    write_lines(folder / "target.gz", TARGET)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_corpus(tmp_path)
    return tmp_path


def command(folder: Path, *options: str) -> list[str]:
    files = [f"--source={folder / 'source'}", f"--target={folder / 'target.gz'}"]
    return ["align", *files, f"--output={folder / 'out.gz'}", *options]


def run(folder: Path, *options: str) -> list[str]:
    """Align the corpus, and return the lines of the output."""
    assert main(command(folder, *options)) == 0
    return read_lines(folder / "out.gz")


def symmetrize(folder: Path, forward: list[str], reverse: list[str], *options: str) -> list[str]:
    files = []
    for name, lines in (("forward", forward), ("reverse", reverse)):
        write_lines(folder / name, lines)
        files.append(f"--{name}={folder / name}")
    return ["align", *files, f"--output={folder / 'symmetrized'}", *options]


def test_the_obvious_alignment(corpus: Path) -> None:
    assert run(corpus) == ALIGNMENT


def test_alignments_from_pipes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0-0\n")
    command = f"{sys.executable} -m itersel.cli.main align --forward <(cat a) --reverse <(cat a) --output out"
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    assert read_lines(tmp_path / "out") == ["0-0"]


def test_directions_are_symmetrised_as_one_command_does(corpus: Path) -> None:
    expected = run(corpus, "--seed=7")
    directions = [run(corpus, "--seed=7", f"--direction={name}") for name in ("forward", "reverse")]
    assert main(symmetrize(corpus, *directions)) == 0
    assert read_lines(corpus / "symmetrized") == expected


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Train on the corpus; returns the models of both directions."""
    folder = tmp_path_factory.mktemp("trained")
    write_corpus(folder)
    paths = [folder / f"{direction}.model" for direction in ("reverse", "forward")]
    for path in paths:
        run(folder, "--direction", path.stem, "--save", str(path))
    return paths


@pytest.fixture
def models(trained: list[Path], corpus: Path) -> list[str]:
    """Return copies of the models, next to the corpus."""
    return [str(shutil.copy(path, corpus)) for path in trained]


def test_models_align_other_text(corpus: Path, models: list[str]) -> None:
    """One model gives its direction, two are symmetrised; the order of the files does not matter."""
    lines = {"buch das": "the book", "haus ein ein": "house a", "": "", "neu haus": "house", "das": "the"}
    write_lines(corpus / "source", list(lines))
    write_lines(corpus / "target.gz", list(lines.values()))
    both, turned, reverse, forward = (
        run(corpus, *(word for model in chosen for word in ("--aligner", model)))
        for chosen in (models, models[::-1], models[:1], models[1:])
    )
    assert main(symmetrize(corpus, forward, reverse)) == 0
    assert both == turned == read_lines(corpus / "symmetrized")
    # "neu" is unknown; without what the model knows, the second word would be linked to the first
    assert (forward[3], reverse[3]) == ("1-0", "1-0")


def test_links_with_a_model_do_not_depend_on_other_lines(corpus: Path, models: list[str]) -> None:
    alone = run(corpus, "--aligner", models[1])
    for path, lines in ((corpus / "source", SOURCE), (corpus / "target.gz", TARGET)):
        write_lines(path, ["", "haus", *lines, *reversed(lines)])
    assert run(corpus, "--aligner", models[1])[2:] == [*alone, *reversed(alone)]


def test_model_of_other_text(corpus, models, refused):
    for name in ("source", "target.gz"):
        write_lines(corpus / name, ["the house"])
    refused(command(corpus, "--aligner", models[1]), "forward.model")


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (f"{TEXTS} --save m", ("--save", "--direction")),
        (f"{TEXTS} --save out --direction forward", ("--save", "--output")),
        (f"{TEXTS} --aligner forward.model --direction forward", ("--direction", "--save")),
        (f"{TEXTS} --aligner forward.model --save m", ("--direction", "--save")),
        (f"{TEXTS} --aligner forward.model forward.model", "--aligner"),
        (f"{TEXTS} --aligner forward.model --symmetrization union", "--symmetrization"),
        (f"{TEXTS} --aligner nowhere.model", "nowhere.model"),
        (f"{TEXTS} --direction forward --symmetrization union", ("--symmetrization", "--direction")),
        (f"{TEXTS} --direction forward --forward x", ("--direction", "--source", "--target")),
        (f"{TEXTS} --forward x --reverse y", EITHER),
        (f"{TEXTS} --forward x", EITHER),
        *((part, EITHER) for part in ("--source x", "--forward x", "--source x --reverse y")),
        ("--direction forward", EITHER),
    ],
)
def test_options_that_do_not_go_together(corpus, models, options, facts, monkeypatch, refused):
    monkeypatch.chdir(corpus)
    refused(["align", *options.split(), "--output=out"], facts)


def test_given_alignments_are_symmetrised(tmp_path: Path) -> None:
    directions = ["0-0 1-1", "0-1"], ["0-0 2-1", "0-0"]
    assert main(symmetrize(tmp_path, *directions)) == 0
    assert read_lines(tmp_path / "symmetrized") == ["0-0 1-1 2-1", "0-1"]
    for heuristic, lines in {"intersection": ["0-0", ""], "union": ["0-0 1-1 2-1", "0-0 0-1"]}.items():
        assert main(symmetrize(tmp_path, *directions, f"--symmetrization={heuristic}")) == 0
        assert read_lines(tmp_path / "symmetrized") == lines


def test_bad_texts(corpus, refused):
    write_lines(corpus / "source", [*SOURCE[:-1], "haus " * 1025])
    refused(command(corpus), (f"{corpus}/source:8:", 1024))
    write_lines(corpus / "source", SOURCE[:5])
    refused(command(corpus), (f"{corpus}/target.gz:6:", 8, 5))


def test_bad_alignments(tmp_path, refused):
    for forward, facts in (
        (["0-0"], "reverse:2:"),
        (["0-0", "0-0 0:1"], ("forward:2:", "'0:1'")),
        ([], "forward:"),
    ):
        refused(symmetrize(tmp_path, forward, ["0-0", "0-0"]), (tmp_path, facts))


def test_usage_errors(corpus, misused):
    misused(command(corpus, "--direction=both"), "--direction", "'both'")
    misused(command(corpus, "--seed=-1"), "--seed", "'-1'")


@pytest.mark.parametrize("step", ["align", "run"])
def test_files_with_names_of_modules_are_not_imported(corpus: Path, step: str) -> None:
    """Processes that a step starts do not look for modules in the working directory."""
    for name in ("types", "json", "tokenize", "numbers"):
        (corpus / f"{name}.py").write_text("raise SystemExit('imported')\n")
    words = ["--source=source", "--target=target.gz", "--output=out.gz"] if step == "align" else ["--version"]
    command = [Path(sys.executable).with_name("itersel"), step, *words]
    # compiled in any case, because this process makes all passes
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(command, cwd=corpus, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if step == "align":
        assert read_lines(corpus / "out.gz") == ALIGNMENT


LINES = {
    "0-0 1-2": [(0, 0), (1, 2)],
    "": [],
    "  3-4   5-6 ": [(3, 4), (5, 6)],
    "999999999-1": [(999999999, 1)],
    "1000000000-1": None,
    "0-0\t1-1": None,
    "0-0\u00a01-1": None,
    "\u0661-1": None,
    **dict.fromkeys(("0-", "-1", "1-2-3", "1 2", "0:1", "a-b", "1--2", "-1-0")),
}


@pytest.mark.parametrize(("line", "points"), LINES.items())
def test_same_lines(line: str, points: list[tuple[int, int]] | None, tmp_path: Path) -> None:
    """The alignment readers of the aligner and of the index accept the same lines."""
    content = f"0-0\n{line}\n".encode()
    (tmp_path / "alignment").write_bytes(content)
    links, offset = np.zeros((9, 2), np.int32), np.zeros(3, np.int64)
    bad_line = parse_alignments(np.frombuffer(content, np.uint8), links, offset)
    if points is None:
        assert bad_line == 1
        with input_error("alignment:2:"):
            list(read_alignment(tmp_path / "alignment"))
    else:
        assert bad_line == -1
        assert [tuple(link) for link in links[offset[1] : offset[2]].tolist()] == points
        assert list(read_alignment(tmp_path / "alignment"))[1] == points
