"""What a message must tell: places, names and values, not words; whole messages are in test_wordings.py."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from snakemake_interface_common.exceptions import ApiError

Fact = str | int | Path


def check_facts(message: str, *facts: Fact) -> None:
    for fact in facts:
        assert str(fact) in message


@contextlib.contextmanager
def api_error(*facts: Fact) -> Iterator[None]:
    """Expect an error that Snakemake shows, in one line with these facts."""
    with pytest.raises(ApiError) as error:
        yield
    assert "\n" not in str(error.value)
    check_facts(str(error.value), *facts)
