"""Oversized text: memory depends only on the text that is kept, and the length of lines is limited."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.limited import MEBIBYTE, limited
from tests.refusals import check_facts, input_error

from itersel.cli.main import main
from itersel.storage.files import BLOCK_BYTES, MAX_LINE_BYTES, line_blocks, packing_of, read_lines
from itersel.storage.json_files import read_json

contents = st.binary(max_size=60) | st.text("a\n\r\u00e9\ufeff", max_size=60).map(str.encode)


def pack(path, piece, times):
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(times):
            stream.write(piece)
    return path


def prepare(source, target, *options):
    languages = ["--source-language", "de", "--target-language", "en", "--tokenized"]
    files = ["--source", source, "--target", target, "--output", source.parent / "out"]
    return ["corpus", "prepare", *files, *languages, *options]


@pytest.mark.slow
def test_empty_lines_of_a_training_corpus_cost_no_memory(tmp_path):
    """64 million empty lines used to take 6 GB, 16 million 1.6 GB."""
    times = 16
    for name, words in (("source.gz", b"ein haus\n"), ("target.gz", b"a house\n")):
        pack(tmp_path / name, b"\n" * MEBIBYTE, times)
        with gzip.open(tmp_path / name, "ab") as stream:
            stream.write(words)
    command = prepare(tmp_path / "source.gz", tmp_path / "target.gz", "--split=train")
    done = limited(*command, memory=400 * MEBIBYTE)
    assert (done.stderr, done.returncode) == ("", 0)
    assert read_lines(tmp_path / "out/train.source.gz") == ["ein haus"]
    statistics = json.loads((tmp_path / "out/train.statistics.json").read_text())
    assert statistics["splits"]["train"]["dropped"]["empty"] == times * MEBIBYTE


@pytest.mark.slow
@pytest.mark.parametrize("command", ["prepare", "bleu", "weights"])
def test_an_endless_line(tmp_path, command):
    path = pack(tmp_path / "line.gz", b"a" * MEBIBYTE, 160)
    others = {"bleu": ["bleu", "--reference", path, path], "weights": ["weights", "show", path]}
    arguments = {"prepare": prepare(path, path, "--split", "dev"), **others}
    done = limited(*arguments[command], memory=500 * MEBIBYTE)
    assert done.returncode == 1
    limit, advice = MAX_LINE_BYTES, ()
    if command == "prepare":
        limit, advice = MEBIBYTE, ("data.max_line_bytes", "--max-line-bytes")
    check_facts(done.stderr, f"{path}:1:", limit, advice)
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_limit_is_exact(tmp_path, suffix, end):
    path = tmp_path / f"text{suffix}"

    def lengths(size):
        content = b"\xef\xbb\xbf" + b"a" * 1024 + b"\nb\n" + b"c" * size + end
        path.write_bytes(gzip.compress(content) if suffix else content)
        return [len(line) for block in line_blocks(path, 1024) for line in block]

    for size in (1023, 1024):
        assert lengths(size) == [1024, 1, size]
    with input_error(f"{path}:3:", 1024):
        lengths(1025)


def test_the_limit_of_the_command_line(tmp_path, refused, misused):
    (tmp_path / "source").write_text("a\n" + "b " * 1000 + "\n")
    (tmp_path / "target").write_text("x\ny\n")
    arguments = [*map(str, prepare(tmp_path / "source", tmp_path / "target", "--split=dev"))]
    facts = (f"{tmp_path / 'source'}:2:", 1999)
    refused([*arguments, "--max-line-bytes=1999"], facts)
    assert main([*arguments, "--max-line-bytes=2000"]) == 0
    misused([*arguments, "--max-line-bytes=10"], "--max-line-bytes")


@given(contents, st.integers(60, 70))
def test_blocks_are_the_lines_of_the_text(tmp_path, content, size):
    """For any block size, lines are the text split at line feeds."""
    path = tmp_path / "text"
    path.write_bytes(content)
    text = content.removeprefix(b"\xef\xbb\xbf")
    try:
        lines = text.decode().split("\n")
    except UnicodeDecodeError as error:
        packing = packing_of(text)
        bad = None if packing else text.count(b"\n", 0, error.start) + 1
        with input_error(packing or "UTF-8") as raised:
            list(line_blocks(path, size))
        assert raised.value.line == bad
        return
    expected = [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
    assert [line for block in line_blocks(path, size) for line in block] == expected
    assert read_lines(path) == expected


def test_lines_that_are_longer_than_a_piece(tmp_path):
    sizes = 1, BLOCK_BYTES, 3, 3 * BLOCK_BYTES // 2, BLOCK_BYTES // 2 - 1, 0, 5
    lines = ["\u00e9" * size for size in sizes]
    (tmp_path / "text").write_text("\n".join(lines), encoding="utf-8")
    assert read_lines(tmp_path / "text") == lines


@pytest.mark.slow
@pytest.mark.parametrize("step", ["arpa", "alignment"])
def test_readers_of_whole_files(tmp_path, step):
    path = pack(tmp_path / "newlines.gz", b"\n" * MEBIBYTE, 128)
    (tmp_path / "text").write_text("a\n")
    text = ["--source", tmp_path / "text", "--target", tmp_path / "text"]
    arguments = ["lm", "compile", "--input", path]
    if step == "alignment":
        arguments = ["grammar", "index", *text, "--alignment", path]
    done = limited(*arguments, "--output", tmp_path / "out", memory=1200 * MEBIBYTE)
    assert done.returncode == 1
    check_facts(done.stderr, f"{path}:", 100)
    assert done.stderr.count("\n") == 1


def test_a_json_file_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr("itersel.storage.json_files.MAX_JSON_BYTES", 10)
    (tmp_path / "x.json").write_text('{"a": "0123456789"}')
    with input_error("x.json", 10):
        read_json(tmp_path / "x.json")
