"""The profiles: found as typed, and with memory and time for every rule."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
import yaml

PROFILES = ["slurm", "sge", "slurm-single"]
RULE = r"^ *(?:use rule \w+ as|rule) (\w+)(?: with)?:$"


def rules(root):
    """Return the rules that run as jobs."""
    found = set()
    for path in sorted((root / "workflow/rules").glob("*.smk")):
        blocks = re.split(RULE, path.read_text(), flags=re.MULTILINE)[1:]
        pairs = zip(blocks[::2], blocks[1::2], strict=True)
        found |= {name for name, text in pairs if "localrule: True" not in text}
    return found


@pytest.mark.parametrize("name", PROFILES)
def test_every_rule_has_memory_and_time(root, name):
    profile = yaml.safe_load((root / "profiles" / name / "config.yaml").read_text())
    resources = profile["set-resources"]
    assert set(resources) == rules(root)
    for sizes in resources.values():
        assert {"mem_mb", "runtime"} <= set(sizes)


def test_profiles_agree(root):
    """Of memory and time; those without the executor of the project scale them by themselves."""
    slurm, sge, single = (
        yaml.safe_load((root / "profiles" / name / "config.yaml").read_text())["set-resources"]
        for name in PROFILES
    )
    assert slurm == sge
    for rule, sizes in slurm.items():
        assert single[rule] == {name: f"{size} * attempt" for name, size in sizes.items()}


@pytest.mark.parametrize("name", ["slurm", "sge"])
def test_profile_is_found_as_typed(make_project, root, tmp_path, name):
    """By the links that `make` sets, whatever profile of the same name the user has."""
    project = make_project()
    for path in ("Snakefile", "workflow", "profiles", "envs"):
        (project.folder / path).symlink_to(root / path)
    recipe = re.search(r"^\t@for name in slurm.*$", (root / "Makefile").read_text(), re.MULTILINE).group()
    own = tmp_path / "snakemake" / name
    own.mkdir(parents=True)
    (own / "config.yaml").write_text("executor: no-such-executor\n")
    subprocess.run(
        ["sh", "-c", recipe.strip().lstrip("@").replace("$$", "$")], cwd=project.folder, check=True
    )
    assert (project.folder / name).resolve() == root / "profiles" / name
    command = [sys.executable, "-m", "snakemake", "-n", "--quiet", "rules", "--profile", name]
    done = subprocess.run(
        [*command, "--configfile", "config.yaml"],
        cwd=project.folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "train_shard" in done.stdout + done.stderr
    assert (own / "config.yaml").exists()


def test_links_leave_alone_what_is_there(root, tmp_path):
    recipe = re.search(r"^\t@for name in slurm.*$", (root / "Makefile").read_text(), re.MULTILINE).group()
    shutil.copytree(root / "profiles", tmp_path / "profiles")
    (tmp_path / "slurm").mkdir()
    for _ in range(2):
        subprocess.run(["sh", "-c", recipe.strip().lstrip("@").replace("$$", "$")], cwd=tmp_path, check=True)
    assert not (tmp_path / "slurm").is_symlink()
    assert (tmp_path / "sge").is_symlink()
