"""The Snakemake of a task changes nothing once its task has been given to another attempt."""

import os
import subprocess
from pathlib import Path

import psutil
import pytest
from stand_ins import PYTHON, statuses

from snakemake_executor_plugin_arrays import attempt

# Begins as Snakemake on a node does, starts a command, waits for a file, and then changes something.
SNAKEMAKE = """
import os, subprocess, sys, time
import snakemake_executor_plugin_arrays
from snakemake_executor_plugin_arrays import attempt
child = subprocess.Popen(["sleep", "1000"])
here = os.environ["HERE"]
open(f"{here}/child", "w").write(str(child.pid))
open(f"{here}/begun", "w").close()
while not os.path.exists(f"{here}/go"):
    time.sleep(0.02)
attempt.RECENT = 0
CHANGE
open(f"{here}/changed", "w").close()
child.kill()
"""


@pytest.mark.parametrize(
    "change",
    [
        "os.remove(f'{here}/output')",
        "os.rename(f'{here}/output', f'{here}/other')",
        "open(f'{here}/output', 'a')",
        "os.open(f'{here}/output', os.O_WRONLY | os.O_TRUNC)",
        "os.utime(f'{here}/output')",
        "subprocess.call(['rm', f'{here}/output'])",
        "os.system(f'rm {here}/output')",
        "import shutil; shutil.rmtree(f'{here}/folder')",
        "import pathlib; pathlib.Path(here, 'output').unlink()",
    ],
)
@pytest.mark.parametrize("has_token", [True, False])
def test_snakemake_without_a_token_changes_nothing(site, change, has_token):
    """Even if it looks only every hour, it looks before each change. With a token, it makes the change."""
    code = "from snakemake_executor_plugin_arrays import attempt\nattempt.INTERVAL = 3600\n" + SNAKEMAKE
    site.path.joinpath("snakemake.py").write_text(code.replace("CHANGE", change))
    site.array(f"{PYTHON} $HERE/snakemake.py")
    site.path.joinpath("output").write_text("of the second attempt")
    site.path.joinpath("folder").mkdir()
    before = os.stat(site.path / "output").st_mtime_ns
    first = site.start()
    site.wait_for("begun")
    if not has_token:
        [token] = site.folder.path.glob("1.running.*")
        token.rename(site.folder.path / "1.taken.n2.1.ff")
    site.touch("go")
    assert first.wait() == (0 if has_token else 1)
    assert (site.path / "changed").exists() == has_token
    if has_token:
        return
    assert (site.path / "output").read_text() == "of the second attempt"
    assert os.stat(site.path / "output").st_mtime_ns == before
    assert (site.path / "folder").is_dir()
    assert has_ended(site.path)


def test_snakemake_that_changes_nothing_ends_with_its_job(site):
    """It looks from time to time."""
    code = "from snakemake_executor_plugin_arrays import attempt\nattempt.INTERVAL = 0.1\n" + SNAKEMAKE
    site.path.joinpath("snakemake.py").write_text(code)
    site.array(f"{PYTHON} $HERE/snakemake.py")
    first = site.start()
    site.wait_for("begun")
    site.folder.revoke(1)
    assert first.wait() == 1
    assert has_ended(site.path)
    assert site.folder.states()[1].word == "stopped"


def test_snakemake_with_its_token_goes_on(site):
    site.path.joinpath("snakemake.py").write_text(SNAKEMAKE.replace("CHANGE", "child.kill()"))
    site.array(f"{PYTHON} $HERE/snakemake.py")
    site.touch("go")
    assert site.start().wait() == 0
    assert (site.path / "changed").exists()


def has_ended(path):
    """Return whether the command that Snakemake started has ended; nobody may have taken notice of it yet."""
    child = Path(f"/proc/{(path / 'child').read_text()}/stat")
    return not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z"


UNSURE = """
import os, sys
import snakemake_executor_plugin_arrays
from snakemake_executor_plugin_arrays import attempt
attempt.RECENT = 0
stat, asked = os.stat, []
def fails(path, *given, **named):
    if path == os.environ["ARRAYS_TOKEN"] and len(asked) < 3:
        asked.append(path)
        raise OSError(5, "Input/output error")
    return stat(path, *given, **named)
os.stat = fails
open(os.path.join(os.environ["HERE"], "changed"), "w").close()
sys.exit(0 if len(asked) == 3 else 9)
"""


def test_file_system_that_does_not_answer_ends_no_job(site):
    site.path.joinpath("unsure.py").write_text(UNSURE)
    site.array(f"{PYTHON} $HERE/unsure.py")
    site.start().wait()
    assert statuses(site.folder) == {1: 0}
    assert (site.path / "changed").exists()


def test_process_that_ends_while_others_are_looked_for(monkeypatch):
    """The others are found nevertheless."""
    ended, running = (subprocess.Popen(["sleep", "1000"]) for _ in range(2))
    children = [psutil.Process(one.pid) for one in (ended, running)]
    ended.kill()
    ended.wait()
    monkeypatch.setattr(psutil.Process, "children", lambda process, recursive: children)
    assert attempt.processes_of_task(0) == [running.pid]
    running.kill()
    running.wait()
