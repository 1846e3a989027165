"""gzip, xz and Zstandard: chosen by file name, and damaged files are distinguished from text."""

import bz2
import gzip
import lzma
import sys

import pytest
from tests.limited import limited
from tests.refusals import input_error

from itersel.storage import files
from itersel.storage.files import (
    COMPRESSIONS,
    UNPACKED_BYTES,
    byte_blocks,
    line_blocks,
    read_bytes,
    read_lines,
    write_lines,
)

LINES = ["ein Haus", "", "größer"] * 500
MAGIC = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\0", ".zst": b"\x28\xb5\x2f\xfd"}
NAMES = {".gz": "gzip", ".xz": "xz", ".zst": "zstd"}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_round_trip(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    write_lines(path, LINES)
    packed = path.read_bytes()
    assert len(packed) < 1000
    assert read_lines(path) == LINES
    # other programs must be able to read the files
    assert packed.startswith(MAGIC[suffix])
    assert b"".join(byte_blocks(path, 100)) == read_bytes(path) == "".join(f"{x}\n" for x in LINES).encode()
    capitals = tmp_path / f"TEXT{suffix.upper()}"
    write_lines(capitals, LINES)
    assert capitals.read_bytes() == packed
    assert read_lines(capitals) == LINES


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("size", [0, 3, 20, -3, None])
def test_damaged_files(tmp_path, suffix, size):
    """Truncated ones, and text."""
    path = tmp_path / f"text{suffix}"
    write_lines(path, LINES)
    text = b"not packed, but long enough for any header\n"
    path.write_bytes(text if size is None else path.read_bytes()[:size])
    with input_error(NAMES[suffix]) as error:
        read_lines(path)
    assert error.value.path == path


def test_packed_files_under_the_name_of_text(tmp_path):
    path = tmp_path / "text.packed"
    for content, facts in (
        (gzip.compress(b"text\n", mtime=0), ("gzip", ".gz")),
        (lzma.compress(b"text\n"), ("xz", ".xz")),
        (bz2.compress(b"text\n" * 99), ("bzip2", ".gz", ".xz", ".zst")),
    ):
        path.write_bytes(content)
        with input_error(f"{path}:", facts):
            read_lines(path)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_bombs(tmp_path, suffix):
    """Files that are read whole must not unpack to far more than text; streamed files may."""
    path = tmp_path / f"bomb{suffix}"
    write_lines(path, ["x" * (2**16 - 1)] * (UNPACKED_BYTES // 2**16))
    assert len(read_bytes(path)) == UNPACKED_BYTES
    write_lines(path, ["x" * 2**16] * 1100)
    facts = (f"bomb{suffix}:", 100)
    for read in (read_lines, read_bytes, lambda path: list(byte_blocks(path, is_kept=True))):
        with input_error(facts):
            read(path)
    assert sum(map(len, line_blocks(path))) == 1100
    assert sum(map(len, byte_blocks(path))) == 1100 * (2**16 + 1)


def test_names():
    assert files.compression_of("a.txt") is None
    assert files.compression_of("a.zst") is files.compression_of("A.ZST") is COMPRESSIONS[".zst"]
    assert files.without_compression("a.tmx.xz") == "a.tmx"
    assert files.without_compression("A.TMX.GZ") == "A.TMX"
    assert files.without_compression("a.b/c") == "a.b/c"


def test_missing_modules_are_named(monkeypatch, tmp_path):
    for suffix in (".xz", ".zst"):
        write_lines(tmp_path / f"a{suffix}", ["x"])
    for module in ("lzma", "backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delattr(sys.modules.get("backports", sys), "zstd", raising=False)
    with input_error("lzma", ".xz"):
        read_lines(tmp_path / "a.xz")
    with input_error(".zst"):
        read_lines(tmp_path / "a.zst")


def test_modules_are_loaded_when_they_are_needed():
    code = "import sys, itersel.storage.files; print({'gzip', 'backports.zstd'} & {*sys.modules})"
    assert limited(program=("-c", code)).stdout == "set()\n"
