"""What the fields of dataclasses contain, as readers, checks and documentation ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from itersel.code.field_types import ByName, FieldType, ListOf, OneOf, Scalar, Section, field_types
from itersel.config.learning_steps import MixSettings
from itersel.config.mixing import MIXINGS, Mixing
from itersel.keys import types_of


class Pair(NamedTuple):
    first: int
    second: str | None


@dataclass
class Inner:
    text: str


@dataclass
class Outer:
    number: int
    flag: bool | None
    inner: Inner
    maybe: Inner | None
    texts: tuple[str, ...]
    inners: tuple[Inner, ...] | None
    counts: dict[str, int]
    files: dict[str, tuple[str, ...]]
    anything: dict[str, Any]
    pair: Pair


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("number", FieldType(Scalar(int))),
        ("flag", FieldType(Scalar(bool), is_optional=True)),
        ("inner", FieldType(Section(Inner))),
        ("maybe", FieldType(Section(Inner), is_optional=True)),
        ("texts", FieldType(ListOf(FieldType(Scalar(str))))),
        ("inners", FieldType(ListOf(FieldType(Section(Inner))), is_optional=True)),
        ("counts", FieldType(ByName(FieldType(Scalar(int))))),
        ("files", FieldType(ByName(FieldType(ListOf(FieldType(Scalar(str))))))),
        ("anything", FieldType(ByName(FieldType(Scalar(Any))))),
        ("pair", FieldType(Scalar(Pair))),
    ],
)
def test_fields_contain_what_their_annotations_say(name, expected):
    assert field_types(Outer)[name] == expected


def test_tuples_with_named_fields_have_types_as_dataclasses_have():
    assert field_types(Pair) == {
        "first": FieldType(Scalar(int)),
        "second": FieldType(Scalar(str), is_optional=True),
    }


def test_a_section_with_forms_is_one_of_them():
    assert types_of(MixSettings)["mixing"] == FieldType(OneOf(MIXINGS, Mixing))
