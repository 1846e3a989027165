"""Damage to the bytes of a file, regardless of their meaning."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

# The most important bytes are at the beginning of a file.
HEADER = 2048


def flip_bit(chance: Random, content: bytearray) -> None:
    """Flip one bit."""
    content[_place(chance, content)] ^= 1 << chance.randrange(8)


def flip_bits(chance: Random, content: bytearray) -> None:
    """Flip up to 50 bits."""
    for _ in range(chance.randint(2, 50)):
        flip_bit(chance, content)


def overwrite(chance: Random, content: bytearray) -> None:
    """Replace a run of bytes, like a bad block of a disk."""
    begin = _place(chance, content)
    size = min(_length(chance), len(content) - begin)
    kind = chance.randrange(3)
    content[begin : begin + size] = (
        bytes(size) if kind == 0 else b"\xff" * size if kind == 1 else chance.randbytes(size)
    )


def insert(chance: Random, content: bytearray) -> None:
    """Insert bytes, which moves all bytes after them."""
    begin = _place(chance, content)
    content[begin:begin] = chance.randbytes(_length(chance))


def delete(chance: Random, content: bytearray) -> None:
    """Delete bytes, which moves all bytes after them."""
    begin = _place(chance, content)
    del content[begin : begin + _length(chance)]


def copy_block(chance: Random, content: bytearray) -> None:
    """Copy some bytes over others of the file."""
    begin, to = _place(chance, content), _place(chance, content)
    size = min(_length(chance), len(content) - max(begin, to))
    content[to : to + size] = content[begin : begin + size]


def cut(chance: Random, content: bytearray) -> None:
    """Truncate the file, often close to its beginning or end."""
    size = len(content)
    keep = chance.choice((0, 1, 7, 8, 15, 16, 100, size - 1, size - 8, size // 2, chance.randrange(size)))
    del content[max(0, keep) :]


def grow(chance: Random, content: bytearray) -> None:
    """Add bytes at the end."""
    size = _length(chance)
    content += chance.choice((bytes(size), chance.randbytes(size), bytes(content)))


OPERATIONS: dict[str, Callable[[Random, bytearray], None]] = {
    "flip a bit": flip_bit,
    "flip bits": flip_bits,
    "overwrite": overwrite,
    "insert": insert,
    "delete": delete,
    "copy a block": copy_block,
    "cut": cut,
    "grow": grow,
}


def damage(chance: Random, content: bytes, name: str) -> bytes:
    """Return the bytes after applying one of `OPERATIONS`."""
    result = bytearray(content)
    OPERATIONS[name](chance, result)
    return bytes(result)


def _place(chance: Random, content: bytearray) -> int:
    most = len(content) if chance.random() < 0.6 else min(HEADER, len(content))
    return chance.randrange(max(1, most)) if content else 0


def _length(chance: Random) -> int:
    return chance.choice((1, 1, 2, 4, 8, 64, 512, chance.randint(1, 5000)))
