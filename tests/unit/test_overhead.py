"""The scheduler of the measurement of overhead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.overhead import RECORD

# Leaves a process running, and ends without waiting for it.
SCRIPT = f"""
echo task $SLURM_ARRAY_TASK_ID
{sys.executable} -c 'import time
while time.process_time() < 0.3: pass
print("done")' &
disown
"""


def test_the_time_of_all_processes_is_recorded(tmp_path: Path, root: Path) -> None:
    (tmp_path / "task.sh").write_text(SCRIPT)
    command = [sys.executable, "-m", "benchmarks.overhead", "--parsable", "--array=1-2%1"]
    command += [f"--output={tmp_path}/%a.log", str(tmp_path / "task.sh")]
    environment = {**os.environ, RECORD: str(tmp_path / "record")}
    done = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == "1\n"
    spent = [float(line) for line in (tmp_path / "record").read_text().splitlines()]
    assert len(spent) == 2
    assert all(seconds > 0.3 for seconds in spent)
    for number in (1, 2):
        assert (tmp_path / f"{number}.log").read_text() == f"task {number}\ndone\n"


def test_trainings_that_fail_are_not_measured(tmp_path: Path, root: Path) -> None:
    command = ["itersel", "train", "--shard", "none", "--model", "none", "--output", "weights.h5"]
    options = json.dumps({"folder": str(tmp_path), "commands": [command]})
    tasks = [sys.executable, "-m", "benchmarks.tasks", "trainings", options]
    done = subprocess.run(tasks, cwd=root, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "failed" in done.stderr
