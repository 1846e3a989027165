"""Damage to JSON and YAML: the values and the structure of documents, besides their text."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import yaml
from tests.fuzz import texts

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 63, 64, 65, 2**31, 2**40, 2**62, 2**63, 2**64, 10**400),
    *(0.5, 2.0, -0.0, 1e400, -1e400, float("nan")),
    *("", " ", "x", "\x00", "a\nb", "1_000", "\u0661", "\u2028", "../../etc/passwd", "x" * 100_000),
    *([], [[]], {}, {"a": 1}, [1, 2], ["x"] * 1000, {"": None}),
    # kinds of files, types of arrays and their shapes
    *("shard", "language-model", "<i4", ">i4", "<f2", "O", "V8", "<i4,<f4", "<M8[s]", "<c8"),
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


def change_json(chance: Random, text: str) -> tuple[str, list[str]]:
    """Return a changed JSON document, or another text after changes of its bytes, and the changes."""
    kind = chance.random()
    if kind < 0.1:
        name, text = _structure(chance, text)
        return text, [name]
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if kind < 0.4 or not isinstance(document, dict | list) or not document:
        content, names = texts.change(chance, text.encode())
        return content.decode(errors="surrogateescape"), names
    name = _values(chance, document)
    return json.dumps(document, indent=1), [name]


def mutate_json(chance: Random, original: Path, copy: Path, mode: str) -> list[str]:
    """Write a damaged JSON document."""
    text, names = change_json(chance, original.read_text())
    copy.write_bytes(text.encode(errors="surrogateescape"))
    return names


def mutate_yaml(chance: Random, original: Path, copy: Path, mode: str) -> list[str]:
    """Write a damaged YAML document."""
    content = original.read_text()
    kind = chance.random()
    if kind < 0.45:
        return texts.mutate_text(chance, original, copy, mode)
    if kind < 0.6:
        name, text = chance.choice((_structure(chance, content), _yaml_structure(chance, content)))
        copy.write_text(text)
        return [name]
    document = yaml.safe_load(content)
    name = _values(chance, document)
    copy.write_text(yaml.safe_dump(document, allow_unicode=True))
    return [name]


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
