"""What a refusal must tell: places, names and values, not words.

Whole messages are in tests/unit/test_wordings.py.
"""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from itersel.errors import InputError

# A place such as "lists:2:", the name of a key, an option or a file, a value in quotes, or a number.
Fact = str | int | Path | tuple["Fact", ...]
_WORDING = re.compile(r"(?<![^ ])[a-z]{2,},? [a-z]{2,}(?![^ ,;:])")


def is_wording(fact: str) -> bool:
    """Whether there are English words in it, outside of quotes and of the names of commands and folders."""
    return not fact.startswith("itersel ") and _WORDING.search(re.sub("'[^']*'", "", fact)) is not None


def contains_number(message: str, number: int) -> bool:
    """Whether there is a number outside of places and names of files, perhaps with commas."""
    plain = re.sub(r"(?<=\d),(?=\d)", "", message)
    return re.search(rf"(?<![\w./:]){number}(?!\w|\.\w)", plain) is not None


def check_facts(message: str, *facts: Fact) -> None:
    """Check that a message contains all facts, and that none of them is wording; a number stands alone."""
    for fact in facts:
        if isinstance(fact, tuple):
            check_facts(message, *fact)
        elif isinstance(fact, int):
            assert contains_number(message, fact), message
        else:
            assert str(fact) in message, message
            assert not is_wording(str(fact)), f"{fact!r} is wording, which only test_wordings.py compares"


@contextlib.contextmanager
def input_error(*facts: Fact) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """Expect an InputError in one line with these facts."""
    with pytest.raises(InputError) as error:
        yield error
    assert "\n" not in str(error.value)
    check_facts(str(error.value), *facts)
