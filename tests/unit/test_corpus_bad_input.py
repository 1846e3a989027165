"""Invalid input: exit status 1, one line that names file and line, and nothing written."""

import gzip

import pytest

GZIP = gzip.compress(b"the house\n" * 500, mtime=0)
LANGUAGES = ("--source-language=de", "--target-language=en")
TRAIN = (*LANGUAGES, "--tokenized", "--split=train")
CONTROLS = [
    ("source", f"das haus\ndas{one}haus\n", "", ("source:2:", f"U+{ord(one):04X}"))
    for one in "\x00\x07\t\r\x1f\x7f\x85\x9f"
]
ALIGNMENT, TASK, MORE = "--alignment={}/alignment", "--labels={}/task", "--monolingual={}/more"


def prepare(folder, *options, how=TRAIN):
    """Return the command for two pairs of sentences, or other files; `{}` in an option is the folder."""
    for side, lines in (("source", "ein haus\ndas kleine haus\n"), ("target", "a house\nthe small house\n")):
        if not (folder / side).exists():
            (folder / side).write_text(lines)
    files = [f"--{name}={folder / name}" for name in ("source", "target")]
    files.append(f"--output={folder / 'out'}")
    return ["corpus", "prepare", *files, *how, *(option.format(folder) for option in options)]


@pytest.mark.parametrize(
    ("name", "content", "options", "facts"),
    [
        ("source", "x\n" * 5, "", ("source:3:", 5, 2, "/target")),
        ("target", "x\n" * 5, "", ("target:3:", 5, 2, "/source")),
        ("task", "news\n", TASK, ("source:2:", 2, 1, "/task")),
        ("target", b"a house\nthe \xfcber house\n", "", ("target:2:", "UTF-8")),
        ("source", "", "", "source:"),
        ("target", "", "", "target:"),
        *CONTROLS,
        ("target", "a house\nthe ||| house\n", "", ("target:2:", "'|||'")),
        ("target", "a house\nthe a|||b house\n", "", ("target:2:", "'|||'")),
        ("alignment", "0-0 2-0\n0-0 2-2\n", ALIGNMENT, ("alignment:1:", "2-0")),
        ("alignment", "0-0 0-2\n0-0 2-2\n", ALIGNMENT, ("alignment:1:", "0-2")),
        ("alignment", "0-0\n0-0 1~1\n", ALIGNMENT, ("alignment:2:", "'1~1'")),
        ("task", "news\n\n", TASK, ("task:2:", "''")),
        ("task", "news\ntwo words\n", TASK, ("task:2:", "'two words'")),
        ("task", "news\nlaw\n", f"{TASK} --only-labels=law,art", ("art", "law", "news")),
        ("more", "fine\nnot\x01fine\n", MORE, ("more:2:", "U+0001")),
        ("more.gz", GZIP[: len(GZIP) // 2], f"{MORE}.gz", "more.gz"),
        ("source", "x\nx y\n", "--max-length=1", "train"),
        ("task", "", "--labels={}/nowhere", "nowhere:"),
    ],
)
def test_bad_files(tmp_path, refused, name, content, options, facts):
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    refused(prepare(tmp_path, *options.split()), facts)


def test_bad_options(tmp_path, refused):
    (tmp_path / "alignment").write_text("0-0\n0-0\n")
    (tmp_path / "preparation.json").write_text('{"source_language": "de"}\n')
    for how, option, facts in (
        (LANGUAGES, ALIGNMENT, ("alignment:", "--tokenized")),
        ((), "--max-ratio=9", "--source-language"),
        ((), "--preparation={}/preparation.json", "preparation.json"),
    ):
        refused(prepare(tmp_path, option, how=how), facts)


@pytest.mark.parametrize("option", ["--max-length=0", "--max-ratio=nan", "--max-train=-1"])
def test_invalid_bounds_are_usage_errors(tmp_path, misused, option):
    misused(prepare(tmp_path, option), option.partition("=")[0])
