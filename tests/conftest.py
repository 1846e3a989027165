"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def parity() -> Path:
    """Return the folder with recorded output of other tools; where it is missing, skip (in CI: fail)."""
    folder = Path(os.environ.get("ITERSEL_PARITY", ROOT.parent / "shared" / "parity"))
    if folder.is_dir():
        return folder
    message = f"no recorded output of other tools in {folder}; name its folder in ITERSEL_PARITY"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top folder of the project."""
    return ROOT
