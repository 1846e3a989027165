"""The modules used by a step, which determine what the workflow reruns after an edit."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from itersel.sources import WITHOUT_INFLUENCE, step_digest, used_modules


@pytest.mark.parametrize(
    ("step", "function", "used", "unused"),
    [
        ("train", "train", {"vectors.weights", "decode.search_kernels"}, {"grammar.extract"}),
        ("corpus", "_prepare", {"align.pharaoh", "corpus.compounds"}, {"corpus.fetch", "lm.arpa"}),
        ("align", "_align", {"corpus.text", "align.sampler"}, {"corpus.pipeline"}),
        ("lm", "_estimate", {"lm.estimate", "lm.binary"}, {"lm.score"}),
        ("lm", "_compile", {"lm.binary"}, {"lm.estimate"}),
        ("grammar", "_index", {"grammar.lexical_kernels"}, {"grammar.text", "grammar.extract"}),
        ("report", "_resources", {"grammar.extract"}, {"evaluate.bleu"}),
        ("report", "_choose", {"evaluate.bleu", "vectors.weights"}, {"grammar.extract", "report.tasks"}),
        ("report", "_table", {"report.comparison", "report.scores"}, {"report.tasks", "report.corpus"}),
        ("report", "_tasks", {"report.tasks", "report.labels"}, {"report.table", "vectors.weights"}),
        ("report", "_join", {"report.labels"}, {"report.tasks", "evaluate.bleu"}),
    ],
)  # fmt: skip
def test_modules(step, function, used, unused):
    modules = {name.removeprefix("itersel.") for name in used_modules(step, function)}
    assert f"cli.{step}" in modules
    assert used <= modules
    assert not unused & modules
    assert not {f"itersel.{name}" for name in modules} & WITHOUT_INFLUENCE


@pytest.mark.parametrize(
    ("module", "users", "others"),
    [
        ("vectors.weights", {"train train", "mix run"}, {"grammar _extract", "lm _compile"}),
        ("decode.search_kernels", {"train train", "decode run"}, {"grammar _extract", "grammar _index"}),
        ("decode.output", {"decode run"}, {"train train", "mix run"}),
        ("report.table", {"report _table"}, {"report _choose", "report _corpus"}),
        ("grammar.text", set(), {"grammar _extract", "grammar _index", "train train"}),
    ],
)
def test_steps_that_use_a_module(root, module, users, others):
    """Of the steps that rules name; what they use decides what reruns after an edit."""
    rules = "".join(path.read_text() for path in (root / "workflow/rules").glob("*.smk"))
    steps = set(re.findall(r'step_digest\("(\w+)", "(\w+)"\)', rules))
    found = {
        f"{step} {function}"
        for step, function in steps
        if f"itersel.{module}" in used_modules(step, function)
    }
    assert users | others <= {" ".join(step) for step in steps}
    assert users <= found
    assert not others & found


def test_all_modules_loaded_by_a_run_are_included(tmp_path):
    """All modules that Python has loaded at the end of a step, except packages, are in the closure."""
    (tmp_path / "text").write_text("a b\nb c\n" * 9)
    code = """
import sys
from itersel.cli.main import main
assert main(["shard", "--source", "text", "--target", "text", "--shards", "2", "--output", "out"]) == 0
assert main(["lm", "estimate", "--order", "2", "--input", "text", "--output", "arpa"]) == 0
files = {name: module.__file__ for name, module in sys.modules.items() if name.startswith("itersel.")}
print("\\n".join(name for name, path in files.items() if not path.endswith("__init__.py")))
"""
    command = [sys.executable, "-c", code]
    loaded = set(
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    )
    found = {*used_modules("shard", "_run"), *used_modules("lm", "_estimate")}
    assert loaded - found - WITHOUT_INFLUENCE == {
        "itersel.cli.completion",
        "itersel.cli.handover",
        "itersel.cli.linear_algebra",
        "itersel.cli.main",
        "itersel.cli.signals",
        "itersel.cli.warm_up",
        "itersel.code_check",
    }


def test_unknown_function():
    with pytest.raises(LookupError, match="there is no function _nothing"):
        step_digest("train", "_nothing")


def test_rules_name_their_steps(root):
    """`code` in `params` is the digest of the command in `shell`."""
    steps = 0
    for path in sorted((root / "workflow/rules").glob("*.smk")):
        for rule in re.split(r"(?m)^\s*rule[ :]", path.read_text())[1:]:
            command = re.search(r"itersel ([a-z]+) ([a-z-]+)", rule)
            if "itersel {params.command}" in rule:
                assert "step_digest(list_command(wildcards), " in rule
            if command is None:
                continue
            steps += 1
            module, function = re.search(r'code=step_digest\("(\w+)", "(\w+)"\)', rule).groups()
            assert module == command[1], rule
            used_modules(module, function)
            if function.startswith("_") and module not in ("align", "detokenize", "shard"):
                assert function == "_" + command[2].replace("-", "_"), rule
    assert steps == 28
