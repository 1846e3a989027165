"""Bundles, a system in one self-contained file that is checked before use, and exported folders for cdec."""

import gzip
import os
import shutil
import sys
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from tests.damage import reseal_array, reseal_header
from tests.systems import WEIGHTS, make_system, raw_text, translate

from itersel.cli.main import main
from itersel.storage.arrayfile import MAGIC
from itersel.system.trained_translator import read_translator_bundle
from itersel.vectors.weights import read_itersel_weights

NO_BUNDLE = "'bundle'"


@pytest.fixture
def copied(system, tmp_path):
    """Return the folder of the system in a copy of its run, `tmp_path / "run"`."""
    run = shutil.copytree(system.parents[2], tmp_path / "run")
    return run / system.relative_to(system.parents[2])


@pytest.fixture(scope="module")
def made(system, tmp_path_factory):
    path = tmp_path_factory.mktemp("bundles") / "x.bundle"
    assert main(["bundle", str(system), str(path)]) == 0
    return path


@pytest.fixture
def bundle(made, tmp_path):
    return Path(shutil.copy(made, tmp_path / "x.bundle"))


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "raw"
    path.write_text("".join(line + "\n" for line in [*raw_text(12), ""]))
    return path


def test_a_bundle_translates_without_the_run(copied, text, tmp_path):
    other, options = tmp_path / "another machine", ("--k-best", "3", "--alignments")
    expected = translate(copied, text, tmp_path / "expected", *options)
    assert main(["bundle", str(copied), str(tmp_path / "made")]) == 0
    shutil.rmtree(tmp_path / "run")
    other.mkdir()
    (tmp_path / "made").rename(other / "any name")
    assert translate(other / "any name", text, other / "out", *options) == expected
    assert len(expected) == 13


def test_equal_systems_give_equal_bytes(system, copied, made, tmp_path):
    """Also when the bundle is read and written again, so nothing of the system is lost."""
    again, of_bundle = tmp_path / "again", tmp_path / "of a bundle"
    assert main(["bundle", str(copied), str(again)]) == 0
    assert main(["bundle", str(made), str(of_bundle)]) == 0
    assert again.read_bytes() == made.read_bytes() == of_bundle.read_bytes()
    assert str(system.parents[2]).encode() not in made.read_bytes()


def test_arrays_are_mapped(made):
    """Processes share them, and unused parts are not in memory."""
    found = read_translator_bundle(made)
    for array in (found.index.arrays.source, found.language_model.arrays.slots, found.weights.value):
        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        assert isinstance(base, np.memmap)
        assert not array.flags.writeable
        assert array.ctypes.data % 64 == 0


def in_header(value, *keys):
    def change(header):
        *path, last = keys
        reduce(dict.__getitem__, path, header)[last] = value

    return lambda bundle: reseal_header(bundle, change)


def filled(name, value):
    return lambda bundle: reseal_array(bundle, name, lambda array: array.fill(value))


def rewritten(change):
    return lambda bundle: bundle.write_bytes(change(bundle.read_bytes()))


def replaced_by_folder(bundle):
    bundle.unlink()
    bundle.mkdir()


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        (rewritten(lambda content: b""), NO_BUNDLE),
        (rewritten(lambda content: content[:12]), ()),
        (rewritten(lambda content: content[:40_000]), ()),
        (rewritten(lambda content: content[:-1]), ()),
        (rewritten(lambda content: content[:-1] + bytes([content[-1] ^ 1])), "'recaser'"),
        (in_header(None, "attributes", "settings"), ()),
        (in_header(3, "attributes", "model"), ()),
        (in_header(10**9, "attributes", "model", "order"), ()),
        (in_header(10**9, "attributes", "settings", "pop_limit"), ("pop_limit", 1000000000)),
        (in_header("x", "attributes", "settings", "features"), ("features", "'x'")),
        (in_header(["x"], "attributes", "settings", "grammar", "templates"), ("templates", "'x'")),
        (filled("index/suffix", 10**8), ("'index/suffix'", 100000000, 0)),
        (filled("index/room", 255), "'room'"),
        (filled("model/slots", 2**64 - 1), "'slots'"),
        (filled("model/unigram", np.nan), "'model/unigram'"),
        (filled("weights/v", np.inf), ()),
        (filled("preparation", ord("[")), "preparation.json"),
        (filled("recaser", ord("[")), "recaser.json"),
        (lambda bundle: shutil.copy(bundle.parent / "index", bundle), ("'grammar-index'", "'bundle'")),
        (rewritten(lambda content: MAGIC[:7] + b"\xff" + content[8:]), ()),
        (rewritten(lambda content: b"\x80\x04\x95cos\nsystem\n(S'touch out'\ntR."), NO_BUNDLE),
        (Path.unlink, ()),
        (replaced_by_folder, "resources.json"),
    ],
)
def test_files_that_make_no_system(system, bundle, text, refused, change, facts):
    shutil.copy(system.parents[2] / "index", bundle.parent)
    change(bundle)
    arguments = ["translate", "--system", bundle, "--input", text, "--output", bundle.parent / "out"]
    refused(arguments, f"{bundle}:", facts)


