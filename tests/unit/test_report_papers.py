"""Tables for papers, in LaTeX and Markdown."""

import copy
import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from tests.made_up_run import MadeUpRun

from itersel.cli.main import main
from itersel.errors import InputError
from itersel.evaluate.names import TABULATED
from itersel.evaluate.significance import Interval
from itersel.report.columns import COLUMNS
from itersel.report.papers import latex, markdown, paper_views

COMPILER = shutil.which("pdflatex") or ""
NAMES = ["<script>window.hacked = 1", "a|b_c%d$"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return MadeUpRun(tmp_path_factory.mktemp("run") / "made-up", ["first", "second", "third"], repeats=3)


@pytest.fixture(scope="module")
def table(run):
    """A table with scores of text, by which the third system is the best, and better than the first."""
    found = copy.deepcopy(run.table)
    (test_set,) = found.test_sets
    test_set.signatures.update((metric, f"{metric}|x") for metric in TABULATED)
    for number, system in enumerate(test_set.systems):
        scored = {"mean": 50.0 + number, "deviation": None, "interval": Interval(49.1, 51.9), "p": {}}
        scored |= {"better_than": (1,) if number == 2 else ()}
        score = replace(system.scores["tokenized-bleu"], **scored)
        system.scores.update(dict.fromkeys(TABULATED, score))
    return found


def header(lines):
    """Return the titles of the first table in Markdown."""
    return [cell.strip() for cell in lines[0].strip("|").split("|")]


def test_tables_for_papers(run, tmp_path, capsys):
    table = str(run.folder / "report" / "table.json")
    outputs = [tmp_path / "t.tex", tmp_path / "t.md"]
    assert main(["report", "paper", "--table", table, "--output", *map(str, outputs)]) == 0
    text = outputs[0].read_text()
    assert "\\toprule" in text
    assert "sacrebleu nrefs:1|case:lc" in text
    for system in run.table.test_sets[0].systems:
        assert f"{system.scores['tokenized-bleu'].mean:.2f} $\\pm$" in text
    assert "| first" in outputs[1].read_text()
    given = ["--columns", "mixing,active_features", "--metrics", "Tokenized-BLEU"]
    assert main(["report", "paper", "--table", table, *given, "--output", str(outputs[1])]) == 0
    titles = ["system", "experiment", "mixing", "test tokenized BLEU", "active features"]
    assert header(outputs[1].read_text().splitlines()) == titles
    assert main(["report", "paper", "--table", table, "--output", "x.pdf"]) == 1
    assert "must end in .tex, .md" in capsys.readouterr().err


def test_tables_for_papers_escape_names(tmp_path):
    run = MadeUpRun(tmp_path / "run", NAMES, epochs=1)
    assert "a\\textbar{}b\\_c\\%d\\$" in "\n".join(latex(run.table))
    text = "\n".join(markdown(run.table))
    assert "<script" not in text
    assert "a\\|b\\_c%d$" in text


def test_columns_and_metrics(table):
    """By default the scores that `itersel compare` computes; settings come before scores."""
    first = ["system", "experiment"]
    assert header(markdown(table)) == [*first, "BLEU", "chrF++", "TER"]
    chosen = markdown(table, ["difference", "learner"], ["ter", "bleu"])
    assert header(chosen) == [*first, "learner", "TER", "BLEU", "difference"]
    assert {*COLUMNS.values()} <= {*header(markdown(table, [*COLUMNS]))}


def test_scores_that_were_not_computed(run):
    assert header(markdown(run.table)) == ["system", "experiment", "test tokenized BLEU"]
    with pytest.raises(InputError):
        markdown(run.table, metrics=["bleu"])


def test_pooled_tables_have_no_epochs(table):
    (test_set,) = table.test_sets
    systems = tuple(
        replace(system, devtest=None, repeats=tuple(replace(one, chosen=None) for one in system.repeats))
        for system in test_set.systems
    )
    pooled = replace(test_set, name="pooled", systems=systems)
    one, other = paper_views(replace(table, pooled=pooled), ["epoch", "mixing"])
    titles = [column.title for column in one.columns]
    assert [column.title for column in other.columns] == [title for title in titles if title != "epoch"]


def test_the_best_scores_are_bold(table):
    """Lower TER is better."""
    for lines, bold in ((latex(table), r"\\textbf\{(.*?)\}"), (markdown(table), r"\*\*(.*?)\*\*")):
        assert re.findall(bold, "\n".join(lines)) == ["50.00", "52.00", "52.00"]
    assert "**52.00**<sup>1</sup>" in "\n".join(markdown(table))


def test_notes_say_only_what_is_needed(run, table):
    for form in (latex, markdown):
        assert "Superscripts: " in "\n".join(form(table))
        text = "\n".join(form(run.table, ["difference"]))
        assert "Difference: tokenized BLEU, from system " in text
        assert "In brackets" not in text
        assert ("Superscripts" in text) == ("superscript{" in text or "<sup>" in text)


@pytest.mark.skipif(not COMPILER, reason="pdflatex is needed (Debian: texlive-latex-extra)")
def test_latex_compiles_and_fits(run, table, tmp_path):
    """Also with all columns, and characters that mean something to LaTeX; nothing is wider than the text."""
    names = MadeUpRun(tmp_path / "run", ["a|b_c%d$ & ~ # {x} ^ \\ <>", "a long name " * 9], epochs=1).table
    tables = [
        latex(table),
        latex(table, [*COLUMNS], ["tokenized-bleu", *TABULATED]),
        latex(names),
        latex(run.table),
    ]
    packages = "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}\\noindent"
    body = "\n\n\\noindent\n".join("\n".join(one) for one in tables)
    (tmp_path / "paper.tex").write_text(f"{packages}\n{body}\n\\end{{document}}\n")
    command = [COMPILER, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout
    assert (tmp_path / "paper.pdf").is_file()
