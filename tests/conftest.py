"""Fixtures and settings for all tests."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings
from tests.needs import missing

ROOT = Path(__file__).resolve().parent.parent
PARITY_VARIABLE = "ITERSEL_PARITY"
NOBODY = 65534

# The first example loads or compiles kernels, and machines may be busy.
settings.register_profile("itersel", deadline=None)
settings.load_profile("itersel")


@pytest.fixture(scope="session")
def parity() -> Path:
    """Return the folder with recorded output of other tools."""
    folder = os.environ.get(PARITY_VARIABLE)
    if not folder:
        missing(f"the recorded output of other tools: name its folder in {PARITY_VARIABLE}")
    if not Path(folder).is_dir():
        missing(f"no recorded output of other tools in {folder}, which {PARITY_VARIABLE} names")
    return Path(folder)


@pytest.fixture(scope="session")
def kenlm() -> ModuleType:
    """Return the package kenlm, which must be compiled."""
    try:
        return importlib.import_module("kenlm")
    except ImportError:
        missing("the package kenlm is not installed")


@pytest.fixture
def ordinary_user() -> Iterator[None]:
    """Drop root's right to read everything for one test."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    yield
    if user == 0:
        os.seteuid(user)


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top folder of the project."""
    return ROOT
