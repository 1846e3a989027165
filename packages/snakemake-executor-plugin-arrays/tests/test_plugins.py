"""Snakemake on a node has the same plugins as elsewhere, except those that write reports."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

# Reads the command line as Snakemake does, and prints the plugins of each kind and the imported modules.
CODE = """
import json, sys
from snakemake.cli import get_argument_parser
from snakemake_executor_plugin_arrays import plugins
if sys.argv[1:] == ["node"]:
    plugins.install()
get_argument_parser()
kinds = plugins.PluginRegistryBase.__subclasses__()
print(json.dumps([{kind.__name__: list(kind().plugins) for kind in kinds}, list(sys.modules)]))
"""


def loaded(*arguments: str) -> tuple[dict[str, list[str]], list[str]]:
    done = subprocess.run([sys.executable, "-c", CODE, *arguments], capture_output=True, check=True)
    kinds, modules = json.loads(done.stdout)
    return kinds, modules


def test_plugins_of_a_node():
    elsewhere, _ = loaded()
    here, modules = loaded("node")
    assert elsewhere.pop("ReportPluginRegistry")
    assert here.pop("ReportPluginRegistry") == []
    assert "arrays" in here["ExecutorPluginRegistry"]
    assert here == elsewhere
    assert "snakemake.report" not in modules


def test_a_profile_names_reports(tmp_path):
    """Jobs read such a profile, too."""
    (tmp_path / "Snakefile").write_text('rule all:\n    output: "all"\n    shell: "touch {output}"\n')
    profile = tmp_path / "profiles/default/config.yaml"
    profile.parent.mkdir(parents=True)
    profile.write_text("report-after-run: true\nreport: report.html\nreport-html-path: other.html\n")
    command = [sys.executable, "-m", "snakemake_executor_plugin_arrays.node", "--dry-run", "--cores", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
