"""Bad n-best lists: every command that reads them says where and why, in one line, and writes nothing.

Lists that look bad but are not follow: what is made of them is right.
"""

import gzip
import lzma

import pytest
from tests.declared import redeclare
from tests.refusals import Fact
from tests.steps import TEXT_LANGUAGES, settings
from tests.systems import itersel
from tests.text_grammars import write

from itersel.lists.files import read_list_table
from itersel.storage.files import read_lines
from itersel.vectors.weights import read_itersel_weights

LISTS = (
    "0 ||| the cat ||| LM= -1 TM= 1 2 ||| -1",
    "0 ||| a cat ||| LM= -2 TM= 0 1 ||| -2",
    "1 ||| it rains ||| LM= -3 TM= 1 1 ||| -3",
    "1 ||| rain ||| LM= -4 TM= 2 2 ||| -4",
    '{"id": 2, "text": "no", "features": {"LM": -5, "TM_0": 1}, "score": -5}',
    "2 ||| not ||| LM= -6 TM= 0 0 ||| -6",
)
REFERENCES = ("a cat", "rain", "not")
WEIGHTS = ("LM 1", "TM_0 -2")
RESCORED, FIRST = ["a cat", "it rains", "not"], ["the cat", "it rains", "no"]


def with_files(folder):
    """Write what the commands need besides lists."""
    write(folder / "references", *REFERENCES)
    write(folder / "weights", *WEIGHTS)
    return folder


@pytest.fixture
def folder(tmp_path):
    return with_files(tmp_path)


def tune(folder, lists, *options):
    files = ["--nbest", lists, "--reference", folder / "references", "--output", folder / "tuned"]
    return ["tune", "--tuner", "kbest-mira", "--quality", "chrf", *files, *options]


def rescore(folder, lists, *options):
    files = ["--nbest", lists, "--weights", folder / "weights", "--output", folder / "rescored"]
    return ["rescore", *files, *options]


def first(folder, lists):
    return ["rescore", "--first", "--nbest", lists, "--output", folder / "first"]


def divide(folder, lists, *options):
    files = ["--nbest", lists, "--reference", folder / "references", "--output", folder / "cut"]
    return ["step", "divide", *files, *options, *settings(division={"name": "in-order"})]


def make_lists(folder, lists):
    """Return a command that reads lists of a file; these become the lists of one that has been divided."""
    cut = folder / "cut"
    if not cut.exists():
        itersel(*divide(folder, write(folder / "good", *LISTS)))
    (cut / "0.lists.gz").write_bytes(gzip.compress(lists.read_bytes()))
    redeclare(cut)
    files = ["--divided-lists", cut, "--file-number", 0, "--output", folder / "0.h5"]
    return ["step", "lists", *files, *settings(**TEXT_LANGUAGES)]


COMMANDS = {"tune": tune, "rescore": rescore, "first": first, "step divide": divide, "step lists": make_lists}

