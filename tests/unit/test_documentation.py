"""Documentation that must agree with the code: formats, the command line, the site, the workflow catalog."""

import dataclasses
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
from itertools import product

import pytest
import yaml

from itersel.align import sampler
from itersel.bleu.names import SENTENCE_BLEUS
from itersel.cli.main import COMMANDS, make_parser
from itersel.code.digests import PACKAGE
from itersel.config.learners import LEARNERS, Online
from itersel.config.learning_steps import TuneSettings
from itersel.config.mixing import ALGORITHMS, MIXINGS
from itersel.config.numbered import REGULARIZATIONS
from itersel.config.search import ForestSettings, KBestSettings
from itersel.config.settings import read_settings
from itersel.config.tasks import TASKS
from itersel.config.tuners import ALL_TUNERS, TUNERS
from itersel.config.values import Experiment
from itersel.evaluate import counts
from itersel.grammar import grammar_format, index
from itersel.lists import files as lists
from itersel.lists.table import ListTable
from itersel.lm import binary
from itersel.rerank import lexicon
from itersel.select import selection
from itersel.storage.files import write_lines
from itersel.system import reranker_bundle, trained_translator
from itersel.tune import forest_files
from itersel.tune.problem import ListProblem
from itersel.vectors import shard_weights, weights

# By heading in docs/formats.md: the module with the format of the table of arrays.
MODULES = {
    "Sentences with grammars": grammar_format,
    "Weights": weights,
    "Lists": lists,
    "Forests": forest_files,
}
MODULES |= {"Language models": binary, "Grammar index": index, "Score counts": counts}
MODULES |= {"Alignment models": sampler, "Lexicons": lexicon}

# The settings in experiments/against-cdec.sh.
KINDS = {"step kbest": KBestSettings, "step forest": ForestSettings, "step tune": TuneSettings}


