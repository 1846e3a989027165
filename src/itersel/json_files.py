"""JSON in: bounded, whatever the file holds."""

from __future__ import annotations

import json
import os
from typing import Any

from itersel.files import read_bytes
from itersel.limits import MAX_JSON_BYTES


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return the content of a JSON file.

    Raises
    ------
    InputError
        If the file cannot be read or is too large.
    ValueError
        If it is not JSON, or is nested more deeply than Python can follow.
    """
    try:
        return json.loads(read_bytes(path, MAX_JSON_BYTES))
    except RecursionError:
        raise ValueError("nested too deeply") from None