DEEP, LONG = "[" * 100_000, "9" * 5000
# The third line, which is otherwise the first translation of sentence 1, and what its refusal must tell.
LINES: dict[str, tuple[str, Fact]] = {
    # fields
    "one field": ("1", "|||"),
    "two fields": ("1 ||| a", "|||"),
    "no separators": ("a b c", "|||"),
    "other separators": ("1 || a || LM= -1 || 0", "|||"),
    "tabs": ("1\ta\tLM= -1", "|||"),
    "a JSON array": ('[1, "a"]', "|||"),
    "a comment": ("# made by a decoder", "|||"),
    # numbers of sentences
    "no number": ("||| a ||| LM= -1", ("''", 0)),
    "a name as number": ("doc1 ||| a ||| LM= -1", ("'doc1'", 0)),
    "a negative number": ("-1 ||| a ||| LM= -1", ("'-1'", 0)),
    "a sign": ("+1 ||| a ||| LM= -1", ("'+1'", 0)),
    "a fraction": ("1.0 ||| a ||| LM= -1", ("'1.0'", 0)),
    "an exponent": ("1e0 ||| a ||| LM= -1", ("'1e0'", 0)),
    "an underscore": ("1_0 ||| a ||| LM= -1", ("'1_0'", 0)),
    "a hexadecimal number": ("0x1 ||| a ||| LM= -1", ("'0x1'", 0)),
    "an Arabic digit": ("\u0661 ||| a ||| LM= -1", ("'\u0661'", 0)),
    "a superscript": ("\u00b9 ||| a ||| LM= -1", ("'\u00b9'", 0)),
    "two numbers": ("1 1 ||| a ||| LM= -1", ("'1 1'", 0)),
    "a number in quotes": ("'1' ||| a ||| LM= -1", ("''1''", 0)),
    "a number that is too large": ("100000000 ||| a ||| LM= -1", (100000000, 0)),
    "a number beyond 64 bits": ("9" * 20 + " ||| a ||| LM= -1", (10**20 - 1, 0)),
    "a number of many digits": (f"{LONG} ||| a ||| LM= -1", 0),
    # characters
    "NUL in a translation": ("1 ||| a\0b ||| LM= -1", "U+0000"),
    "NUL in a name": ("1 ||| a ||| L\0M= -1", "U+0000"),
    "NUL before a line": ("\0" + LISTS[2], "'\\x001'"),
    "a control character": ("1 ||| a\x1bb ||| LM= -1", "U+001B"),
    "a control character of Latin-1": ("1 ||| a\x85b ||| LM= -1", "U+0085"),
    "a carriage return within": ("1 ||| a\rb ||| LM= -1", "U+000D"),
    "a control character in a name": ("1 ||| a ||| x\x01=1", "U+0001"),
    # features
    "no value": ("1 ||| a ||| LM= ||| -1", "'LM'"),
    "no value before another": ("1 ||| a ||| LM= TM= 1 2 ||| -1", "'LM'"),
    "no name": ("1 ||| a ||| = 1 ||| -1", "'='"),
    "no name before a value": ("1 ||| a ||| =1 ||| -1", "'=1'"),
    "a word": ("1 ||| a ||| LM= high ||| -1", "'high'"),
    "a word as single value": ("1 ||| a ||| x=high ||| -1", "'high'"),
    "a decimal comma": ("1 ||| a ||| LM= -1,5 ||| -1", "'-1,5'"),
    "separated thousands": ("1 ||| a ||| LM= 1_000 ||| -1", "'1_000'"),
    "a hexadecimal value": ("1 ||| a ||| LM= 0x1p3 ||| -1", "'0x1p3'"),
    "an Arabic value": ("1 ||| a ||| LM= \u0661 ||| -1", "'\u0661'"),
    "a minus sign of Unicode": ("1 ||| a ||| LM= \u22121 ||| -1", "'\u22121'"),
    "two signs": ("1 ||| a ||| LM= --1 ||| -1", "'--1'"),
    "an exponent without digits": ("1 ||| a ||| LM= 1e ||| -1", "'1e'"),
    "a point": ("1 ||| a ||| LM= . ||| -1", "'.'"),
    "NaN": ("1 ||| a ||| LM= nan ||| -1", "'LM'"),
    "infinity": ("1 ||| a ||| LM= -inf ||| -1", "'LM'"),
    "an overflow": ("1 ||| a ||| LM= 1e999 ||| -1", "'LM'"),
    "a value that is too large": ("1 ||| a ||| x=1e13 ||| -1", "'x'"),
    "a value of many digits": (f"1 ||| a ||| LM= {LONG} ||| -1", "'LM'"),
    "more values than before": ("1 ||| a ||| LM= -1 -2 ||| -1", ("'LM'", 2, 1)),
    "fewer values than before": ("1 ||| a ||| TM= 1 ||| -1", ("'TM'", 1, 2)),
    "a feature twice": ("1 ||| a ||| LM= -1 LM= -1 ||| -1", "'LM'"),
    "a feature twice in two ways": ("1 ||| a ||| LM= -1 LM=-1 ||| -1", "'LM'"),
    "a value of several twice": ("1 ||| a ||| TM= 1 2 TM_1=2 ||| -1", "'TM_1'"),
    "a word among unnamed values": ("1 ||| a ||| -1 x 2 ||| -1", ("'x'", 3)),
    "a list of Python": ("1 ||| a ||| [-1, 2] ||| -1", ("'[-1,'", 3)),
    "an alignment without features": ("1 ||| a ||| 0-0 1-1 ||| -1", ("'0-0'", 3)),
    "scores of words without features": ("1 ||| a ||| WordScores= -1 ||| -1", 3),
    "features without values": ("1 ||| a ||| LM TM ||| -1", ("'LM'", 3)),
    "a score that is no number": ("1 ||| a ||| ||| best", ("'best'", 4)),
    "a score that is not finite": ("1 ||| a ||| ||| nan", "'score'"),
    "an empty score": ("1 ||| a ||| ||| ", ("''", 4)),
    # JSON
    "JSON cut off": ('{"id": 1, "text": "a"', "JSON"),
    "JSON with a comma too many": ('{"id": 1, "text": "a",}', "JSON"),
    "JSON in single quotes": ("{'id': 1, 'text': 'a'}", "JSON"),
    "JSON twice": ('{"id": 1, "text": "a"} {"id": 1, "text": "b"}', "JSON"),
    "JSON that is deep": ('{"id": 1, "text": "a", "features": ' + DEEP, "JSON"),
    "half a character in JSON": ('{"id": 1, "text": "\\ud800"}', "JSON"),
    "NUL in JSON": ('{"id": 1, "text": "a\0"}', "JSON"),
    "an escaped NUL": ('{"id": 1, "text": "a\\u0000"}', "U+0000"),
    "an escaped line feed": ('{"id": 1, "text": "a\\nb"}', "U+000A"),
    "an empty object": ("{}", "'id'"),
    "no id": ('{"text": "a"}', "'id'"),
    "an id that is text": ('{"id": "1", "text": "a"}', "'id'"),
    "an id that is null": ('{"id": null, "text": "a"}', "'id'"),
    "an id that is true": ('{"id": true, "text": "a"}', "'id'"),
    "an id with a point": ('{"id": 1.0, "text": "a"}', "'id'"),
    "a negative id": ('{"id": -1, "text": "a"}', (-1, 0)),
    "an id of many digits": (f'{{"id": {LONG}, "text": "a"}}', "'id'"),
    "two ids": ('{"id": 1, "id": 2, "text": "a"}', "'id'"),
    "no text": ('{"id": 1, "translation": "a"}', "'text'"),
    "a text that is null": ('{"id": 1, "text": null}', "'text'"),
    "a text of words": ('{"id": 1, "text": ["a", "b"]}', "'text'"),
    "features that are a list": ('{"id": 1, "text": "a", "features": [1, 2]}', "'features'"),
    "features that are text": ('{"id": 1, "text": "a", "features": "LM= -1"}', "'features'"),
    "a value that is text": ('{"id": 1, "text": "a", "features": {"LM": "-1"}}', "'LM'"),
    "a value that is null": ('{"id": 1, "text": "a", "features": {"LM": null}}', "'LM'"),
    "a value that is true": ('{"id": 1, "text": "a", "features": {"LM": true}}', "'LM'"),
    "a value that is a list": ('{"id": 1, "text": "a", "features": {"TM": [1, 2]}}', "'TM'"),
    "NaN in JSON": ('{"id": 1, "text": "a", "features": {"LM": NaN}}', "'LM'"),
    "infinity in JSON": ('{"id": 1, "text": "a", "features": {"LM": -Infinity}}', "'LM'"),
    "an overflow in JSON": ('{"id": 1, "text": "a", "features": {"LM": 1e999}}', "'LM'"),
    "an empty name": ('{"id": 1, "text": "a", "features": {"": 1}}', "''"),
    "a name of two words": ('{"id": 1, "text": "a", "features": {"L M": 1}}', "'L M'"),
    "a feature twice in JSON": ('{"id": 1, "text": "a", "features": {"x": 1, "x": 1}}', "'x'"),
    "a score that is text": ('{"id": 1, "text": "a", "score": "-1"}', "'score'"),
}


