"""What the server of `preloaded` imports. It also computes digests, so tests that edit code must not fork."""

import importlib
import re

import snakemake.cli
import snakemake.report.html_reporter
from tests.conftest import ROOT

from itersel.code.digests import step_digest

snakemake.cli.get_argument_parser()
for path in sorted((ROOT / "workflow/rules").glob("*.smk")):
    text = path.read_text(encoding="utf-8")
    for module in re.findall(r"^(?:from|import) (itersel[\w.]*)", text, re.M):
        importlib.import_module(module)
    for command in re.findall(r'step_digest\("([\w -]+)"\)', text):
        step_digest(command)
