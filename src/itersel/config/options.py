"""Declare an option of the config: a dataclass field with an explanation and bounds."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"
# Translations and references are in the same folder.
EXPERIMENT_PATTERN = rf"(?!reference\.[0-9]+$){NAME_PATTERN}"
# A label is one word in a file of labels and must be usable on the command line.
LABEL_PATTERN = r"[^\s=,{}\x00-\x1f\x7f-\x9f-][^\s=,{}\x00-\x1f\x7f-\x9f]*"
# Snakemake treats {...} as a wildcard.
PATH_PATTERN = r"[^{}\x00-\x08\x0a-\x1f\x7f-\x9f]+"


def option(
    explanation: str,
    default: Any = None,
    *,
    choices: tuple[str, ...] = (),
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
    pattern: str = "",
    path: bool = False,
    alone: bool = False,
    no_list: str = "",
) -> Any:
    """Return a dataclass field that carries its explanation and its bounds.

    Parameters
    ----------
    explanation
        One or two sentences, shown in the documentation and in config.yaml.
    default
        The value if the config does not set it.
    choices
        The texts allowed; any if empty.
    minimum, maximum
        The smallest and largest number allowed.
    above
        A number that the value must exceed.
    pattern
        A regular expression that a text must match as a whole.
    path
        The text is the path of a file or folder and must match `PATH_PATTERN`; `~` is the user's home.
    alone
        For a list: a single value may be written without brackets.
    no_list
        For a text: why it cannot be a list, for the error message.
    """
    bounds = {
        "choices": choices,
        "minimum": minimum,
        "above": above,
        "maximum": maximum,
        "pattern": PATH_PATTERN if path else pattern,
        "path": path,
        "alone": alone,
        "no_list": no_list,
    }
    # not `in`: 0 is a valid bound but equals False
    given = {name: value for name, value in bounds.items() if value is not None and value is not False}
    metadata = {name: value for name, value in given.items() if value not in ((), "")}
    return field(default=default, metadata={"explanation": explanation, **metadata})


def section_of(kind: Any, values: object) -> Any:
    """Return a section of the config with the values of an object such as parsed options."""
    return kind(**{item.name: getattr(values, item.name) for item in fields(kind)})


def explain(explanation: str) -> dict[str, str]:
    """Return the metadata of a dataclass field that holds further options."""
    return {"explanation": explanation}