@pytest.mark.parametrize("line", LINES)
def test_bad_line(folder, refused, line):
    text, facts = LINES[line]
    lists = write(folder / "list", *LISTS[:2], text, *LISTS[3:])
    for name, command in COMMANDS.items():
        path = "0.lists.gz:3:" if name == "step lists" else f"{lists}:3:"
        refused(command(folder, lists), path, facts)


TEXT = "".join(line + "\n" for line in LISTS).encode()
CAFE = TEXT.replace(b"cat", "café".encode())
# The whole file, and what its refusal must tell: the line, if there is one, and facts.
FILES: dict[str, tuple[bytes, str, Fact]] = {
    "empty": (b"", ":", ()),
    "blank lines": (b"\n \n\t\n", ":", ()),
    "a byte that is no UTF-8": (TEXT.replace(b"rain ", b"r\xffin "), ":4:", "UTF-8"),
    "Latin-1": (CAFE.decode().encode("latin-1"), ":1:", "UTF-8"),
    "an overlong character": (TEXT.replace(b"rain ", b"\xc0\xaf "), ":4:", "UTF-8"),
    "a surrogate": (TEXT.replace(b"rain ", b"\xed\xa0\x80 "), ":4:", "UTF-8"),
    "half a character at the end": (TEXT + "é".encode()[:1], ":7:", "UTF-8"),
    "UTF-16": (TEXT.decode().encode("utf-16"), ":1:", "UTF-8"),
    "UTF-16 without a mark": (TEXT.decode().encode("utf-16-le"), ":1:", "|||"),
    "NULs at the end": (TEXT + bytes(100), ":7:", "|||"),
    "gzip under another name": (gzip.compress(TEXT), ":", (".gz", "gzip")),
    "xz under another name": (lzma.compress(TEXT), ":", (".xz", "xz")),
}


