"""The modules used by a step, which determine what the workflow reruns after an edit."""

import re
import shutil
from importlib.util import find_spec

import pytest
from tests.limited import limited

from itersel.code import digests
from itersel.code.digests import WITHOUT_INFLUENCE, step_digest, used_modules
from itersel.report.costs import OF_EXPERIMENTS


@pytest.mark.parametrize(
    ("command", "used", "unused"),
    [
        ("train", {"vectors.weights", "decode.search_kernels"}, {"decode.output", "grammar.text_format"}),
        ("step mix", {"vectors.weights"}, {"decode.output"}),
        ("decode", {"decode.search_kernels", "decode.output"}, {"grammar.extract", "config.data"}),
        ("step divide", {"corpus.dividing"}, {"config.data", "config.tasks"}),
        ("step forest", {"cli.decode", "tune.generate_forests"}, {"learn.train"}),
        (
            "step tune",
            {"tune.sums", "tune.forest_line_search"},
            {"tune.generate_lists", "tune.generate_forests"},
        ),
        ("corpus prepare", {"corpus.labels", "corpus.prepare"}, {"corpus.fetch", "lm.arpa"}),
        ("align", {"corpus.text", "align.sampler"}, {"corpus.pipeline"}),
        ("lm estimate", {"lm.estimate", "lm.binary"}, {"align.sampler"}),
        ("lm compile", {"lm.binary"}, {"lm.estimate", "vectors.weights"}),
        ("grammar index", {"grammar.lexical_kernels"}, {"grammar.text_format", "grammar.extract"}),
        ("grammar extract", {"grammar.sentence_grammars"},
         {"vectors.weights", "decode.search_kernels", "grammar.text_format"}),
        ("step resources", {"system.resources"}, {"evaluate.metrics", "grammar.extract"}),
        ("step first-entries", {"lists.rescoring"}, {"rerank.features", "system.reranker", "corpus.prepare"}),
        ("step reranker", {"system.resources", "storage.declared"}, {"rerank.features", "grammar.extract"}),
        ("step choose", {"evaluate.metrics", "vectors.weights"}, {"report.table", "report.tasks"}),
        ("step scale", {"evaluate.metrics", "decode.search_kernels", "rerank.mbr_kernels"}, {"learn.train"}),
        ("step table", {"report.comparison", "report.table"}, {"report.tasks", "config.values"}),
        ("step tasks", {"report.tasks", "corpus.labels"}, {"report.table", "vectors.weights"}),
        ("step join", {"corpus.labels"}, {"report.tasks", "evaluate.metrics"}),
    ],
)  # fmt: skip
def test_modules(command, used, unused):
    modules = {name.removeprefix("itersel.") for name in used_modules(command)}
    assert used <= modules
    assert not unused & modules
    assert all(find_spec(f"itersel.{name}") for name in unused), "renamed or deleted"
    # what only passes options on does not count
    assert not modules & {"keys", "config.command_line", "cli.main", "run.progress"}
    assert not {f"itersel.{name}" for name in modules} & WITHOUT_INFLUENCE


# The modules of `itersel.cli` that run commands, whichever they are.
OF_MAIN = ("commands", "completion", "main", "parser", "signals", "warm_up")


