"""What the value of a key can be: the one check of values against their declarations.

Configs and settings (`itersel.config.sections`), options of commands (`itersel.config.command_line`), and
sections that Python code makes (`itersel.config.section_checks`) use it. Each names the wrong value in its
own way, and says with the words of this module what it must be.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Real
from typing import Any

from itersel.config.messages import one_of
from itersel.config.names import LABEL, LABEL_PATTERN
from itersel.corpus.languages import LANGUAGE_PATTERN, usual_code
from itersel.keys import BOUNDS, PATH_PATTERN, Declaration
from itersel.storage.numbers import MAX_INTEGER

# File names and command arguments cannot contain NUL or half a surrogate pair, and should not contain others.
NO_TEXT = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
TYPE_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
# What text of these forms is called; other forms are shown as regular expressions.
TEXT_NAMES = {
    LABEL_PATTERN: LABEL,
    LANGUAGE_PATTERN: "a language code, such as de or pt-br",
    PATH_PATTERN: "a path without control characters, { and }, Snakemake's wildcards",
}


def as_usual(declaration: Declaration, value: Any) -> Any:
    """Return a value in the one spelling of several that its declaration allows."""
    if isinstance(value, str) and declaration.any_case:
        return value.lower()
    if isinstance(value, str) and declaration.pattern == LANGUAGE_PATTERN:
        return usual_code(value)
    return value


def allowed_instead(declaration: Declaration, kind: type, value: Any) -> str | None:
    """Return what a value must be; None if that is what it is.

    Parameters
    ----------
    declaration
        What is declared of the key.
    kind
        The type of the value: one of `TYPE_NAMES`.
    value
        A value `as_usual`.
    """
    if kind in (int, float):
        return _allowed_number(declaration.limits, kind, value)
    if declaration.choices is not None:
        is_one = isinstance(value, str) and value in declaration.choices
        return None if is_one else one_of(value, declaration.choices)
    if not isinstance(value, kind):
        return TYPE_NAMES[kind]
    return _allowed_text(declaration, value) if isinstance(value, str) else None


def _allowed_number(limits: dict[str, float], kind: type, value: Any) -> str | None:
    is_whole = type(value) is int
    # those of numpy, too
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    is_number = is_whole or (is_real and math.isfinite(value))

    if is_whole and value > MAX_INTEGER:
        limits.setdefault("maximum", MAX_INTEGER)
    if is_whole and value < -MAX_INTEGER:
        limits.setdefault("minimum", -MAX_INTEGER)

    is_of_type = is_whole if kind is int else is_number
    if is_of_type and not any(BOUNDS[bound][1](value, limit) for bound, limit in limits.items()):
        return None
    return ", ".join([TYPE_NAMES[kind], *described_limits(limits)])


def described_limits(limits: Mapping[str, float]) -> list[str]:
    """Return the limits of a number in words."""
    return [f"{word} {limits[bound]}" for bound, (word, _) in BOUNDS.items() if bound in limits]


def _allowed_text(declaration: Declaration, value: str) -> str | None:
    if declaration.path and not value:
        return "a path"

    pattern = declaration.pattern
    if pattern is not None and not re.fullmatch(pattern, value):
        return TEXT_NAMES.get(pattern, f"text of the form {pattern}")
    return "text without control characters" if NO_TEXT.search(value) else None