@pytest.mark.parametrize("file", FILES)
def test_bad_file(folder, refused, file):
    content, place, facts = FILES[file]
    lists = folder / "list"
    for name, command in COMMANDS.items():
        lists.write_bytes(content)
        path = "0.lists.gz" if name == "step lists" else lists
        refused(command(folder, lists), f"{path}{place}", facts)


PACKED = gzip.compress(TEXT)


@pytest.mark.parametrize(
    "content",
    [b"", TEXT, PACKED[:-9], PACKED[:5], PACKED[:-8] + bytes(8), PACKED[:20] + b"xx" + PACKED[22:]],
    ids=["empty", "plain", "truncated", "only its header", "another checksum", "damaged"],
)
def test_bad_gzip(folder, refused, content):
    lists = folder / "list.gz"
    lists.write_bytes(content)
    for command in (tune, rescore, first, divide):
        refused(command(folder, lists), f"{lists}:", "gzip")


# Commands with references, which tell how many sentences there are.
REFERRING = ("tune", "step divide")
# Whole lists, and facts for the other commands and for these; () if nothing is wrong.
SENTENCES: dict[str, tuple[tuple[str, ...], Fact, Fact]] = {
    "the first is missing": (LISTS[2:], 0, 0),
    "one in the middle is missing": ((*LISTS[:2], *LISTS[4:]), 1, 1),
    "the last is missing": (LISTS[:4], (), 2),
    "all but the first are missing": (LISTS[:2], (), 1),
    "numbered from 1": (tuple(f"{n} ||| a ||| LM= -1" for n in (1, 2, 3)), 0, (3, 3)),
    "one too many": ((*LISTS, "3 ||| a ||| LM= -1"), (), (3, 3)),
    "a far number": ((*LISTS, "99999999 ||| a ||| LM= -1"), 3, (99999999, 3)),
}


