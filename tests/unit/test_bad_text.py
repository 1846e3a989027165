"""Text that readers reject, and dangerous settings: one-line errors with file and line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.limited import limited
from tests.refusals import check_facts

from itersel.cli.main import main
from itersel.storage.numbers import are_numeric, parse_number

ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\n-1\t</s>\n-1\tx\n\n\\end\\\n"
RULE = "[X] ||| a ||| x ||| A=1\n"
NO_NUMBERS = ["1_000", "\u0661", "0x10", "1e", "1,5", "\uff11", "+-1", "."]
CHARACTERS = {one: f"U+{ord(one):04X}" for one in "\x00\x0b\x1c\x7f\x85"}
CHARACTERS["\udcff"] = "UTF-8"
DEEP = "[" * 100_000
FOREIGN = [DEEP, '{"source_language": ' + DEEP, "9" * 5000, "{}", "[]", "3", '"x"', '{"splits": {}}', "text"]
WORDS = {"source_language": "de", "target_language": "en", "tokenized": False, "protected": ["x+"]}
PREPARATION = {"words": WORDS, "compounds": {"frequency": {"ab": 2}}, "only_cleaned": False}
WORDS = {"tokens": 1, "types": 1}
SPLIT = {"sentences": 1, "source": WORDS, "target": WORDS, "dropped": {}}


def reading(folder, name, content):
    """Return a command that reads a file with this content; U+DCFF stands for a byte that is not UTF-8."""
    for file, text in {"text": "a\n", "references": "x\n", "grammar.0": RULE, name: content}.items():
        (folder / file).write_text(text, encoding="utf-8", errors="surrogateescape")
    if name == "weights":
        return ["weights", "show", str(folder / name)]
    output = f"--output={folder / 'out'}"
    if name == "arpa":
        return ["lm", "compile", f"--input={folder / name}", output]
    texts = [f"--input={folder / 'text'}", f"--reference={folder / 'references'}"]
    return ["grammar", "import", *texts, f"--grammars={folder}", output]


@pytest.mark.parametrize("number", NO_NUMBERS)
@pytest.mark.parametrize(
    ("name", "content", "facts"),
    [
        ("weights", "a 1\nb {}\n", (":2:", "'{}'")),
        ("grammar.0", RULE + RULE.replace("1", "{}"), (":2:", "'A={}'")),
        ("arpa", ARPA.replace("-1\tx", "{}\tx"), (":8:", "'{}'")),
    ],
)
def test_invalid_numbers(tmp_path, refused, name, content, facts, number):
    command = reading(tmp_path, name, content.replace("{}", number))
    refused(command, (tmp_path / name, *(fact.format(number) for fact in facts)))


def test_bad_language_models(tmp_path, refused):
    """numpy drops trailing NULs, and gives all texts the size of the longest."""
    for number in ("1\0", "1" * 500):
        arpa = ARPA.replace("-1\tx", f"-{number}\tx")
        refused(reading(tmp_path, "arpa", arpa), "arpa:8:", "-1")
    refused(reading(tmp_path, "arpa", ARPA.replace("x", "\udcff")), ("arpa:8:", "UTF-8"))


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_options_that_are_not_numbers(number, misused):
    files = ["--nbest", "a", "--reference", "b", "--output", "c"]
    misused(["tune", "--tuner", "kbest-mira", *files, "--c", number], "--c:", f"'{number}'")


@given(st.text("0123456789+-.eE_ \u0661\x00\x0b", max_size=8) | st.floats().map(repr))
def test_both_readers_of_numbers_accept_the_same(text):
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


@pytest.mark.parametrize(("character", "facts"), CHARACTERS.items())
@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("weights", "a 1\n{} 2\n", 2),
        *(("grammar.0", RULE + RULE.replace(f" {old}", " {}"), 2) for old in "axA"),
        ("references", "{}\n", 1),
        ("text", "{}\n", 1),
    ],
)
def test_control_characters_and_other_encodings(tmp_path, refused, name, content, line, character, facts):
    command = reading(tmp_path, name, content.replace("{}", f"b{character}c"))
    refused(command, f"{tmp_path / name}:{line}:", facts)


TENFOLD = [(f"a{n}: &a{n}", ", ".join([f"*a{n - 1}"] * 10)) for n in range(1, 12)]
LAUGHS = "a0: &a0 {k: [x, x]}\n" + "".join(f"{anchor} [{names}]\n" for anchor, names in TENFOLD)
MERGED = "a0: &a0 {x: 1, y: 2}\n" + "".join(f"{anchor} {{<<: [{names}]}}\n" for anchor, names in TENFOLD)
TRAPS = {
    "lists": (DEEP, (":1:", 40)),
    "mappings": ("{a: " * 100_000, (":1:", 40)),
    "blocks": ("".join(" " * depth + "a:\n" for depth in range(500)), (":40:", 40)),
    "laughs": (LAUGHS, (":7:", 1_000_000)),
    "merges": (MERGED, 1_000_000),
    "itself": ("experiments: &a {b: *a}\n", ":1:"),
    "keys": ('"a\\nb": 1\n', "'a\\nb'"),
    "long keys": (f"{'k' * 900}: 1\n", "k" * 9),
    "numbers": (f"seed: {'9' * 5000}\n", ":1:"),
}


@pytest.mark.parametrize(("content", "facts"), TRAPS.values(), ids=TRAPS)
def test_dangerous_configs(tmp_path, content, facts):
    """Checked with 1 GB of memory."""
    path = tmp_path / "config.yaml"
    path.write_text(content)
    done = limited("config", "check", path, memory=2**30)
    assert done.returncode == 1
    assert done.stderr.startswith(f"itersel config: {path}:")
    check_facts(done.stderr, facts)
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 1000


def test_aliases_and_merges_of_a_config(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("experiments:\n  a: &a {epochs: 3}\n  b: *a\n  c: {<<: *a, epochs: 2}\n")
    assert main(["config", "check", str(path)]) == 0


@pytest.mark.parametrize("escape", ["\\0", "\\e", "\\n", "\\x7f", "\\x85", "\\ud800"])
@pytest.mark.parametrize(
    "key",
    ["name", "output", "cache", "data.folder", "data.monolingual", "data.only_labels", "language_model.arpa"],
)
def test_control_characters_in_a_config(tmp_path, refused, key, escape):
    value = f'"a{escape}b"'
    for part in reversed(key.split(".")):
        value = f"{{{part}: [{value}]}}" if part == "only_labels" else f"{{{part}: {value}}}"
    (tmp_path / "config.yaml").write_text(value)
    error = refused(["config", "check", tmp_path / "config.yaml"], f"'{key}'")
    assert error.isascii()


def preparing(folder):
    """Return a command that reads preparation.json."""
    (folder / "text").write_text("abab\n")
    files = [f"--source={folder / 'text'}", f"--target={folder / 'text'}", f"--output={folder / 'out'}"]
    return ["corpus", "prepare", *files, f"--preparation={folder / 'preparation.json'}", "--split=dev"]


@pytest.mark.parametrize("content", FOREIGN)
def test_foreign_json(tmp_path, refused, content):
    for name in ("preparation.json", "resources.json", "statistics.json"):
        (tmp_path / name).write_text(content)
    refused(preparing(tmp_path), "preparation.json:")
    statistics = tmp_path / "statistics.json"
    refused(["corpus", "statistics", statistics], f"{statistics}:")
    refused(["translate", "--system", tmp_path, "--input", tmp_path / "text"], "resources.json:")


def test_preparations_with_wrong_values(tmp_path, refused):
    path, command = tmp_path / "preparation.json", preparing(tmp_path)
    path.write_text(json.dumps(PREPARATION))
    assert main(command) == 0
    for key, value in (
        ("words", {**WORDS, "source_language": "../x"}),
        ("words", {**WORDS, "target_language": 3}),
        ("words", {**WORDS, "tokenized": "no"}),
        ("words", {**WORDS, "protected": "ab"}),
        ("words", {**WORDS, "protected": ["("]}),
        ("only_cleaned", "no"),
        ("compounds", {"frequency": ["ab"]}),
        *(("compounds", {"frequency": {"ab": count}}) for count in ("2", -1, True, {}, 2**60)),
    ):
        path.write_text(json.dumps({**PREPARATION, key: value}))
        refused(command, (f": {path}:", "preparation.json"))


def test_statistics_with_wrong_values(tmp_path, refused):
    path = tmp_path / "statistics.json"
    path.write_text(json.dumps({"splits": {"train": SPLIT}}))
    assert main(["corpus", "statistics", str(path)]) == 0
    sentences = (("sentences", "x"), ("sentences", 2**60))
    for key, value in ("dropped", []), ("dropped", {"x": -1}), *sentences, ("source", {}):
        path.write_text(json.dumps({"splits": {"train": {**SPLIT, key: value}}}))
        refused(["corpus", "statistics", path], f"{path}:")
