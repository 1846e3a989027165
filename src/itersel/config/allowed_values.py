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
from itersel.keys import BOUNDS, PATH_PATTERN
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


def as_usual(bounds: Mapping[str, Any], value: Any) -> Any:
    """Return a value in the one spelling of several that its declaration allows."""
    if isinstance(value, str) and "any_case" in bounds:
        return value.lower()
    if isinstance(value, str) and bounds.get("pattern") == LANGUAGE_PATTERN:
        return usual_code(value)
    return value


def allowed_instead(bounds: Mapping[str, Any], kind: type, value: Any) -> str | None:
    """Return what a value must be; None if that is what it is.

    Parameters
    ----------
    bounds
        The metadata of the key (`itersel.keys.key`).
    kind
        The type of the value: one of `TYPE_NAMES`.
    value
        A value `as_usual`.
    """
    if kind in (int, float):
        return _allowed_number(bounds, kind, value)
    if "choices" in bounds:
        is_one = isinstance(value, str) and value in bounds["choices"]
        return None if is_one else one_of(value, bounds["choices"])
    if not isinstance(value, kind):
        return TYPE_NAMES[kind]
    return _allowed_text(bounds, value) if isinstance(value, str) else None


def _allowed_number(bounds: Mapping[str, Any], kind: type, value: Any) -> str | None:
    is_whole = type(value) is int
    # those of numpy, too
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    is_number = is_whole or (is_real and math.isfinite(value))

    limits = {bound: bounds[bound] for bound in BOUNDS if bound in bounds}
    if is_whole and value > MAX_INTEGER:
        limits.setdefault("maximum", MAX_INTEGER)
    if is_whole and value < -MAX_INTEGER:
        limits.setdefault("minimum", -MAX_INTEGER)

    is_of_type = is_whole if kind is int else is_number
    if is_of_type and not any(BOUNDS[bound][1](value, limit) for bound, limit in limits.items()):
        return None
    return ", ".join([TYPE_NAMES[kind], *described_limits(limits)])


def described_limits(bounds: Mapping[str, Any]) -> list[str]:
    """Return the limits of a number in words."""
    return [f"{word} {bounds[bound]}" for bound, (word, _) in BOUNDS.items() if bound in bounds]


def _allowed_text(bounds: Mapping[str, Any], value: str) -> str | None:
    if "path" in bounds and not value:
        return "a path"

    pattern = bounds.get("pattern")
    if pattern is not None and not re.fullmatch(pattern, value):
        return TEXT_NAMES.get(pattern, f"text of the form {pattern}")
    return "text without control characters" if NO_TEXT.search(value) else None