@pytest.mark.parametrize("sentences", SENTENCES)
def test_bad_sentences(folder, refused, sentences):
    lines, facts, counted = SENTENCES[sentences]
    lists = write(folder / "list", *lines)
    for name, command in COMMANDS.items():
        if name == "step lists":
            refused(command(folder, lists), "0.lists.gz:")
        elif name in REFERRING:
            refused(command(folder, lists), f"{lists}:", counted)
        elif facts != ():
            refused(command(folder, lists), f"{lists}:", facts)
        else:  # nothing says that there are more or fewer sentences
            itersel(*command(folder, lists))


@pytest.mark.parametrize(
    ("references", "facts"),
    [(b"a\nb\n", (2, 2)), (b"a\nb\nc\nd\n", 3), (b"", ()), (b"a\nr\xffin\nc\n", ("references:2:", "UTF-8"))],
)
@pytest.mark.parametrize("command", REFERRING)
def test_bad_references(folder, refused, command, references, facts):
    lists = write(folder / "list", *LISTS)
    (folder / "references").write_bytes(references)
    refused(COMMANDS[command](folder, lists), facts)


@pytest.mark.parametrize(
    ("numbers", "facts"),
    [
        (("1",) * 5, ("numbers:", 5, 6)),
        (("1",) * 7, ("numbers:", 7, 6)),
        ((), ("numbers:", 0, 6)),
        (("1", "", "1", "1", "1", "1"), ("numbers:2:", "''")),
        (("1", "x", "1", "1", "1", "1"), ("numbers:2:", "'x'")),
        (("1", "1 2", "1", "1", "1", "1"), ("numbers:2:", "'1 2'")),
        (("1", "nan", "1", "1", "1", "1"), ("numbers:2:", "'nan'")),
        (("1", "-1e999", "1", "1", "1", "1"), ("numbers:2:", "'-1e999'")),
    ],
)
def test_bad_numbers(folder, refused, numbers, facts):
    """Of a further feature, and of the quality of each translation."""
    lists = write(folder / "list", *LISTS)
    path = write(folder / "numbers", *numbers)
    for command in (tune, rescore):
        refused(command(folder, lists, f"--feature=more={path}"), facts)
    refused(divide(folder, lists, "--quality", path), facts)


@pytest.mark.parametrize(
    ("name", "facts"),
    [("LM", "'LM'"), ("TM", "'TM'"), ("TM_1", "'TM_1'"), ("a b", "'a b'"), ("a\x01", "x01")],
)
def test_bad_names_of_further_features(folder, refused, name, facts):
    lists = write(folder / "list", *LISTS)
    path = write(folder / "numbers", *"123456")
    for command in (tune, rescore):
        refused(command(folder, lists, f"--feature={name}={path}"), facts)


@pytest.mark.parametrize(
    ("weights", "facts"),
    [
        (("lm 1", "tm_0 1"), "weights:"),
        ((), "weights:"),
        (("LM 1", "TM_2 1"), ("weights:", "'TM_2'", "'TM'", 2)),
        (("LM 1", "LM 2"), ("weights:2:", "'LM'")),
        (("LM 1", "TM_0"), "weights:2:"),
        (("LM x",), ("weights:1:", "'x'")),
        (("LM nan",), "weights:1:"),
    ],
)
def test_weights_of_other_features(folder, refused, weights, facts):
    write(folder / "weights", *weights)
    refused(rescore(folder, write(folder / "list", *LISTS)), facts)


@pytest.mark.parametrize("hidden", [(), (".list",)])
def test_missing_files(folder, refused, hidden):
    for name in hidden:
        write(folder / "lists" / name, *LISTS)
    (folder / "lists").mkdir(exist_ok=True)
    for command in (tune, rescore, first, divide):
        refused(command(folder, folder / "no-list"), folder / "no-list")
        refused(command(folder, folder / "lists"), folder / "lists")


# ---- legal lists


def transformed(change):
    return "".join(change(line) + "\n" for line in LISTS).encode()


