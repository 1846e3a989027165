"""The exported grammars have the format of the files with which cdec was run."""

import gzip
import re

import pytest
from tests.systems import make_system
from tests.text_grammars import read_kbest

from itersel.cli.main import main
from itersel.storage.files import read_lines
from itersel.vectors.feature_names import (
    BUILT_IN_TEMPLATES,
    CDEC_TEMPLATES,
    DECODER_FEATURES,
    GRAMMAR_FEATURES,
)

PAIRS, SENTENCES = 1500, 6
# A rule as cdec's extractor writes it.
SYMBOL = r"(?:\[X,[12]\]|[^\s\[]\S*|\[)"
SIDE, FEATURE, POINT = rf"{SYMBOL}(?: {SYMBOL})*", r"[^\s=]+=-?[0-9.e+-]+", "[0-9]+-[0-9]+"
VALUES = rf"{FEATURE}(?: {FEATURE})*(?: \|\|\| {POINT}(?: {POINT})*)?"
RULE = re.compile(rf"\[X\] \|\|\| {SIDE} \|\|\| {SIDE} \|\|\| {VALUES}")


@pytest.fixture(scope="module")
def folder(parity, tmp_path_factory):
    """Export recorded sentences, with grammars from a part of the recorded corpus."""
    run = tmp_path_factory.mktemp("run")
    texts = [parity / "corpus/train.de.gz", parity / "corpus/train.en.gz", parity / "align/gdfa.gz"]
    system = make_system(run, corpus=list(zip(*(read_lines(path)[:PAIRS] for path in texts), strict=True)))
    source = (parity / "decode/src.de").read_text(encoding="utf-8").splitlines()[:SENTENCES]
    (run / "source").write_text("".join(line + "\n" for line in source))
    preparation = run / "preparation.json"
    preparation.write_text(preparation.read_text().replace('"tokenized": false', '"tokenized": true'))
    arguments = ["--system", system, "--input", run / "source", "--output", run / "out"]
    assert main(["export", "cdec", *map(str, arguments)]) == 0
    return run / "out"


def read_rules(grammar):
    with gzip.open(grammar, "rt", encoding="utf-8") as stream:
        return stream.read().splitlines()


def test_grammars(folder, parity):
    shared = 0
    for sentence in range(SENTENCES):
        recorded = read_rules(parity / f"decode/grammar/grammar.{sentence}.gz")
        exported = read_rules(folder / f"grammars/grammar.{sentence}.gz")
        assert len(exported) > 20
        for rule in (*recorded, *exported):
            assert RULE.fullmatch(rule), rule
            features = rule.split(" ||| ")[3].split(" ")
            assert [item.partition("=")[0] for item in features] == list(GRAMMAR_FEATURES)
        sides, others = ({tuple(rule.split(" ||| ")[:3]) for rule in one} for one in (recorded, exported))
        shared += len(sides & others)
    # cdec's grammars were extracted from the whole corpus
    assert shared > 500


def test_feature_functions_give_the_features_of_the_templates(parity):
    """The recorded features are those of all templates, and those that the decoder adds."""
    lists = read_kbest(parity / "decode/kbest20.sparse.gz")
    found = {name for _, _, features, _ in lists for name in features}
    prefixes = {template: BUILT_IN_TEMPLATES[template].prefix for template in CDEC_TEMPLATES}
    for prefix in prefixes.values():
        assert any(name.startswith(prefix) for name in found)
    others = {name for name in found if not name.startswith(tuple(prefixes.values()))}
    assert others <= {*GRAMMAR_FEATURES, *DECODER_FEATURES}
