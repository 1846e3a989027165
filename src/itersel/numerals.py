"""The syntax of numbers in text: weights, grammars, language models and options.

``float`` alone would accept ``1_000``, digits of other scripts, and surrounding white space. Restricted to
the characters below, it accepts decimal numbers, with or without an exponent, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

CHARACTERS = "0123456789+-.eE"
# The smallest double, written without an exponent, has more than 324 digits.
LONGEST = 400
_BYTES = CHARACTERS.encode() + b" "
# Readers reject these with their own messages.
_NOT_FINITE = re.compile("[-+]?(inf|infinity|nan)", re.IGNORECASE | re.ASCII)


def parse_number(text: str) -> float:
    """Parse a number; ``inf`` and ``nan`` are accepted.

    Raises
    ------
    ValueError
        If the text is not a number.
    """
    # strip is five times as fast as a regular expression
    if text.strip(CHARACTERS) and not _NOT_FINITE.fullmatch(text):
        raise ValueError(f"'{text}' is not a number")
    return float(text)


def are_numeric(fields: Sequence[bytes]) -> bool:
    """Return whether all fields consist of characters used in numbers and none is unreasonably long."""
    # numpy pads every string in an array to the length of the longest
    return not b" ".join(fields).strip(_BYTES) and max(map(len, fields), default=0) <= LONGEST