MOSES = (*LISTS[:4], "2 ||| no ||| LM= -5 TM= 1 0 ||| -5", LISTS[5])
JSON = '{{"id": {}, "text": "{}", "features": {{"LM": {}, "TM_0": {}, "TM_1": {}}}}}'
LEGAL = {
    "out of order": "\n".join((*LISTS[4:], *LISTS[2:4], *LISTS[:2])).encode(),
    "interleaved": "\n".join((*LISTS[0::2], *LISTS[1::2])).encode(),
    "each twice": "\n".join((*LISTS, *LISTS)).encode(),
    "line ends of Windows": TEXT.replace(b"\n", b"\r\n"),
    "a byte order mark": b"\xef\xbb\xbf" + TEXT,
    "blank lines": TEXT.replace(b"\n", b"\n\n \n"),
    "no line end at the end": TEXT.rstrip(b"\n"),
    "further spaces": TEXT.replace(b"the cat", b"  the \t cat  ").replace(b"LM= ", b"  LM=   "),
    "no spaces around separators": TEXT.replace(b" ||| ", b"|||"),
    "zeros before the number": transformed(lambda line: line if line[0] == "{" else "00" + line),
    "other ways to write numbers": TEXT.replace(b"LM= -1 ", b"LM= -10.00e-1 ").replace(b"= 1 2", b"= +1 2."),
    "no scores": transformed(lambda line: line if line[0] == "{" else line.rpartition(" |||")[0]),
    "further fields": transformed(lambda line: line if line[0] == "{" else line + " ||| 0-0 ||| x=y"),
    "names before each value": TEXT.replace(b"TM= 1 2", b"TM_0=1 TM_1=2"),
    "zeros left out": TEXT.replace(b" TM= 0 0", b""),
    "all as in Moses": "\n".join(MOSES).encode(),
    "all as JSON": "\n".join(
        JSON.format(fields[0], fields[1], *(number for number in fields[2].split() if "=" not in number))
        for fields in (line.split(" ||| ") for line in MOSES)
    ).encode(),
}


def results(folder, lists):
    """Return what commands make of lists: translations, first entries, weights, the lists of a file."""
    for name in ("rescored", "first", "tuned", "0.h5"):
        (folder / name).unlink(missing_ok=True)
    for command in (rescore, first, tune, make_lists):
        itersel(*command(folder, lists))
    table = read_list_table(folder / "0.h5", has_text=True)
    sparse = table.sparse_rows
    features = [dict[str, float]() for _ in range(table.text.count)]
    for row, found in enumerate(features):
        for place in range(*sparse.offset[row : row + 2].tolist()):
            found[sparse.name.get(int(sparse.feature[place]))] = float(sparse.value[place])
    return (
        read_lines(folder / "rescored"),
        read_lines(folder / "first"),
        read_itersel_weights(folder / "tuned").to_dict(),
        (table.offset.tolist(), table.text.to_list(), table.dense.tolist(), features),
    )


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    folder = with_files(tmp_path_factory.mktemp("usual"))
    found = results(folder, write(folder / "list", *LISTS))
    assert found[:2] == (RESCORED, FIRST)
    return found


@pytest.mark.parametrize("legal", LEGAL)
def test_legal(folder, usual, legal):
    (folder / "list").write_bytes(LEGAL[legal])
    assert results(folder, folder / "list") == usual


def test_long_and_empty_translations(folder):
    """A translation of 5,000 words, one of a single long word, and one without words."""
    long = " ".join(["word"] * 5000)
    more = (f"0 ||| {long} ||| LM= 5 TM= 0 0", f"1 ||| {LONG} ||| LM= 5 TM= 0 0", "2 |||  ||| LM= 5 TM= 0 0")
    rescored, first_entries, _, in_file = results(folder, write(folder / "list", *LISTS, *more))
    assert (rescored, first_entries) == ([long, LONG, ""], FIRST)
    assert (in_file[0], in_file[1][2::3]) == ([0, 3, 6, 9], [long, LONG, ""])
