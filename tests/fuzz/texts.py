"""Damage to bytes, whatever they mean; to lines and fields of text; to the content of JSON and YAML."""

import gzip
import json
from random import Random
from typing import Any

import yaml
from tests.fuzz.targets import DAMAGED

Lines = list[bytes]


def by_name(*functions: Any) -> dict[str, Any]:
    """Return functions by their names, as words."""
    return {function.__name__.strip("_").replace("_", " "): function for function in functions}


# The most important bytes are at the beginning of a file.
HEADER = 2048
ODD_BYTES = (
    # invalid UTF-8, and characters that may be mistaken for line or word boundaries
    *(b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf"),
    *(b"\r", b"\r\n", b"\n", b"\t", b" ", b"  ", b"\x0b", b"\x0c", b"\x1c", b"\x1e", b"\x85", b"\xc2\x85"),
    *(b"\xc2\xa0", b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xe3\x80\x80", b"\xe2\x80\x8b"),
    *(b"\xcc\x81" * 50, b"\xf0\x9f\x9a\xa4"),
    # text with a meaning in some format
    *(b"|||", b" ||| ", b"||| ||| |||", b"[X]", b"[X,1]", b"[X,3]", b"[1]", b"[2]", b"[S]", b"[NP,1]"),
    *(b"</seg>", b'<seg id="', b"<s>", b"</s>", b"<unk>", b"-", b"=", b"#", b"\\end\\", b"\\data\\"),
    *(b'"', b"'", b"\\", b"%", b"{", b"}", b"[", b"]", b",", b":", b"&a", b"*a"),
    *(b"!!python/name:os.system", b"<<: *a"),
)
ODD_BEGINNINGS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\n", b"\x1f\x8b", b"%", b"-")
ODD_NUMBERS = (
    *(b"", b"0", b"-0", b"-1", b"1", b"00", b"+1", b"1_000", b"\xd9\xa1", b"\xef\xbc\x91", b"0x10", b"1,5"),
    *(b"1e5", b"1e400", b"-1e400", b"nan", b"inf", b"-inf", b"NaN", b"Infinity", b"1.0", b".5", b"1."),
    *(b"99999", b"2147483647", b"2147483648", b"-2147483649", b"4294967296", b"9223372036854775807"),
    *(b"9223372036854775808", b"18446744073709551616", b"1" * 400, b"9" * 5000),
)
DIGITS = b"0123456789"


def _flip_bits(chance: Random, content: bytearray) -> None:
    for _ in range(chance.choice((1, 1, chance.randint(2, 50)))):
        content[_place(chance, content)] ^= 1 << chance.randrange(8)


def _overwrite(chance: Random, content: bytearray) -> None:
    """Replace a run of bytes, like a bad block of a disk."""
    begin = _place(chance, content)
    size = min(_length(chance), len(content) - begin)
    content[begin : begin + size] = chance.choice((bytes(size), b"\xff" * size, chance.randbytes(size)))


def _insert(chance: Random, content: bytearray) -> None:
    begin = _place(chance, content)
    content[begin:begin] = chance.randbytes(_length(chance))


def _delete(chance: Random, content: bytearray) -> None:
    begin = _place(chance, content)
    del content[begin : begin + _length(chance)]


def _copy_block(chance: Random, content: bytearray) -> None:
    begin, to = _place(chance, content), _place(chance, content)
    size = min(_length(chance), len(content) - max(begin, to))
    content[to : to + size] = content[begin : begin + size]


def _cut(chance: Random, content: bytearray) -> None:
    """Truncate the file, often close to its beginning or end."""
    size = len(content)
    keep = chance.choice((0, 1, 7, 8, 15, 16, 100, size - 1, size - 8, size // 2, chance.randrange(size)))
    del content[max(0, keep) :]


def _grow(chance: Random, content: bytearray) -> None:
    size = _length(chance)
    content += chance.choice((bytes(size), chance.randbytes(size), bytes(content)))


def _place(chance: Random, content: bytearray) -> int:
    most = len(content) if chance.random() < 0.6 else min(HEADER, len(content))
    return chance.randrange(max(1, most))


def _length(chance: Random) -> int:
    return chance.choice((1, 1, 2, 4, 8, 64, 512, chance.randint(1, 5000)))


BYTES = by_name(_flip_bits, _overwrite, _insert, _delete, _copy_block, _cut, _grow)


def _odd_bytes(chance: Random, lines: Lines, place: int) -> None:
    line = lines[place]
    at = chance.choice((0, len(line), chance.randint(0, len(line))))
    lines[place] = line[:at] + chance.choice(ODD_BYTES) + line[at:]


def _odd_beginning(chance: Random, lines: Lines, place: int) -> None:
    lines[0] = chance.choice(ODD_BEGINNINGS) + lines[0]


def _odd_numbers(chance: Random, lines: Lines, place: int) -> None:
    """Replace a run of digits with its sign and decimal point."""
    places = [i for i, line in enumerate(lines) if any(digit in line for digit in DIGITS)]
    if not places:
        return
    place = chance.choice(places)
    line = lines[place]
    digits = [i for i in range(len(line)) if line[i] in DIGITS]
    begins = [i for i in digits if i == 0 or line[i - 1] not in DIGITS + b"."]
    begin = end = chance.choice(begins or [0])
    while end < len(line) and line[end] in DIGITS + b".":
        end += 1
    if begin and line[begin - 1] == ord("-") and chance.random() < 0.5:
        begin -= 1
    lines[place] = line[:begin] + chance.choice(ODD_NUMBERS) + line[end:]


def _fields(chance: Random, lines: Lines, place: int) -> None:
    """Swap, drop, duplicate or replace fields of a line."""
    separator = chance.choice((b" ", b" ", b"\t", b" ||| ", b":", b"-", b"="))
    fields = lines[place].split(separator)
    one, other = chance.randrange(len(fields)), chance.randrange(len(fields))
    kind = chance.randrange(4)
    if kind == 0:
        fields[one], fields[other] = fields[other], fields[one]
    elif kind == 1:
        del fields[one]
    elif kind == 2:
        fields.insert(other, fields[one])
    else:
        fields[one] = chance.choice((b"", *ODD_NUMBERS, *ODD_BYTES))
    lines[place] = separator.join(fields)


def _lines(chance: Random, lines: Lines, place: int) -> None:
    """Double, delete, swap, truncate or empty a line."""
    line, other, kind = lines[place], chance.randrange(len(lines)), chance.randrange(5)
    if kind == 0:
        lines.insert(other, line)
    elif kind == 1:
        del lines[place]
    elif kind == 2:
        lines[place], lines[other] = lines[other], line
    elif kind == 3:
        lines[place] = line[: chance.randint(0, len(line))]
    else:
        lines[place] = chance.choice((b"", b" ", b"\t", b"\xc2\xa0", b"\r"))


def _long_line(chance: Random, lines: Lines, place: int) -> None:
    part = chance.choice((lines[place] + b" ", b"a ", b"x", b"0-0 ", b"\xc3\xa4"))
    lines[place] += part * (chance.choice((300, 5_000, 100_000)) // len(part) + 1)


# Each changes the line `place`, or another one.
LINES = by_name(_odd_bytes, _odd_beginning, _odd_numbers, _fields, _lines, _long_line)
WEIGHTS = {
    **dict.fromkeys(BYTES, 1),
    **dict.fromkeys(LINES, 2),
    **{"flip bits": 2, "lines": 10, "odd numbers": 6, "fields": 6, "odd bytes": 6, "long line": 1},
}


def damage(chance: Random, content: bytes, name: str) -> bytes:
    """Return the content, which must not be empty, after an operation of `BYTES` or `LINES`."""
    if name in LINES:
        lines = content.split(b"\n")
        LINES[name](chance, lines, chance.randrange(len(lines)))
        return b"\n".join(lines)
    result = bytearray(content)
    BYTES[name](chance, result)
    return bytes(result)


def change(chance: Random, content: bytes) -> tuple[bytes, list[str]]:
    names = chance.choices(list(WEIGHTS), list(WEIGHTS.values()), k=chance.choice((1, 1, 1, 2, 4)))
    for name in names:
        content = damage(chance, content, name) if content else content
    if chance.random() < 0.05:
        names.append("another encoding")
        others = (
            content.decode("utf-8", "replace").encode("utf-16"),
            content.replace(b"\n", b"\r\n"),
            content.replace(b"\n", b"\r"),
        )
        content = chance.choice(others)
    return content, names


def change_packed(chance: Random, content: bytes, mode: str) -> tuple[bytes, list[str]]:
    """Return a damaged compressed file, or a gzip file of a changed text, and the changes."""
    if mode == DAMAGED:
        # not "grow": concatenated gzip files are a valid gzip file, and zeros may follow
        name = chance.choice(sorted(BYTES.keys() - {"grow"}))
        return damage(chance, content, name), [name]
    text, names = change(chance, gzip.decompress(content))
    packed = gzip.compress(text, mtime=0)
    if chance.random() < 0.1:
        names.append("several parts")
        middle = chance.randint(0, len(text))
        packed = gzip.compress(text[:middle], mtime=0) + gzip.compress(text[middle:], mtime=0)
    return packed, names


ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 63, 64, 65, 2**31, 2**40, 2**62, 2**63, 2**64, 10**400),
    *(0.5, 2.0, -0.0, 1e400, -1e400, float("nan")),
    *("", " ", "x", "\x00", "a\nb", "1_000", "\u0661", "\u2028", "../../etc/passwd", "x" * 100_000),
    *([], [[]], {}, {"a": 1}, [1, 2], ["x"] * 1000, {"": None}),
    # kinds of files, types of arrays and their shapes
    *("file of lists", "language-model", "<i4", ">i4", "<f2", "O", "V8", "<i4,<f4", "<M8[s]", "<c8"),
    *([2**32, 2**32], [-1, -8], [0, 2**62], [1] * 40),
)
NESTED = (50, 2_000, 100_000)
TAGS = (
    *("!!binary x", "!!set {a}", "!!python/object:os.x {}", "!!timestamp 2001", "2001-01-01"),
    *("!!omap [a: 1]", "!x y"),
)
KEYS = ("? [a, b]\n: c\n", "1: 2\n", "null: 3\n", "? {a: b}\n: c\n", "true: x\n")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return all places in a document: a list or mapping, and an index or key."""
    found = []
    for key in sorted(value, key=str) if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], dict | list):
            found += _places(value[key])
    return found


def _values(chance: Random, document: Any) -> str:
    """Change a document, which is not empty, in one place."""
    holder, key = chance.choice(_places(document))
    kind = chance.randrange(5)
    if kind == 0:
        del holder[key]
        return "missing"
    if kind == 1 and isinstance(holder, dict):
        holder[chance.choice((f"{key} ", f"{key}x", "", key.upper()))] = holder.pop(key)
        return "renamed"
    if kind == 2:
        other, place = chance.choice(_places(document))
        holder[key] = json.loads(json.dumps(other[place]))
        return "copied"
    holder[key] = chance.choice(ODD)
    return "odd value"


def _structure(chance: Random, text: str) -> tuple[str, str]:
    depth = chance.choice(NESTED)
    options = (
        ("deep", "[" * depth),
        ("deep", "[" * depth + "]" * depth),
        ("deep", '{"a":' * depth + "1" + "}" * depth),
        ("another kind", chance.choice(("", "null", "3", '"x"', "[]", "{}", "true", "[[1, 2]]", "\x00"))),
        ("in a list", f"[{text}]"),
        ("twice", text + text),
    )
    return chance.choice(options)


def change_json(chance: Random, content: bytes) -> tuple[bytes, list[str]]:
    """Return a changed JSON document, or another text after changes of its bytes, and the changes."""
    kind = chance.random()
    if kind < 0.1:
        name, text = _structure(chance, content.decode())
        return text.encode(), [name]
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if kind < 0.4 or not isinstance(document, dict | list) or not document:
        return change(chance, content)
    name = _values(chance, document)
    return json.dumps(document, indent=1).encode(), [name]


def change_yaml(chance: Random, content: bytes) -> tuple[bytes, list[str]]:
    kind, text = chance.random(), content.decode()
    if kind < 0.45:
        return change(chance, content)
    if kind < 0.6:
        name, text = chance.choice((_structure(chance, text), _yaml_structure(chance, text)))
        return text.encode(), [name]
    document = yaml.safe_load(text)
    name = _values(chance, document)
    return yaml.safe_dump(document, allow_unicode=True).encode(), [name]


def _yaml_structure(chance: Random, text: str) -> tuple[str, str]:
    lines = text.split("\n")
    place = chance.randrange(len(lines))
    depth = chance.choice(NESTED[:2])
    laughs = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 30))
    options = (
        ("deep", "".join(" " * i + "a:\n" for i in range(depth // 4))),
        ("aliases", text + laughs),
        ("aliases", text + "loop: &loop [*loop]\n"),
        ("aliases", text.replace("name: small", "name: *nothing")),
        ("aliases", text + "data: &data {train: *data}\n"),
        ("tags", text.replace("small", chance.choice(TAGS))),
        ("key twice", "\n".join([*lines[:place], lines[place], *lines[place:]])),
        ("two documents", f"{text}---\n{text}"),
        ("merge", text + "<<: [{seed: 3}, {name: x}]\n"),
        ("odd key", text + chance.choice(KEYS)),
        ("directive", f"%YAML {chance.choice(('1.1', '9.9', 'x'))}\n---\n{text}"),
    )
    return chance.choice(options)
