"""Damage to text: bytes, lines and fields."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fuzz import raw_bytes
from tests.fuzz.targets import CHANGED, DAMAGED

Lines = list[bytes]
ODD_BYTES = (
    # invalid UTF-8, and characters that may be mistaken for line or word boundaries
    *(b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf"),
    *(b"\r", b"\r\n", b"\n", b"\t", b" ", b"  ", b"\x0b", b"\x0c", b"\x1c", b"\x1e", b"\x85", b"\xc2\x85"),
    *(b"\xc2\xa0", b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xe3\x80\x80", b"\xe2\x80\x8b"),
    *(b"\xcc\x81" * 50, b"\xf0\x9f\x9a\xa4"),
    # text with a meaning in some format
    *(
        b"|||",
        b" ||| ",
        b"||| ||| |||",
        b"[X]",
        b"[X,1]",
        b"[X,3]",
        b"[1]",
        b"[2]",
        b"[S]",
        b"[NP,1]",
        b"</seg>",
        b'<seg id="',
    ),
    *(b"<s>", b"</s>", b"<unk>", b"-", b"=", b"#", b"\\end\\", b"\\data\\", b'"', b"'", b"\\", b"%"),
    *(b"{", b"}", b"[", b"]", b",", b":", b"&a", b"*a", b"!!python/name:os.system", b"<<: *a"),
)
ODD_NUMBERS = (
    *(b"", b"0", b"-0", b"-1", b"1", b"00", b"+1", b"1_000", b"\xd9\xa1", b"\xef\xbc\x91", b"0x10", b"1,5"),
    *(b"1e5", b"1e400", b"-1e400", b"nan", b"inf", b"-inf", b"NaN", b"Infinity", b"1.0", b".5", b"1."),
    *(b"99999", b"2147483647", b"2147483648", b"-2147483649", b"4294967296", b"9223372036854775807"),
    *(b"9223372036854775808", b"18446744073709551616", b"1" * 400, b"9" * 5000),
)
DIGITS = b"0123456789"


def _line(chance: Random, lines: Lines) -> int:
    return chance.randrange(len(lines))


def _insert_odd(chance: Random, lines: Lines) -> None:
    place = _line(chance, lines)
    line = lines[place]
    at = chance.choice((0, len(line), chance.randint(0, len(line))))
    lines[place] = line[:at] + chance.choice(ODD_BYTES) + line[at:]


def _begin(chance: Random, lines: Lines) -> None:
    """Insert something before the text."""
    lines[0] = (
        chance.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\n", b"\x1f\x8b", b"%", b"-")) + lines[0]
    )


def _byte(chance: Random, lines: Lines) -> None:
    place = _line(chance, lines)
    if lines[place]:
        line = bytearray(lines[place])
        raw_bytes.flip_bit(chance, line)
        lines[place] = bytes(line)


def _delete_byte(chance: Random, lines: Lines) -> None:
    place = _line(chance, lines)
    at = chance.randint(0, len(lines[place]))
    lines[place] = lines[place][:at] + lines[place][at + chance.choice((1, 1, 2, 5)) :]


def _number(chance: Random, lines: Lines) -> None:
    """Replace a run of digits with its sign and decimal point."""
    places = [i for i, line in enumerate(lines) if any(digit in line for digit in DIGITS)]
    if not places:
        return
    place = chance.choice(places)
    line = lines[place]
    begins = [
        i for i in range(len(line)) if line[i] in DIGITS and (i == 0 or line[i - 1] not in DIGITS + b".")
    ]
    begin = end = chance.choice(begins or [0])
    while end < len(line) and line[end] in DIGITS + b".":
        end += 1
    if begin and line[begin - 1] == ord("-") and chance.random() < 0.5:
        begin -= 1
    lines[place] = line[:begin] + chance.choice(ODD_NUMBERS) + line[end:]


def _fields(chance: Random, lines: Lines) -> None:
    """Swap, drop, duplicate or replace fields of a line."""
    place = _line(chance, lines)
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


def _double_line(chance: Random, lines: Lines) -> None:
    lines.insert(_line(chance, lines), lines[_line(chance, lines)])


def _delete_line(chance: Random, lines: Lines) -> None:
    del lines[_line(chance, lines)]


def _swap_lines(chance: Random, lines: Lines) -> None:
    one, other = _line(chance, lines), _line(chance, lines)
    lines[one], lines[other] = lines[other], lines[one]


def _truncate_line(chance: Random, lines: Lines) -> None:
    place = _line(chance, lines)
    lines[place] = lines[place][: chance.randint(0, len(lines[place]))]


def _empty_line(chance: Random, lines: Lines) -> None:
    lines[_line(chance, lines)] = chance.choice((b"", b" ", b"\t", b"\xc2\xa0", b"\r"))


def _long_line(chance: Random, lines: Lines) -> None:
    place = _line(chance, lines)
    part = chance.choice((lines[place] + b" ", b"a ", b"x", b"0-0 ", b"\xc3\xa4"))
    lines[place] += part * (chance.choice((300, 5_000, 100_000)) // len(part) + 1)


def _cut_text(chance: Random, lines: Lines) -> None:
    del lines[chance.randrange(len(lines)) :]


def _repeat_text(chance: Random, lines: Lines) -> None:
    lines += lines[: chance.choice((1, 5, len(lines)))]


OPERATIONS: dict[str, Callable[[Random, Lines], None]] = {
    "odd bytes": _insert_odd,
    "odd begin": _begin,
    "flip a bit": _byte,
    "delete bytes": _delete_byte,
    "odd numbers": _number,
    "fields": _fields,
    "double a line": _double_line,
    "delete a line": _delete_line,
    "swap lines": _swap_lines,
    "truncate a line": _truncate_line,
    "empty a line": _empty_line,
    "long line": _long_line,
    "cut the text": _cut_text,
    "repeat the text": _repeat_text,
}
WEIGHTS = {**dict.fromkeys(OPERATIONS, 2), "odd numbers": 6, "fields": 6, "odd bytes": 6, "long line": 1}


def change(chance: Random, content: bytes) -> tuple[bytes, list[str]]:
    """Return a changed text and the changes."""
    names = chance.choices(list(WEIGHTS), list(WEIGHTS.values()), k=chance.choice((1, 1, 1, 2, 4)))
    lines = content.split(b"\n")
    for name in names:
        if lines:
            OPERATIONS[name](chance, lines)
    text = b"\n".join(lines)
    if chance.random() < 0.05:
        names.append("another encoding")
        text = chance.choice(
            (
                text.decode("utf-8", "replace").encode("utf-16"),
                text.replace(b"\n", b"\r\n"),
                text.replace(b"\n", b"\r"),
                text + chance.randbytes(100),
            )
        )
    return text, names


def mutate_text(chance: Random, original: Path, copy: Path, mode: str) -> list[str]:
    """Write a changed text."""
    assert mode == CHANGED
    text, names = change(chance, original.read_bytes())
    copy.write_bytes(text)
    return names


def mutate_packed(chance: Random, original: Path, copy: Path, mode: str) -> list[str]:
    """Write a damaged compressed file, or a gzip file of a changed text."""
    content = original.read_bytes()
    if mode == DAMAGED:
        # not "grow": concatenated gzip files are a valid gzip file, and zeros may follow
        name = chance.choice(sorted(raw_bytes.OPERATIONS.keys() - {"grow"}))
        copy.write_bytes(raw_bytes.damage(chance, content, name))
        return [name]
    text, names = change(chance, gzip.decompress(content))
    packed = gzip.compress(text, mtime=0)
    if chance.random() < 0.1:
        names.append("several parts")
        middle = chance.randint(0, len(text))
        packed = gzip.compress(text[:middle], mtime=0) + gzip.compress(text[middle:], mtime=0)
    copy.write_bytes(packed)
    return names
