"""The profiles: found by name, with memory and time for every rule."""

import re
import shutil
import subprocess

import pytest
import yaml
from tests.limited import limited

PROFILES = ["slurm", "sge", "slurm-single"]


def make_links(root, folder):
    """Run the command of the Makefile that links the profiles into the folder."""
    recipe = re.search(r"^\t@for name in slurm.*$", (root / "Makefile").read_text(), re.MULTILINE).group()
    subprocess.run(["sh", "-c", recipe.strip().lstrip("@").replace("$$", "$")], cwd=folder, check=True)


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_do_not_repeat_sizes_of_rules(root, name):
    profile = yaml.safe_load((root / "profiles" / name / "config.yaml").read_text())
    assert {"mem_mb", "runtime"} <= set(profile["default-resources"])
    assert "set-resources" not in profile


@pytest.mark.parametrize("name", ["slurm", "sge"])
def test_every_job_has_memory_and_time(make_project, root, name):
    """Set by its rule, or by default in the profile."""
    output = make_project().run("--dry-run", "--profile", str(root / "profiles" / name))
    jobs = dict(re.findall(r"^rule (\w+):$.*?^    resources: (.*?)$", output, re.MULTILINE | re.DOTALL))
    assert len(jobs) > 10
    for resources in jobs.values():
        assert re.search(r"mem_mb=\d+", resources)
        assert re.search(r"runtime=\d+", resources)
    assert "mem_mb=2000" in jobs["extract_grammars"]
    assert "runtime=240" in jobs["train_shard"]


def test_profile_is_found_by_name(make_project, root, tmp_path):
    """Through the links that `make` creates, even if the user has a profile with the same name."""
    project, name = make_project(), "slurm"
    for path in ("Snakefile", "workflow", "profiles", "envs"):
        (project.folder / path).symlink_to(root / path)
    own = tmp_path / "snakemake" / name
    own.mkdir(parents=True)
    (own / "config.yaml").write_text("executor: no-such-executor\n")
    make_links(root, project.folder)
    assert (project.folder / name).resolve() == root / "profiles" / name
    words = ["-n", "--quiet", "rules", "--profile", name, "--configfile", "config.yaml"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = limited(*words, program=["-m", "snakemake"], cwd=project.folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "train_shard" in done.stdout + done.stderr
    assert (own / "config.yaml").exists()


def test_links_do_not_replace_existing_files(root, tmp_path):
    shutil.copytree(root / "profiles", tmp_path / "profiles")
    (tmp_path / "slurm").mkdir()
    for _ in range(2):
        make_links(root, tmp_path)
    assert not (tmp_path / "slurm").is_symlink()
    assert (tmp_path / "sge").is_symlink()
