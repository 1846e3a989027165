"""The package as a whole: what it needs, and what its README says."""

import ast
import re
import sys
import tomllib
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
import yaml

from snakemake_executor_plugin_arrays import ExecutorSettings

PACKAGE = Path(__file__).resolve().parent.parent
README = (PACKAGE / "README.md").read_text()
PROJECT = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
SOURCES = sorted((PACKAGE / "src").rglob("*.py"))
# what Snakemake on a node is, and needs itself, is there
ALLOWED = {"snakemake", "snakemake_executor_plugin_arrays", "snakemake_interface_report_plugins", "psutil"}


def imported(path: Path) -> set[str]:
    """Return the top-level packages that a module imports, anywhere in it."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return {name.partition(".")[0] for name in names}


def test_nothing_is_imported_that_is_not_declared():
    declared = {re.match(r"[\w-]+", word).group().replace("-", "_") for word in PROJECT["dependencies"]}
    found = set().union(*map(imported, SOURCES))
    assert found - sys.stdlib_module_names - ALLOWED == declared


def test_readme_has_all_settings():
    rows = dict(re.findall(r"^\| `arrays-([a-z-]+)` \| ([^|]+?) \|", README, re.MULTILINE))
    settings = {field.name.replace("_", "-"): field for field in fields(ExecutorSettings)}
    assert list(rows) == list(settings)
    for name, default in rows.items():
        field = settings[name]
        assert field.default is not MISSING
        assert field.metadata["help"].endswith(".")
        if field.default not in (None, ""):
            assert default.strip("`") == str(field.default).lower().replace("tmpdir", "TMPDIR"), name


@pytest.mark.parametrize("scheduler", ["slurm", "sge"])
def test_profiles_of_the_readme(scheduler):
    blocks = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))
    [profile] = [found for found in blocks if found.get("arrays-scheduler") == scheduler]
    assert profile["executor"] == "arrays"
    settings = {field.name.replace("_", "-") for field in fields(ExecutorSettings)}
    assert {name.removeprefix("arrays-") for name in profile if name.startswith("arrays-")} <= settings


def test_changelog_has_the_version():
    assert f"## {PROJECT['version']}" in (PACKAGE / "CHANGELOG.md").read_text()
