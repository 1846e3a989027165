"""File and folder names with characters that are special to a shell."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cluster.clusters import FAST, Cluster

pytestmark = pytest.mark.cluster

NAMES = ["plain", "it's", 'say "so" now', "l'été $(touch pwned).en", "d`touch pwned`d", "$(touch pwned)"]
NAMES += ["$HOME ~", "both'\"$(touch pwned)", "back\\slash", "end\\", "ta\tb", "*", "?[a-z]*", "--help"]
NAMES += ["a;touch pwned&b|c>d<e#f%g", "größe 数", "-dash", "~root!1", " two  spaces ", "a=b:c"]
# Slurm cannot write logs to paths with a backslash; Grid Engine expands some variables.
FOLDERS = {
    "slurm": "a b'c$(touch pwned)`touch pwned`\"$HOME ta\tb*?[x];&|<>#%a é,:",
    "sge": "a b'c$(touch pwned)`touch pwned`\"$PWD ta\tb*?[x];&|<>#%a é,:\\x",
}
NOTE = 'l\'été $(touch pwned) "`touch pwned`" \\'

SNAKEFILE = """
import json
NAMES = json.load(open("names.json"))
envvars: "NOTE"
rule all:
    localrule: True
    input: expand("out/{name}.txt", name=NAMES), expand("group/{name}.txt", name=NAMES[:4])
rule copy:
    input: "{name}"
    output: "out/{name}.txt"
    params: note=config["note"], further=config["further"]
    resources: mem_mb=500, runtime=5
    shell: "(cat -- {input:q}; printf '\\n%s' {params.note:q} {params.further:q} \\"$NOTE\\") > {output:q}"
# a wildcard cannot contain a line break
rule odd:
    input: NAMES
    output: "odd"
    shell: "touch odd"
# of a group, Snakemake starts processes on the node
rule grouped:
    input: "{name}"
    output: "group/{name}.txt"
    group: "together"
    resources: mem_mb=1000, runtime=5
    run:
        open(output[0], "w").write(open(input[0]).read())
"""


@dataclass
class Named:
    """A folder with a small workflow and the names of its files."""

    cluster: Cluster
    folder: Path
    profile: Path

    def make(self, names):
        """Create the folder, and for each name a file that contains the name."""
        self.folder.mkdir()
        for name in names:
            (self.folder / name).write_text(name)
        (self.folder / "names.json").write_text(json.dumps(names))
        (self.folder / "it's $(touch pwned).smk").write_text(SNAKEFILE)
        (self.folder / "config 's $(touch pwned).json").write_text(json.dumps({"further": NOTE}))

    def run(self, *arguments):
        options = ["--snakefile", "it's $(touch pwned).smk", *arguments]
        options += ["--profile", str(self.profile), *FAST, "--group-components", "together=4"]
        options += ["--configfile", "config 's $(touch pwned).json", "--config", f"note={NOTE}"]
        return self.cluster.snakemake(self.folder, *options, NOTE=NOTE)


@pytest.fixture
def named(cluster, root, tmp_path):
    yield Named(cluster, tmp_path / FOLDERS[cluster.key], root / "profiles" / cluster.key)
    cluster.clear()


def test_names_of_files(named, tmp_path):
    """One array of jobs with such names: each gets its own file, and no name is executed."""
    named.make(NAMES)
    done = named.run()
    assert not list(tmp_path.rglob("pwned"))
    assert done.returncode == 0, done.stdout[-5000:]
    assert f": {len(NAMES)} tasks" in done.stdout
    for name in NAMES:
        assert (named.folder / "out" / f"{name}.txt").read_text() == f"{name}\n{NOTE}\n{NOTE}\n{NOTE}"
    for name in NAMES[:4]:
        assert (named.folder / "group" / f"{name}.txt").read_text() == name
    # the scheduler's output is stored, too
    assert not [path for path in (named.folder / ".snakemake/arrays").iterdir() if path.is_dir()]


@pytest.mark.parametrize(
    ("name", "why"),
    [("line\nbreak", "without line breaks"), ("a,b", "a comma"), ("end'", "quotation mark")],
    ids=["line", "comma", "quotation"],
)
def test_names_that_cannot_be_passed(named, tmp_path, name, why):
    """The error is one line, and nothing is submitted."""
    named.make(["plain", name])
    done = named.run(*(["odd"] if "\n" in name else []))
    assert done.returncode == 1
    lines = [line for line in done.stdout.splitlines() if why in line]
    assert len(lines) == 1, done.stdout
    assert repr(name)[1:-1] in lines[0] or name in lines[0]
    assert not re.search(r"array \d", done.stdout)
    assert not (named.folder / "out").exists() or not list((named.folder / "out").iterdir())


@pytest.mark.parametrize(
    "name", ["line\nbreak", "x$HOME", "back\\slash"], ids=["line", "variable", "backslash"]
)
def test_folders_that_cannot_be(named, tmp_path, name):
    """Only a scheduler that cannot start jobs in a folder rejects it, in one line."""
    named.folder = tmp_path / name
    named.make(["plain"])
    done = named.run("out/plain.txt")
    refused = name.startswith("line") or (name == "x$HOME") == (named.cluster.key == "sge")
    assert (done.returncode == 1) == refused, done.stdout
    assert len(re.findall("rename the folder", done.stdout)) == refused
    assert (named.folder / "out/plain.txt").exists() != refused
