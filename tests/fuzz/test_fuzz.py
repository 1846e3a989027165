"""A short run of the fuzzer: always the same cases, however fast the machine is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.fuzz.targets import ARRAYS, HDF5, TARGETS

BINARY = [name for name, target in TARGETS.items() if target.kind in (HDF5, ARRAYS)]
REST = [name for name in TARGETS if name not in BINARY]
SECONDS = 600  # for a busy machine; 20 are usually enough


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formats", "cases"),
    [
        pytest.param(BINARY[::2], 4, id="binary"),
        pytest.param(BINARY[1::2], 4, id="more binary"),
        pytest.param(REST, 4, id="text"),
    ],
)
def test_damaged_files_are_rejected(formats, cases, root, tmp_path):
    command = [sys.executable, "-m", "tests.fuzz", "--seed", "1", "--cases", str(cases)]
    command += ["--formats", ",".join(formats), "--kept", str(tmp_path / "kept")]
    result = subprocess.run(
        command, capture_output=True, text=True, cwd=root, timeout=SECONDS, env=os.environ
    )
    assert result.returncode == 0, result.stdout + result.stderr
    modes = len(formats) + sum(TARGETS[name].kind in (HDF5, ARRAYS, "packed") for name in formats)
    assert f"{cases * modes} cases;" in result.stdout
