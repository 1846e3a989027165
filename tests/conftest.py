"""Fixtures and settings for all tests."""

import importlib
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings
from tests.needs import missing

ROOT = Path(__file__).resolve().parent.parent
PARITY_VARIABLE = "ITERSEL_PARITY"
NOBODY = 65534
IN_CI = bool(os.environ.get("CI"))

# The same examples each time, whatever the speed of the machine.
unchecked = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]
settings.register_profile(
    "quick", max_examples=20, derandomize=True, deadline=None, suppress_health_check=unchecked
)
settings.register_profile("full", settings.get_profile("quick"), max_examples=100)
settings.register_profile("random", settings.get_profile("full"), derandomize=False)
settings.load_profile("full" if IN_CI else "quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the workflow, whose tests take longest, and with the executor, whose tests wait."""
    items.sort(key=lambda item: not item.nodeid.startswith(("tests/workflow/", "packages/")))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in a line what was skipped and why, and what was left for CI."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    if reasons:
        listed = "; ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
        terminalreporter.write_line(f"Skipped: {listed}")
    if "not slow" in terminalreporter.config.option.markexpr:
        examples = "most examples of property tests (--hypothesis-profile full)"
        left = f"slow tests (pytest -m slow), {examples}, clusters (make test-cluster)"
        terminalreporter.write_line(f"Left for CI: {left}")


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
    return ROOT
