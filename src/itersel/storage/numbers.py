"""Numbers in text: their syntax, the largest integer, and the seed where none is stated."""

import re
from collections.abc import Sequence

# The limit for integers with no other bound: doubles represent all integers up to here exactly.
MAX_INTEGER = 2**53
# The seed of everything random where none is stated.
DEFAULT_SEED = 1

# The syntax of numbers in text: weights, grammars, language models and options. `float` alone would accept
# 1_000, digits of other scripts, and surrounding white space. Restricted to these characters, it accepts
# decimal numbers, with or without an exponent, and nothing else.
NUMBER_CHARACTERS = "0123456789+-.eE"
# The smallest double, written without an exponent, has more than 324 digits.
LONGEST_NUMBER = 400
_NUMBER_BYTES = NUMBER_CHARACTERS.encode() + b" "
# Readers reject these with their own messages.
_NOT_FINITE = re.compile("[-+]?(inf|infinity|nan)", re.IGNORECASE | re.ASCII)


def parse_number(text: str) -> float:
    """Parse a number, which may be ``inf`` or ``nan``; a ValueError says if the text is something else."""
    try:
        # strip is five times as fast as a regular expression
        if not text.strip(NUMBER_CHARACTERS) or _NOT_FINITE.fullmatch(text):
            return float(text)
    except ValueError:
        pass
    raise ValueError(f"'{text}' is not a number")


def are_numeric(fields: Sequence[bytes]) -> bool:
    """Return whether all fields consist of characters used in numbers and none is unreasonably long."""
    # numpy pads every string in an array to the length of the longest
    return not b" ".join(fields).strip(_NUMBER_BYTES) and max(map(len, fields), default=0) <= LONGEST_NUMBER