def sections_of(page, heading="## "):
    """Return the sections of a page by title."""
    parts = re.split(rf"^{heading}(.*)\n", page, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture(scope="module")
def formats_page(root):
    return sections_of((root / "docs/formats.md").read_text())


def tables(text):
    """Yield the tables of arrays: rows of name, type, shape."""
    for table in re.findall(r"^\| array \|.*\n\| ---.*\n((?:\|.*\n)+)", text, flags=re.M):
        yield [[cell.strip(" `") for cell in row.split("|")[1:4]] for row in table.splitlines()]


@pytest.mark.parametrize("heading", MODULES)
def test_formats_are_those_declared(formats_page, heading):
    declared = [MODULES[heading].FORMAT.arrays]
    if heading == "Weights":
        declared.append(shard_weights.STATE.arrays)
    assert list(tables(formats_page[heading])) == [
        [[name, one.dtype.lstrip("|"), ", ".join(map(str, one.shape))] for name, one in arrays.items()]
        for arrays in declared
    ]


def test_formats_of_matrices_and_bundles(formats_page):
    """The table of the matrix has no shapes, that of the bundle only parts of names."""
    (rows,) = tables(formats_page["Matrix"])
    assert {name: dtype for name, dtype, _ in rows} == {
        name: array.dtype.lstrip("|") for name, array in selection.DATASETS.items()
    }
    kinds = re.findall(r"^\| arrays \|.*\n\| ---.*\n((?:\|.*\n)+)", formats_page["Bundles"], flags=re.M)
    for table, module in zip(kinds, (trained_translator, reranker_bundle), strict=True):
        cells = re.findall(r"^\| (`.*?) \|", table, flags=re.M)
        rows = re.findall(r"`(\w+)", " ".join(cells))
        assert set(rows) == {name.split("/")[0] for name in module.FORMAT.arrays}


def test_every_format_is_on_the_page():
    """A new format needs a table."""
    names = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^\w+ = FileFormat\(", path.read_text(), flags=re.M)
    }
    others = (selection, trained_translator, reranker_bundle)
    assert names == {module.__name__ for module in (*MODULES.values(), *others)}


@pytest.mark.parametrize("name", [*LEARNERS, *TUNERS])
def test_every_learner_is_on_one_page(root, name):
    """With its formula (which is indented), source, keys, cost, and when to use it."""
    sections = sections_of((root / "docs/learning.md").read_text(), "##+ ")
    found = [text for title, text in sections.items() if f"`{name}`" in title]
    assert len(found) == 1, f"docs/learning.md needs a section with `{name}` in its title"
    [section] = found
    assert "\nSource: " in f"\n{section}"
    assert "\nCost: " in section
    assert re.search(r"\b(use|try) (it|them)\b", section, re.I)
    assert re.search(r"^    .*|loss", section, re.M)
    kind = {**LEARNERS, **TUNERS}[name]
    shared = {field.name for field in dataclasses.fields(Online)} if name in LEARNERS else set()
    own = {field.name for field in dataclasses.fields(kind)} - shared
    [keys] = re.findall(r"^Keys: (.*(?:\n.+)*)", section, re.M)
    assert set(re.findall("`(\\w+)`", keys)) == own
    assert all(f"`{key}" in sections["Shared by all learners"] for key in shared)


def test_lists_of_what_an_experiment_combines_are_complete(root):
    """Those at the top of the page, and the losses that path following measures."""
    page = (root / "docs/learning.md").read_text()
    top = page.partition("\n## ")[0]
    lists = dict(re.findall(r"^- The `(\w+)` (.*(?:\n  .*)*)", top, re.M))
    names = {key: set(re.findall(r"`([\w-]+)`", text)) for key, text in lists.items()}
    assert names == {"learner": {*LEARNERS.built_in, *TUNERS.built_in}, "mixing": {*MIXINGS}}
    algorithms = top.partition("`algorithm: ")[2]
    assert dict(re.findall(r"([\w-]+)`\s\(`([\w-]+)`", algorithms)) == ALGORITHMS

    sections = sections_of(page, "##+ ")
    tasks = page.partition("\n## Tasks\n")[2].partition("\n## ")[0]
    assert [name for name in TASKS if not re.search(rf"`{name}`|\bname: {name}\b", tasks)] == []
    losses = sections["`path-following`"].partition("loss(v) is the sum")[2].partition("The path ends")[0]
    assert set(re.findall(r"`([\w-]+)`", losses)) == {*LEARNERS.built_in}


def test_every_key_of_an_experiment_is_on_a_page(root):
    """On one that says what the key is for, besides the table of all keys, which is generated."""
    kinds = [Experiment, *(table[name] for table in (TASKS, MIXINGS, LEARNERS, ALL_TUNERS) for name in table)]
    keys = {field.name for kind in kinds for field in dataclasses.fields(kind)}
    pages = " ".join(page.read_text() for page in root.glob("docs/*.md") if page.name != "config.md")
    assert len(keys) > 40
    assert [key for key in sorted(keys) if not re.search(rf"[`{{ .]{key}[`:]", pages)] == []


def test_every_sentence_bleu_and_regulariser_is_explained(root):
    section = sections_of((root / "docs/learning.md").read_text(), "##+ ")["Shared by all learners"]
    table = section.partition("| `sentence_bleu` |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.M) == list(SENTENCE_BLEUS)
    assert {name for name in REGULARIZATIONS if f"`{name}`" not in section} <= {"none"}


def test_pages_and_rules_are_listed(root):
    readme, workflow = (root / "README.md").read_text(), (root / "docs/workflow.md").read_text()
    assert [page.name for page in root.glob("docs/*.md") if f"- [docs/{page.name}]" not in readme] == []
    assert [file.name for file in root.glob("workflow/rules/*.smk") if f"`{file.name}`" not in workflow] == []


@pytest.fixture(scope="module")
def site(root):
    """Return what the modules of docs/site that work without MkDocs define."""
    return {name: runpy.run_path(str(root / f"docs/site/{name}.py")) for name in ("commands", "links")}


def test_command_reference_has_every_option(site):
    sections = sections_of(site["commands"]["command_reference"](), "## itersel ")
    assert list(sections) == list(COMMANDS)
    parser = make_parser(is_full=True)
    (commands,) = (action for action in parser._actions if action.nargs == "A...")
    for name, command in commands.choices.items():
        waiting = [command]
        while waiting:
            for action in waiting.pop()._actions:
                shown = [*action.option_strings, f"`{action.metavar or action.dest}"][0]
                if action.nargs == "A...":
                    waiting += action.choices.values()
                elif action.dest != "help":
                    assert shown in sections[name], (name, shown)
    assert "### --tuner pro" in sections["tune"]
    assert "### itersel step mix" in sections["step"]
    assert "### itersel grammar extract" in sections["grammar"]


def settings_of_commands(parser, command="itersel"):
    """Yield the commands that have settings, with the class that declares them."""
    for action in parser._actions:
        if hasattr(action, "settings"):
            yield command, action.settings
        if action.nargs == "A...":
            for name, one in action.choices.items():
                yield from settings_of_commands(one, f"{command} {name}")


def test_each_step_is_listed_where_its_settings_are_declared():
    found = dict(settings_of_commands(make_parser(is_full=True)))
    for command, kind in found.items():
        declared = sys.modules[kind.__module__].__doc__
        assert re.findall(rf"(?m)^- ``{command}``: .*`{kind.__name__}`", declared), (
            f"list {command} at the top of {kind.__module__}"
        )
    listed = [
        command
        for module in {kind.__module__ for kind in found.values()}
        for command in re.findall("(?m)^- ``(.*?)``", sys.modules[module].__doc__)
    ]
    assert sorted(listed) == sorted(found)


def commands_in_blocks(page):
    """Return the commands of itersel in a page's blocks of code, which are indented or fenced."""
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", page, flags=re.M | re.S)
    blocks += re.findall(r"^ {4}(.*\n)", page, flags=re.M)
    lines = re.sub(r"\\\n\s*", " ", "".join(blocks)).splitlines()
    return re.findall(r"^(?:.*[|$] +)?(itersel .*)", "\n".join(lines), flags=re.M)


def usage_error(command, capsys):
    """Return what the parser says against a command; arguments of Snakemake are not its business."""
    words = shlex.split(command, comments=True)[1:]
    end = next((place for place, word in enumerate(words) if word in ("|", "<", ">")), len(words))
    if words[0] == "run":
        return ""
    try:
        make_parser(words[:end]).parse_args(words[:end])
    except SystemExit:
        return capsys.readouterr().err
    return ""


def test_comparison_with_cdec(root, tmp_path):
    """Its commands can be parsed; run with a command in place of itersel that only makes its output."""
    for side in ("source", "target"):
        write_lines(
            tmp_path / f"results/sentences/dev/1/text/0.{side}.gz", [f"{side} {i}" for i in range(600)]
        )
        for split in ("devtest", "test"):
            write_lines(tmp_path / f"results/corpus/{split}.{side}.gz", ["x"])
    (tmp_path / "itersel").write_text(
        '#!/bin/sh\nstep=$1\nprintf "%s\\t" "$@" >> log; echo >> log\n'
        'while [ $# -gt 1 ]; do [ "$1" != --output ] || : > "$2"; shift; done\n'
        '[ "$step" != bleu ] || printf "header\\nBLEU of %s\\n" "$1"\n'
    )
    (tmp_path / "itersel").chmod(0o755)
    script = [root / "experiments/against-cdec.sh", "results", "the output"]
    how = {"cwd": tmp_path, "env": {"PATH": f"{tmp_path}:/usr/bin:/bin"}}
    done = subprocess.run(script, capture_output=True, text=True, check=True, **how)
    assert done.stderr == ""
    assert len((tmp_path / "the output/tuned.source").read_text().splitlines()) == 500
    calls = [line.split("\t")[:-1] for line in (tmp_path / "log").read_text().splitlines()]
    for call in calls:
        options = make_parser(call).parse_args(call)
        if kind := KINDS.get(" ".join(call[:2])):
            read_settings(kind, options.settings)
    runs = ("kbest-mira", "mert", "mert-model-alone", "mert-partly-wrong", "forest-mert")
    scored = product(runs, range(1, 7), ("tuned", "devtest", "test"))
    lines = [f"BLEU of the output/{run}/{split}.{i}.txt" for run, i, split in scored]
    assert done.stdout.splitlines() == lines
    tuned = [call for call in calls if call[:2] == ["step", "tune"]]
    starts = [call[call.index("--start") + 1] for call in tuned if "--start" in call]
    assert len(tuned) == 30
    # the others begin with the weights that `itersel step kbest` has by default
    assert len(starts) == 27
    assert {"the output/model-alone", "the output/partly-wrong", "the output/mert/weights.5.h5"} <= {*starts}


def test_printed_commands_can_be_parsed(root, capsys):
    pages = [*root.glob("*.md"), *root.glob("docs/*.md"), root / "benchmarks/README.md"]
    in_blocks = {(page.name, command) for page in pages for command in commands_in_blocks(page.read_text())}
    # in running text they may be abbreviated
    texts = [(page.name, page.read_text().replace("\n", " ")) for page in pages]
    in_text = {(name, command) for name, text in texts for command in re.findall("`(itersel [^`]*)`", text)}
    assert len(in_blocks) > 20
    assert len(in_text) > 50
    assert [(page, command) for page, command in sorted(in_blocks) if usage_error(command, capsys)] == []
    incomplete = ("the following arguments are required", "expected one argument", "expected at least one")
    for page, command in sorted(in_text):
        error = usage_error(command, capsys)
        assert not error or any(text in error for text in incomplete), (page, command, error)


def test_names_for_plugins_exist(root):
    """Attributes and modules that the page names in running text; the tests of plug-ins run its code."""
    text = re.sub(r"(?ms)^```.*?^```", "", (root / "docs/plugins.md").read_text())
    attributes = re.findall(r"`(table|problem)\.(\w+)", text)
    modules = re.findall(r"`(itersel\.[\w.]+)`", text)
    assert attributes
    assert modules

    kinds = {"table": ListTable, "problem": ListProblem}
    for name, attribute in attributes:
        kind = kinds[name]
        assert hasattr(kind, attribute) or attribute in getattr(kind, "__dataclass_fields__", {}), attribute
    for module in modules:
        pkgutil.resolve_name(module)


def test_link_check(site, tmp_path):
    (tmp_path / "other.html").write_text('<h1 id="there">x</h1>')
    for body, fault in (
        ('<a href="other.html#there">x</a> <a href="https://a.example/">x</a> <a href="#here">x</a>', None),
        ('<a href="missing.html">x</a>', "links to missing.html, but there is no such file"),
        ('<a href="other.html#nowhere">x</a>', "links to other.html#nowhere, but there is no such place"),
        ('<img src="picture.png">', "links to picture.png, but there is no such file"),
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', "loads //fonts.example/x.css"),
    ):
        (tmp_path / "index.html").write_text(f'<h1 id="here">x</h1>{body}')
        faults = site["links"]["find_faults"](tmp_path)
        assert len(faults) == (fault is not None)
        assert all(found.startswith(f"index.html: {fault}") for found in faults)


def test_workflow_catalog(root):
    """The keys that the catalog reads."""
    catalog = yaml.safe_load((root / ".snakemake-workflow-catalog.yml").read_text())
    assert set(catalog) == {"usage"}
    usage, deployment = catalog["usage"], catalog["usage"]["software-stack-deployment"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    assert set(deployment) == {"conda", "apptainer", "apptainer+conda"}
    rules = "".join(path.read_text() for path in (root / "workflow/rules").glob("*.smk"))
    assert (deployment["conda"], usage["report"]) == ("conda:" in rules, "report(" in rules)
