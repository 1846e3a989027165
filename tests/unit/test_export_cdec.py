"""The exported folder for cdec: read back, it gives the same translations as the system."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import pytest
from tests.systems import WEIGHTS, make_system, raw_text

from itersel.cli.main import main
from itersel.vectors.weights import read_weights

CONFIG = """\
formalism=scfg
add_pass_through_rules=true
scfg_max_span_limit=15
intersection_strategy=cube_pruning
cubepruning_pop_limit=30
feature_function=WordPenalty
feature_function=KLanguageModel lm.arpa
feature_function=RuleIdentityFeatures
feature_function=RuleSourceBigramFeatures
feature_function=RuleTargetBigramFeatures
feature_function=RuleShape
weights=weights.txt
input=input.sgm
"""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "raw"
    path.write_text("".join(line + "\n" for line in [*raw_text(12), ""]))
    return path


def export(system: Path, text: Path, output: Path, *options: str, status: int = 0) -> None:
    arguments = ["--system", str(system), "--input", str(text), "--output", str(output), *options]
    assert main(["export", "cdec", *arguments]) == status


def test_files(system, text, tmp_path):
    folder = tmp_path / "for cdec"
    export(system, text, folder)
    assert sorted(os.listdir(folder)) == ["cdec.ini", "grammars", "input.sgm", "lm.arpa", "weights.txt"]
    assert (folder / "cdec.ini").read_text() == CONFIG
    assert read_weights(folder / "weights.txt").to_dict() == WEIGHTS
    arpa = gzip.decompress((system.parents[2] / "lm.arpa.gz").read_bytes())
    assert (folder / "lm.arpa").read_bytes() == arpa
    lines = (folder / "input.sgm").read_text().splitlines()
    assert len(lines) == 13
    assert lines[-1] == '<seg grammar="grammars/grammar.12.gz" id="12">  </seg>'
    assert sorted(os.listdir(folder / "grammars")) == sorted(f"grammar.{i}.gz" for i in range(13))


def test_round_trip_gives_the_same_translations(system, text, tmp_path, monkeypatch):
    """`itersel grammar import` reads the same files as cdec and computes the same features."""
    export(system, text, tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")  # the paths of grammars are relative, as for cdec
    data = ["--shard", "x.h5", "--model", "lm.bin", "--weights", "weights.txt"]
    for step in (
        ["grammar", "import", "--input", "input.sgm", "--output", "x.h5"],
        ["lm", "compile", "--input", "lm.arpa", "--output", "lm.bin"],
        ["decode", *data, "--pop-limit", "30", "--output", "translations"],
        ["translate", "--system", str(system), "--input", str(text), "--keep-tokens", "--output", "expected"],
    ):
        assert main(step) == 0
    assert Path("translations").read_text() == Path("expected").read_text()
    assert "ship" in Path("expected").read_text()


def test_dense_systems_and_other_templates(tmp_path, text):
    for features, templates, functions, listed in (
        ("dense", ("R", "Lex"), [], False),
        ("all", ("Lex", "RBT"), ["RuleTargetBigramFeatures"], True),
    ):
        run = tmp_path / features
        export(make_system(run, features, templates), text, run / "out")
        config = (run / "out/cdec.ini").read_text().splitlines()
        found = [line.removeprefix("feature_function=") for line in config if "feature_function" in line]
        assert found == ["WordPenalty", "KLanguageModel lm.arpa", *functions]
        grammar = gzip.decompress((run / "out/grammars/grammar.0.gz").read_bytes()).decode()
        assert ("Lex:" in grammar) == listed
        assert "RBT:" not in grammar


def test_missing_arpa_file(system, text, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(system.parents[2], run)
    folder, bundle, out = run / system.relative_to(system.parents[2]), tmp_path / "x.bundle", tmp_path / "out"
    assert main(["bundle", str(folder), str(bundle)]) == 0
    (run / "lm.arpa.gz").rename(tmp_path / "mine.gz")
    export(folder, text, out, status=1)
    assert capsys.readouterr().err == (
        f"itersel export: {folder}: has no ARPA file beside its language model {run}/lm.bin; name the ARPA "
        "file that it was made from with --arpa\n"
    )
    export(bundle, text, out, status=1)
    assert "holds the language model in compiled form only; name the ARPA file" in capsys.readouterr().err
    content = gzip.decompress((tmp_path / "mine.gz").read_bytes())
    (tmp_path / "other").write_bytes(content + b"\n")
    export(bundle, text, out, "--arpa", str(tmp_path / "other"), status=1)
    assert "other: is not the ARPA file that the language model of the system" in capsys.readouterr().err
    assert not out.exists()
    out.mkdir()
    export(bundle, text, out, "--arpa", str(tmp_path / "mine.gz"))
    assert (out / "lm.arpa").read_bytes() == content


def test_a_failed_export_leaves_nothing_behind(system, tmp_path, capsys):
    text, out = tmp_path / "raw", tmp_path / "out"
    text.write_text("Boot\nBoot |||\n")
    export(system, text, out, status=1)
    assert capsys.readouterr().err.startswith(f"itersel export: {text}:2: '|||' separates")
    assert os.listdir(tmp_path) == ["raw"]
    out.mkdir()
    (out / "mine").touch()
    text.write_text("Boot\n")
    export(system, text, out, status=1)
    expected = f"itersel export: {out}: exists, and is not an empty folder; name another one\n"
    assert capsys.readouterr().err == expected
    assert os.listdir(out) == ["mine"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("das a</seg>b haus", ":2: '</seg>' ends a sentence for cdec; remove it"),
        ("((('x',1,1),),) haus", ":2: '((('' begins a lattice for cdec; remove it"),
        ("das [wort] haus", ": '[wort]' in a rule of this text would be a nonterminal of cdec"),
    ],
)
def test_words_with_a_special_meaning_in_cdec(system, tmp_path, capsys, line, message):
    """In tokenised text, since the tokeniser would split them."""
    run = shutil.copytree(system.parents[2], tmp_path / "run")
    preparation = run / "preparation.json"
    preparation.write_text(preparation.read_text().replace('"tokenized": false', '"tokenized": true'))
    (tmp_path / "raw").write_text(f"haus\n{line}\n")
    export(run / system.relative_to(system.parents[2]), tmp_path / "raw", tmp_path / "out", status=1)
    assert capsys.readouterr().err == f"itersel export: {tmp_path}/raw{message}\n"
