"""Invalid input: exit status 1, one line that names file and line, and nothing written."""

import gzip

import pytest

from itersel.cli.main import main

GZIP = gzip.compress(b"the house\n" * 500, mtime=0)
LANGUAGES = ("--source-language=de", "--target-language=en")
TRAIN = (*LANGUAGES, "--tokenized", "--split=train")
CONTROLS = [
    ("source", f"das haus\ndas{one}haus\n", "", f"source:2: control character U+{ord(one):04X}")
    for one in "\x00\x07\t\r\x1f\x7f\x85\x9f"
]
ALIGNMENT, TASK, MORE = "--alignment={}/alignment", "--task={}/task", "--monolingual={}/more"


def prepare(folder, *options, how=TRAIN):
    """Return the command for two pairs of sentences, or other files; `{}` in an option is the folder."""
    for side, lines in (("source", "ein haus\ndas kleine haus\n"), ("target", "a house\nthe small house\n")):
        if not (folder / side).exists():
            (folder / side).write_text(lines)
    files = [f"--{name}={folder / name}" for name in ("source", "target")]
    files.append(f"--output={folder / 'out'}")
    return ["corpus", "prepare", *files, *how, *(option.format(folder) for option in options)]


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("source", "x\n" * 5, "", "source:3: has no partner: 5 lines, but 2 in {}/target"),
        ("target", "x\n" * 5, "", "target:3: has no partner: 5 lines, but 2 in {}/source"),
        ("task", "news\n", TASK, "source:2: has no partner: 2 lines, but 1 in {}/task"),
        ("target", b"a house\nthe \xfcber house\n", "", "target:2: not valid UTF-8"),
        ("source", "", "", "source: is empty"),
        ("target", "", "", "target: is empty"),
        *CONTROLS,
        ("target", "a house\nthe ||| house\n", "", "target:2: '|||'"),
        ("target", "a house\nthe a|||b house\n", "", "target:2: '|||'"),
        ("alignment", "0-0 2-0\n0-0 2-2\n", ALIGNMENT, "alignment:1: alignment point 2-0 is outside"),
        ("alignment", "0-0 0-2\n0-0 2-2\n", ALIGNMENT, "alignment:1: alignment point 0-2 is outside"),
        ("alignment", "0-0\n0-0 1~1\n", ALIGNMENT, "alignment:2: '1~1'"),
        ("task", "news\n\n", TASK, "task:2: '' is not a task label"),
        ("task", "news\ntwo words\n", TASK, "task:2: 'two words' is not a task label"),
        ("task", "news\nlaw\n", f"{TASK} --modules=law,art", "no pair is of module art; there are law, news"),
        ("more", "fine\nnot\x01fine\n", MORE, "more:2: control character U+0001"),
        ("more.gz", GZIP[: len(GZIP) // 2], f"{MORE}.gz", "more.gz: damaged or truncated gzip file"),
        ("source", "x\nx y\n", "--max-length=1", "no sentence pairs remain in train"),
        ("task", "", "--task={}/nowhere", "nowhere: no such file"),
    ],
)
def test_bad_files(tmp_path, refused, name, content, options, message):
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    refused(prepare(tmp_path, *options.split()), message.format(tmp_path))


def test_bad_options(tmp_path, refused):
    (tmp_path / "alignment").write_text("0-0\n0-0\n")
    (tmp_path / "preparation.json").write_text('{"source_language": "de"}\n')
    for how, option, message in (
        (LANGUAGES, ALIGNMENT, "alignment: it refers to the tokens of the files: give --tokenized"),
        ((), "--max-ratio=9", "--source-language"),
        ((), "--preparation={}/preparation.json", "preparation.json: is not a preparation.json"),
    ):
        refused(prepare(tmp_path, option, how=how), message)


@pytest.mark.parametrize("option", ["--max-length=0", "--max-ratio=nan", "--max-train=-1"])
def test_invalid_bounds_are_usage_errors(tmp_path, option):
    assert main(prepare(tmp_path, option)) == 2
