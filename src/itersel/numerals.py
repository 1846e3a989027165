"""The one syntax of numbers in text: weights, grammars, language models, options.

``float`` alone would take ``1_000``, digits of other scripts, and white space around a number. Of a text that
has no other characters than these it takes decimal numbers, with or without an exponent, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

CHARACTERS = "0123456789+-.eE"
# Of the shortest number, written without an exponent: more than 324 digits.
LONGEST = 400
_BYTES = CHARACTERS.encode() + b" "
# The readers have messages of their own for these.
_NOT_FINITE = re.compile("[-+]?(inf|infinity|nan)", re.IGNORECASE | re.ASCII)


def parse_number(text: str) -> float:
    """Return the number that a text is; also of ``inf`` and ``nan``.

    Raises
    ------
    ValueError
        If it is none.
    """
    # strip leaves nothing if there is nothing else: five times as fast as a regular expression
    if text.strip(CHARACTERS) and not _NOT_FINITE.fullmatch(text):
        raise ValueError(f"'{text}' is not a number")
    return float(text)


def are_numeric(fields: Sequence[bytes]) -> bool:
    """Tell whether many texts have no other characters than those of numbers, and none is oddly long."""
    # numpy gives each of an array of texts the room of the longest
    return not b" ".join(fields).strip(_BYTES) and max(map(len, fields), default=0) <= LONGEST
