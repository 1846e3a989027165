"""The executor without this workflow: the Snakefile and the profiles of its README."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cluster.clusters import FAST, Cluster

pytestmark = pytest.mark.cluster

# One more than there are slots: a task waits.
JOBS = 5
# Prepended to the command of the third job, so that its first attempt fails.
ONCE = 'if [ {wildcards.i} = 3 ] && mkdir tried; then echo "no luck" >&2; exit 7; fi; '


@dataclass
class Alone:
    """A folder with the README's Snakefile and its profile for a scheduler."""

    cluster: Cluster
    folder: Path

    def run(self, *arguments, status=0):
        done = self.cluster.snakemake(self.folder, "--profile", "profile", *arguments)
        assert done.returncode == status, done.stdout[-3000:]
        return done.stdout

    def arrays(self, output):
        """Return the rule and the number of tasks of each submitted array."""
        found = re.findall(r"array \d+ (\w+)-[0-9a-f]{6}: (\d+) tasks", output)
        return [(rule, int(tasks)) for rule, tasks in found]


@pytest.fixture
def alone(cluster, root, tmp_path):
    readme = (root / "packages/snakemake-executor-plugin-arrays/README.md").read_text()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    [snakefile] = [text for language, text in blocks if language == "python"]
    [profile] = [text for _, text in blocks if f"\narrays-scheduler: {cluster.key}\n" in text]
    assert "range(1, 101)" in snakefile
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile/config.yaml").write_text(profile)
    (tmp_path / "Snakefile").write_text(snakefile.replace("101", str(JOBS + 1)))
    yield Alone(cluster, tmp_path)
    cluster.clear()


def test_readme(alone):
    """One array, the right result, and no files left behind."""
    output = alone.run(*FAST)
    assert alone.arrays(output) == [("count", JOBS)]
    assert (alone.folder / "total.txt").read_text() == f"{sum(range(JOBS + 1))}\n"
    assert not [path for path in (alone.folder / ".snakemake/arrays").iterdir() if path.is_dir()]
    assert "not requested" not in output


def test_one_of_them_fails(alone):
    """The others are not affected, and only the failed job is resubmitted, as set in the profile."""
    path = alone.folder / "Snakefile"
    first, rule, second = path.read_text().partition("rule count:")
    second = second.replace('shell: "seq', f"shell: '{ONCE}seq").replace('{output}"', "{output}'")
    path.write_text(first + rule + second)
    # with retries, unlike other tests
    output = alone.run(*FAST[:-2])
    assert alone.arrays(output) == [("count", JOBS), ("count", 1)]
    assert len(re.findall(r"message: count \(i 3\): .* ended with exit status 1", output)) == 1
    assert (alone.folder / "total.txt").exists()
    # the log of the failed attempt is kept
    [log] = (alone.folder / ".snakemake/arrays").glob("*/count-*/*.log")
    assert "no luck" in log.read_text()
