"""Text that readers reject, and dangerous settings: one-line errors with file and line."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.cli.main import main
from itersel.limits import are_numeric, parse_number

ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\n-1\t</s>\n-1\tx\n\n\\end\\\n"
RULE = "[X] ||| a ||| x ||| A=1\n"
NO_NUMBERS = ["1_000", "\u0661", "0x10", "1e", "1,5", "\uff11", "+-1", "."]
CONTROLS = {"\x00": "U+0000", "\x0b": "U+000B", "\x1c": "U+001C", "\x7f": "U+007F", "\x85": "U+0085"}


def weights(folder: Path, content: bytes) -> tuple[Path, list[str]]:
    (folder / "weights").write_bytes(content)
    return folder / "weights", ["weights", "show", str(folder / "weights")]


def arpa(folder: Path, content: bytes) -> tuple[Path, list[str]]:
    (folder / "arpa").write_bytes(content)
    return folder / "arpa", [
        "lm",
        "compile",
        "--input",
        str(folder / "arpa"),
        "--output",
        str(folder / "out"),
    ]


def grammar(folder: Path, content: bytes) -> tuple[Path, list[str]]:
    path = folder / "grammar.0"
    path.write_bytes(content)
    (folder / "text").write_text("a\n")
    files = ["--input", str(folder / "text"), "--grammars", str(folder), "--output", str(folder / "out")]
    return path, ["grammar", "import", *files]


def check_refused(
    capsys: pytest.CaptureFixture[str], made: tuple[Path, list[str]], line: int, message: str
) -> None:
    path, arguments = made
    before = sorted(path.parent.iterdir())
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"itersel {arguments[0]}: {path}:{line}: ")
    assert message in error
    assert error.count("\n") == 1
    assert sorted(path.parent.iterdir()) == before


@pytest.mark.parametrize("number", NO_NUMBERS)
@pytest.mark.parametrize("kind", ["weights", "grammar", "arpa"])
def test_invalid_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, number: str) -> None:
    made, line, message = {
        "weights": (weights(tmp_path, f"a 1\nb {number}\n".encode()), 2, f"'{number}' is not a number"),
        "grammar": (
            grammar(tmp_path, (RULE + RULE.replace("A=1", f"A={number}")).encode()),
            2,
            f"feature 'A={number}', expected name=number",
        ),
        "arpa": (arpa(tmp_path, ARPA.replace("-1\tx", f"{number}\tx").encode()), 8, f"'{number}' is not a"),
    }[kind]
    check_refused(capsys, made, line, message)


@pytest.mark.parametrize("number", ["1\0", "1" * 500])
def test_numbers_of_language_models(tmp_path: Path, capsys: pytest.CaptureFixture[str], number: str) -> None:
    """numpy drops trailing NULs, and gives all texts the size of the longest."""
    made = arpa(tmp_path, ARPA.replace("-1\tx", f"-{number}\tx").encode())
    check_refused(capsys, made, 8, "is not a finite number")


def test_counts_that_are_too_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = arpa(tmp_path, ARPA.replace("1=4", "1=" + "4" * 5000).encode())
    check_refused(capsys, made, 2, "expected 'ngram 1=")


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_options_that_are_not_numbers(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--shard", "a", "--model", "b", "--output", "c", "--learning-rate", number]) == 2
    assert f"'{number}' is not a number" in capsys.readouterr().err


@given(st.text("0123456789+-.eE_ \u0661\x00\x0b", max_size=8) | st.floats().map(repr))
def test_both_readers_of_numbers_accept_the_same(text: str) -> None:
    try:
        number = parse_number(text)
    except ValueError:
        number = None
    if not are_numeric([text.encode()]) or " " in text:
        assert number is None or text.strip("-") in ("inf", "nan")
        return
    try:
        assert number == float(text)
    except ValueError:
        assert number is None


@pytest.mark.parametrize("character", CONTROLS)
@pytest.mark.parametrize("kind", ["weights", "feature", "source", "target", "reference", "text"])
def test_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, character: str
) -> None:
    word = f"b{character}c"
    if kind == "weights":
        made, line = weights(tmp_path, f"a 1\n{word} 2\n".encode()), 2
    elif kind in ("reference", "text"):
        path, arguments = grammar(tmp_path, RULE.encode())
        (tmp_path / "references").write_text(word if kind == "reference" else "x", encoding="utf-8")
        if kind == "text":
            (tmp_path / "text").write_text(word, encoding="utf-8")
        path = tmp_path / ("references" if kind == "reference" else "text")
        made, line = (path, [*arguments, "--references", str(tmp_path / "references")]), 1
    else:
        old, new = {"feature": ("A", word), "source": ("a", word), "target": ("x", word)}[kind]
        made, line = grammar(tmp_path, (RULE + RULE.replace(f" {old}", f" {new}")).encode()), 2
    check_refused(capsys, made, line, f"control character {CONTROLS[character]}; remove it")


@pytest.mark.parametrize("make", [weights, arpa, grammar])
def test_names_that_are_not_utf8(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[Path, bytes], tuple[Path, list[str]]],
) -> None:
    contents = {
        weights: (b"a 1\n\xff\xfe 2\n", 2),
        arpa: (ARPA.replace("\tx", "\t\udcff").encode(errors="surrogateescape"), 8),
        grammar: ((RULE + RULE.replace("x", "\udcff")).encode(errors="surrogateescape"), 2),
    }
    content, line = contents[make]
    check_refused(capsys, make(tmp_path, content), line, "not valid UTF-8; convert the file with iconv")


def check(folder: Path, content: str) -> subprocess.CompletedProcess[str]:
    """Check a config with 1 GB of memory and 20 seconds."""
    (folder / "config.yaml").write_text(content)
    command = [sys.executable, "-m", "itersel.cli.main", "config", "check", str(folder / "config.yaml")]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))

    return subprocess.run(command, preexec_fn=limit, timeout=60, capture_output=True, text=True, check=False)


LAUGHS = "a0: &a0 {k: [x, x]}\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 12)
)
MERGED = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{level}: &a{level} {{<<: [{', '.join([f'*a{level - 1}'] * 10)}]}}\n" for level in range(1, 12)
)
TRAPS = {
    "lists": ("[" * 100_000, ":1: not YAML: nested more than 40 deep"),
    "mappings": ("{a: " * 100_000, ":1: not YAML: nested more than 40 deep"),
    "blocks": ("".join(" " * depth + "a:\n" for depth in range(500)), ":40: not YAML: nested more than 40"),
    "laughs": (LAUGHS, ":7: not YAML: more than 1,000,000 values"),
    "merges": (MERGED, "not YAML: more than 1,000,000 values"),
    "itself": ("experiments: &a {b: *a}\n", ":1: not YAML: an alias inside its own anchor"),
    "keys": ('"a\\nb": 1\n', ": config has an unknown key ''a\\nb''"),
    "long keys": (f"{'k' * 900}: 1\n", ": config has an unknown key"),
    "numbers": (f"seed: {'9' * 5000}\n", ":1: not YAML: "),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_dangerous_configs(tmp_path: Path, trap: str) -> None:
    content, message = TRAPS[trap]
    done = check(tmp_path, content)
    assert done.returncode == 1
    assert done.stderr.startswith(f"itersel config: {tmp_path / 'config.yaml'}:")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 1000


def test_aliases_and_merges_of_a_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("experiments:\n  a: &a {epochs: 3}\n  b: *a\n  c: {<<: *a, epochs: 2}\n")
    assert main(["config", "check", str(path)]) == 0


@pytest.mark.parametrize("escape", ["\\0", "\\e", "\\n", "\\x7f", "\\x85", "\\ud800"])
@pytest.mark.parametrize(
    "key",
    ["name", "output", "cache", "data.folder", "data.monolingual", "data.modules", "language_model.arpa"],
)
def test_control_characters_in_a_config(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, escape: str
) -> None:
    value = f'"a{escape}b"'
    for part in reversed(key.split(".")):
        value = f"{{{part}: [{value}]}}" if part == "modules" else f"{{{part}: {value}}}"
    (tmp_path / "config.yaml").write_text(value)
    assert main(["config", "check", str(tmp_path / "config.yaml")]) == 1
    error = capsys.readouterr().err
    assert f"config key '{key}' is 'a" in error
    assert error.isascii()
    assert error.count("\n") == 1


DEEP = "[" * 100_000


@pytest.mark.parametrize("content", [DEEP, '{"source_language": ' + DEEP, "9" * 5000, "{}", "[]", "3", '"x"'])
def test_foreign_json(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str) -> None:
    for name in ("preparation.json", "resources.json", "statistics.json"):
        (tmp_path / name).write_text(content)
    path = tmp_path / "text"
    path.write_text("a\n")
    preparing = ["--source", str(path), "--target", str(path), "--output", str(tmp_path / "out")]
    commands = [
        ["corpus", "prepare", *preparing, "--preparation", str(tmp_path / "preparation.json")],
        ["corpus", "statistics", str(tmp_path / "statistics.json")],
        ["translate", "--system", str(tmp_path), "--input", str(path)],
    ]
    for command in commands:
        assert main(command) == 1
        assert capsys.readouterr().err.count("\n") == 1


GOOD = {
    "source_language": "de",
    "target_language": "en",
    "tokenized": False,
    "protected": ["x+"],
    "source_frequency": {"ab": 2},
}


@pytest.mark.parametrize(
    "change",
    [
        {"source_language": "../x"},
        {"target_language": 3},
        {"tokenized": "no"},
        {"source_frequency": {"ab": "2"}},
        {"source_frequency": {"ab": -1}},
        {"source_frequency": {"ab": True}},
        {"source_frequency": {"ab": {}}},
        {"source_frequency": {"ab": 2**60}},
        {"source_frequency": ["ab"]},
        {"protected": "ab"},
        {"protected": ["("]},
    ],
)
def test_preparations_with_wrong_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object]
) -> None:
    path = tmp_path / "text"
    path.write_text("abab\n")
    preparation = tmp_path / "preparation.json"
    preparing = ["corpus", "prepare", "--source", str(path), "--target", str(path), "--split", "dev"]
    preparing += ["--preparation", str(preparation), "--output", str(tmp_path / "out")]
    preparation.write_text(json.dumps(GOOD))
    assert main(preparing) == 0
    preparation.write_text(json.dumps({**GOOD, **change}))
    capsys.readouterr()
    assert main(preparing) == 1
    assert capsys.readouterr().err == (
        f"itersel corpus: {preparation}: is not a preparation.json of itersel corpus prepare\n"
    )


@pytest.mark.parametrize(
    "change",
    [{"dropped": []}, {"dropped": {"x": -1}}, {"sentences": "x"}, {"sentences": 2**60}, {"source": {}}],
)
def test_statistics_with_wrong_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object]
) -> None:
    words = {"tokens": 1, "types": 1}
    split = {"sentences": 1, "source": words, "target": words, "dropped": {}}
    path = tmp_path / "statistics.json"
    path.write_text(json.dumps({"splits": {"train": split}}))
    assert main(["corpus", "statistics", str(path)]) == 0
    path.write_text(json.dumps({"splits": {"train": {**split, **change}}}))
    capsys.readouterr()
    assert main(["corpus", "statistics", str(path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1
