"""What several tests need."""

from collections.abc import Callable
from pathlib import Path

import pytest

# As a task on the node n1 names itself.
ATTEMPT = "n1.17.0a0b0c"

Put = Callable[[Path, int, str], None]


@pytest.fixture
def put() -> Put:
    """Return a function that gives a job of an array, in this folder and line, another state."""

    def renamed(folder: Path, line: int, state: str) -> None:
        [token] = [path for path in folder.glob(f"{line}.*") if path.suffix != ".log"]
        token.rename(folder / f"{line}.{state}")

    return renamed
