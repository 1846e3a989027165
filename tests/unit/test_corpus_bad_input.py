"""Invalid input: exit status 1, one line that names file and line, and nothing written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from itersel.cli.main import main
from itersel.storage.files import write_lines


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_lines(tmp_path / "source", ["ein haus", "das kleine haus"])
    write_lines(tmp_path / "target", ["a house", "the small house"])
    return tmp_path


def prepare(folder: Path, *options: str) -> int:
    files = [
        "--source",
        str(folder / "source"),
        "--target",
        str(folder / "target"),
        "--output",
        str(folder / "out"),
    ]
    languages = ["--source-language", "de", "--target-language", "en", "--tokenized", "--split", "train"]
    return main(["corpus", "prepare", *files, *languages, *options])


def check_error(folder: Path, capsys: pytest.CaptureFixture[str], *parts: str) -> None:
    """Check the last error: one line that contains these parts, and no output folder."""
    error = capsys.readouterr().err
    assert error.startswith("itersel corpus: ")
    assert error.count("\n") == 1
    for part in parts:
        assert part in error
    assert not (folder / "out").exists()


def test_good_input(corpus: Path) -> None:
    assert prepare(corpus) == 0
    assert (corpus / "out" / "train.statistics.json").exists()


def test_missing_file(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (corpus / "target").unlink()
    assert prepare(corpus) == 1
    check_error(corpus, capsys, f"{corpus / 'target'}: no such file")


@pytest.mark.parametrize(("longer", "shorter"), [("source", "target"), ("target", "source")])
def test_different_line_counts(
    corpus: Path, longer: str, shorter: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(corpus / longer, ["x"] * 5)
    assert prepare(corpus) == 1
    # Line 3 is the first without a partner.
    check_error(corpus, capsys, f"{corpus / longer}:3: ", "5 lines, but 2 in", str(corpus / shorter))


def test_different_line_counts_of_tasks(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "task", ["news"])
    assert prepare(corpus, "--task", str(corpus / "task")) == 1
    check_error(corpus, capsys, f"{corpus / 'source'}:2: ", str(corpus / "task"))


def test_invalid_utf8(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (corpus / "target").write_bytes(b"a house\nthe \xfcber house\n")
    assert prepare(corpus) == 1
    check_error(corpus, capsys, f"{corpus / 'target'}:2: not valid UTF-8")


@pytest.mark.parametrize("name", ["source", "target"])
def test_empty_file(corpus: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (corpus / name).write_bytes(b"")
    assert prepare(corpus) == 1
    check_error(corpus, capsys, f"{corpus / name}: is empty")


@pytest.mark.parametrize("character", ["\x00", "\x07", "\t", "\r", "\x1f", "\x7f", "\x85", "\x9f"])
def test_control_character(corpus: Path, character: str, capsys: pytest.CaptureFixture[str]) -> None:
    (corpus / "source").write_text(f"ein haus\ndas{character}kleine haus\n", encoding="utf-8", newline="")
    assert prepare(corpus) == 1
    check_error(corpus, capsys, f"{corpus / 'source'}:2: control character U+{ord(character):04X}")


def test_windows_line_ends_are_not_control_characters(corpus: Path) -> None:
    (corpus / "source").write_bytes(b"ein haus\r\ndas kleine haus\r\n")
    assert prepare(corpus) == 0


@pytest.mark.parametrize("token", ["|||", "a|||b"])
def test_field_separator_in_a_token(corpus: Path, token: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "target", ["a house", f"the {token} house"])
    assert prepare(corpus) == 1
    check_error(corpus, capsys, f"{corpus / 'target'}:2: '|||'")


@pytest.mark.parametrize("point", ["2-0", "0-2"])
def test_alignment_point_outside_its_sentence(
    corpus: Path, point: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(corpus / "alignment.gz", [f"0-0 {point}", "0-0 2-2"])
    assert prepare(corpus, "--alignment", str(corpus / "alignment.gz")) == 1
    check_error(corpus, capsys, f"{corpus / 'alignment.gz'}:1: alignment point {point}", "2 and 2")


def test_malformed_alignment_point(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "alignment", ["0-0", "0-0 1~1"])
    assert prepare(corpus, "--alignment", str(corpus / "alignment")) == 1
    check_error(corpus, capsys, f"{corpus / 'alignment'}:2: '1~1'")


def test_alignment_of_text_that_is_not_tokenized(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "alignment", ["0-0", "0-0"])
    files = ["--source", str(corpus / "source"), "--target", str(corpus / "target")]
    options = ["--source-language", "de", "--target-language", "en", "--output", str(corpus / "out")]
    assert main(["corpus", "prepare", *files, *options, "--alignment", str(corpus / "alignment")]) == 1
    check_error(corpus, capsys, f"{corpus / 'alignment'}: ", "--tokenized")


@pytest.mark.parametrize("label", ["", "two words"])
def test_task_label_that_is_not_a_word(corpus: Path, label: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "task", ["news", label])
    assert prepare(corpus, "--task", str(corpus / "task")) == 1
    check_error(corpus, capsys, f"{corpus / 'task'}:2: '{label}' is not a task label")


def test_monolingual_text_is_checked_too(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "more", ["fine", "not\x01fine"])
    assert prepare(corpus, "--monolingual", str(corpus / "more")) == 1
    check_error(corpus, capsys, f"{corpus / 'more'}:2: control character U+0001")


def test_truncated_gzip(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = gzip.compress(b"the house\n" * 500)
    (corpus / "more.gz").write_bytes(whole[: len(whole) // 2])
    assert prepare(corpus, "--monolingual", str(corpus / "more.gz")) == 1
    check_error(corpus, capsys, f"{corpus / 'more.gz'}: damaged or truncated gzip file")


def test_unknown_module(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "task", ["news", "law"])
    assert prepare(corpus, "--task", str(corpus / "task"), "--modules", "law,sports") == 1
    check_error(corpus, capsys, "no pair is of module sports; there are law, news")


def test_nothing_left_to_train_on(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert prepare(corpus, "--max-length", "1") == 1
    check_error(corpus, capsys, "no pair is left for train")


def test_languages_are_missing(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--source", str(corpus / "source"), "--target", str(corpus / "target")]
    assert main(["corpus", "prepare", *files, "--output", str(corpus / "out")]) == 1
    check_error(corpus, capsys, "--source-language")


def test_preparation_of_another_kind(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(corpus / "preparation.json", ['{"source_language": "de"}'])
    files = [
        "--source",
        str(corpus / "source"),
        "--target",
        str(corpus / "target"),
        "--output",
        str(corpus / "out"),
    ]
    assert main(["corpus", "prepare", *files, "--preparation", str(corpus / "preparation.json")]) == 1
    check_error(corpus, capsys, f"{corpus / 'preparation.json'}: is not a preparation.json")


def test_statistics_of_another_kind(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "statistics", str(corpus / "source")]) == 1
    check_error(corpus, capsys, f"{corpus / 'source'}: is not a statistics file")


@pytest.mark.parametrize("options", [["--max-length", "0"], ["--max-ratio", "nan"], ["--max-train", "-1"]])
def test_invalid_bounds_are_usage_errors(corpus: Path, options: list[str]) -> None:
    assert prepare(corpus, *options) == 2