def test_all_modules_loaded_by_a_run_are_included(tmp_path):
    """All modules that Python has loaded at the end of a step, except packages, are in the closure."""
    (tmp_path / "text").write_text("a b\nb c\n" * 9)
    code = """
import sys
from itersel.cli.main import main
assert main(["step", "divide", "--source", "text", "--target", "text", "--output", "out"]) == 0
assert main(["lm", "estimate", "--order", "2", "--input", "text", "--output", "arpa"]) == 0
files = {name: module.__file__ for name, module in sys.modules.items() if name.startswith("itersel.")}
print("\\n".join(name for name, path in files.items() if not path.endswith("__init__.py")))
"""
    loaded = set(limited(program=["-c", code], cwd=tmp_path).stdout.split())
    found = {*used_modules("step divide"), *used_modules("lm estimate")}
    of_main = {f"itersel.cli.{name}" for name in OF_MAIN}
    # what declares the keys about text uses these; others read and write settings (`train`, which also writes
    # them into its output, depends on `plain`, and so on `field_types`)
    names = ("corpora", "debian", "languages", "alignments")
    of_text = {"itersel.align.symmetrize", *(f"itersel.corpus.{name}" for name in names)}
    of_config = {*of_text, *(f"itersel.config.{name}" for name in ("sections", "plain"))}
    of_config.add("itersel.code.field_types")
    assert {"itersel.config.plain", "itersel.code.field_types"} <= {*used_modules("train")}
    assert loaded - found - WITHOUT_INFLUENCE == of_main | of_config


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Return a copy of the package whose code is digested instead."""

    def forget():
        for cached in (digests._imports_of, digests._exists, digests._table, step_digest):
            cached.cache_clear()

    shutil.copytree(digests.PACKAGE, tmp_path / "itersel", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(digests, "PACKAGE", tmp_path / "itersel")
    forget()
    yield tmp_path / "itersel"
    forget()


@pytest.mark.parametrize(
    ("module", "using"),
    [
        ("learn/learners/mira", {"train"}),
        ("tune/tuners/pro", {"tune", "step tune"}),
        ("config/learners", {"train"}),
        ("config/tuners", {"tune", "step tune"}),
        ("grammar/templates/lex_kernels", {"train", "grammar extract"}),
    ],
)
def test_edits_of_learners_tuners_and_templates(copied, module, using):
    """One of them, or what all learners or tuners share, counts for the steps that use it, and no other."""
    steps = {"train", "tune", "step tune", "grammar extract", "step mix"}
    before = {one: step_digest(one) for one in steps}
    with (copied / f"{module}.py").open("a") as stream:
        stream.write("# edited\n")
    step_digest.cache_clear()
    assert {one for one in steps if step_digest(one) != before[one]} == using


def test_unknown_function():
    with pytest.raises(LookupError, match="_nothing"):
        step_digest("train nothing")


def test_rules_name_their_steps(root):
    """`code` in `params` is the digest of the command in `shell`."""
    steps = 0
    for path in sorted((root / "workflow/rules").glob("*.smk")):
        for rule in re.split(r"(?m)^\s*rule[ :]", path.read_text())[1:]:
            command = re.search(r"itersel ([a-z]+(?: [a-z]+(?:-[a-z]+)*)?)", rule)
            if "itersel step {params.step}" in rule:
                assert 'step_digest(f"step {PLAN.tuning.step(wildcards)}")' in rule
                continue
            if command is None:
                continue
            steps += 1
            named = re.search(r'code=step_digest\("([\w -]+)"\)', rule)[1]
            assert command[1] == named, rule
            used_modules(named)
    assert steps > 25


def test_costs_of_experiments_name_their_steps(root):
    """Only these steps have a folder of benchmark files per experiment."""
    rules = "".join(path.read_text() for path in (root / "workflow/rules").glob("*.smk"))
    assert {*re.findall(r"\{BENCHMARKS\}/(\w+)/\{\{experiment\}\}", rules)} == {*OF_EXPERIMENTS}


# Inputs that a command need not name: a level to wait for, and files that a folder or the settings name.
UNNAMED = {
    "prepare_train": {"corpora"},
    "train_shard": {"level"},
    "write_tuning_files": {"level"},
    "extract_grammars": {"text"},
    "compare_systems": {"references", "systems", "translations", "counts", "outputs", "scores"},
    "join_tasks": {"translations"},
    "compare_tasks": {"translations"},
    "write_page": {"table", "corpus", "selections", "derivations"},
    "explain_translations": {"table", "pieces"},
    "describe_corpus": {"rules"},
    # folders of thousands of files are named in `params`
    "divide_lists": {"lists"},
    "check_patience": {"lists"},
    "choose_epoch": {"lists"},
    "choose_scale": {"pieces", "lists"},
}


def test_commands_name_the_inputs_of_their_rules(root):
    """A job with `--start` or `--decision` left out would run, and give other results."""
    rules = 0
    for path in sorted((root / "workflow/rules").glob("*.smk")):
        for rule in re.split(r"(?m)^(?:use )?rule ", path.read_text())[1:]:
            inputs = re.search(r"(?m)^    input:\n((?: {8}.*\n)+)", rule)
            if inputs is None or "    shell:" not in rule:
                continue
            name, shell = re.split(r"\W", rule, maxsplit=1)[0], rule.partition("    shell:")[2]
            named = set(re.findall(r"(?m)^ {8}(\w+)=", inputs[1]))
            if "passed_" in inputs[1]:
                named |= {"decision", "passed_on"}
            lacking = {one for one in named if f"{{input.{one}" not in shell}
            assert lacking == UNNAMED.get(name, set()), f"{name}: name them in its command, or in UNNAMED"
            rules += 1
    assert rules > 20