def test_no_partial_bundle_is_written(copied, tmp_path, refused):
    (copied / "weights.h5").write_bytes(b"x")
    (tmp_path / "x.bundle").write_text("as before")
    refused(["bundle", copied, tmp_path / "x.bundle"], f"{copied}/weights.h5")
    assert (tmp_path / "x.bundle").read_text() == "as before"


def test_reading_needs_no_pickle(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "pickle", None)
    monkeypatch.setitem(sys.modules, "_pickle", None)
    assert read_translator_bundle(made).settings.pop_limit == 30


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


def command(system, text, output, *options):
    return ["export", "cdec", f"--system={system}", f"--input={text}", f"--output={output}", *options]


def export(*arguments):
    assert main(command(*arguments)) == 0


def test_files(system, text, tmp_path):
    folder = tmp_path / "for cdec"
    export(system, text, folder)
    assert sorted(os.listdir(folder)) == ["cdec.ini", "grammars", "input.sgm", "lm.arpa", "weights.txt"]
    assert (folder / "cdec.ini").read_text() == CONFIG
    assert read_itersel_weights(folder / "weights.txt").to_dict() == WEIGHTS
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
    data = ["--sentences", "x.h5", "--language-model", "lm.bin", "--weights", "weights.txt"]
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


def test_missing_arpa_file(copied, bundle, text, tmp_path, refused):
    out, mine, other = tmp_path / "out", tmp_path / "mine.gz", tmp_path / "other"
    (tmp_path / "run/lm.arpa.gz").rename(mine)
    facts = (f"{copied}:", "ARPA", f"{tmp_path}/run/lm.bin", "--arpa")
    refused(command(copied, text, out), facts)
    refused(command(bundle, text, out), "ARPA")
    content = gzip.decompress(mine.read_bytes())
    other.write_bytes(content + b"\n")
    facts = ("other:", "ARPA")
    refused(command(bundle, text, out, "--arpa", str(other)), facts)
    (tmp_path / "empty").mkdir()
    out.symlink_to(tmp_path / "empty")
    export(bundle, text, out, "--arpa", str(mine))
    assert (out / "lm.arpa").read_bytes() == content


def test_a_failed_export_leaves_nothing_behind(system, tmp_path, refused):
    text, out = tmp_path / "raw", tmp_path / "out"
    text.write_text("Boot\nBoot |||\n")
    refused(command(system, text, out), (f"{text}:2:", "'|||'"))
    out.mkdir()
    (out / "mine").touch()
    text.write_text("Boot\n")
    for there in (out, text):
        refused(command(system, text, there), f"{there}:")


def test_words_with_a_special_meaning_in_cdec(copied, tmp_path, refused):
    """In tokenised text, since the tokeniser would split them."""
    preparation = tmp_path / "run/preparation.json"
    preparation.write_text(preparation.read_text().replace('"tokenized": false', '"tokenized": true'))
    for line, facts in (
        ("das a</seg>b haus", (":2:", "'</seg>'")),
        ("((('x',1,1),),) haus", (":2:", "'((('")),
        ("das [wort] haus", "'[wort]'"),
    ):
        (tmp_path / "raw").write_text(f"haus\n{line}\n")
        refused(command(copied, tmp_path / "raw", tmp_path / "out"), (f"{tmp_path}/raw", facts))
