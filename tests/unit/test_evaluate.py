"""BLEU compared with a closed form and with sacrebleu; commands."""

import json
import math

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from itersel.cli.main import main
from itersel.evaluate.metrics import make_tokenized_bleu, score_corpus
from itersel.evaluate.texts import read_references

REFERENCES = ["a b c d e f", "g h i j", "k l m n o", "p q r s t u v", "w x y z a b"]
BETTER = ["a b c d e f", "g h i x", "k l m n o", "p q r s t u v", "w x y z b"]
WORSE = ["a b c d x f", "g h i x", "k l m n y", "p q r s t u", "w x y z b"]


def test_closed_form():
    # 9 of 10 words, 7 of 9 bigrams, 5 of 8 trigrams, 3 of 7 4-grams; 10 words, reference 11: brevity penalty.
    metric = make_tokenized_bleu([["one two three four five six seven eight nine ten eleven"]])
    score = score_corpus(metric, ["one two three four five x seven eight nine ten"])
    assert score.precisions == pytest.approx((90.0, 100 * 7 / 9, 100 * 5 / 8, 100 * 3 / 7))
    expected = math.exp(1 - 11 / 10) * (0.9 * 7 / 9 * 5 / 8 * 3 / 7) ** 0.25
    assert score.bleu == pytest.approx(100 * expected)
    assert (score.length, score.reference_length) == (10, 11)


def test_several_references(text_file, capsys, refused):
    """Equal to sacrebleu's corpus score; files of different lengths are rejected."""
    others = [f"{line} x" for line in REFERENCES]
    theirs = BLEU(lowercase=True, smooth_method="none", force=True).corpus_score(BETTER, [REFERENCES, others])
    paths = [text_file("ref0", REFERENCES), text_file("ref1", others)]
    system = text_file("system", BETTER)
    arguments = [word for path in paths for word in ("--reference", path)]
    assert main(["bleu", *arguments, system]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[1].startswith(f"{theirs.score:.2f}\t")
    assert out[2].startswith("# sacrebleu nrefs:2|")
    blank = text_file("blank", [""] * len(others))
    assert read_references([blank, paths[0]]) == [[None] * len(others), REFERENCES]
    assert read_references([blank, blank])[0] == [""] * len(others)
    assert main(["bleu", "--reference", paths[0], "--reference", blank, system]) == 0
    alone = score_corpus(make_tokenized_bleu([REFERENCES]), BETTER).bleu
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{alone:.2f}\t")
    short = text_file("short", others[:2])
    facts = ("short:", 2, paths[0], len(REFERENCES))
    refused(["bleu", *arguments, "--reference", short, system], facts)


def test_command_bleu(text_file, capsys, refused):
    reference, system = text_file("ref", REFERENCES), text_file("system", BETTER)
    assert main(["bleu", "--reference", reference, system, reference]) == 0
    out = capsys.readouterr().out.splitlines()
    expected = score_corpus(make_tokenized_bleu([REFERENCES]), BETTER).bleu
    assert out[1].split("\t")[0] == f"{expected:.2f}"
    assert out[2] == f"100.00\t100.0/100.0/100.0/100.0\t1.000\t{reference}"
    assert out[3].startswith("# sacrebleu nrefs:1|case:lc|eff:no|tok:13a|smooth:none|version:")
    short, empty = text_file("short", BETTER[:2]), text_file("empty", [])
    facts = ("short:", 2, reference, 5)
    refused(["bleu", "--reference", reference, short], facts)
    refused(["bleu", "--reference", empty, short], "empty:")


def test_command_compare(text_file, capsys, refused, misused):
    """All metrics, as sacrebleu computes them, with intervals and tests."""
    references = [text_file("ref", REFERENCES), text_file("other", ["", *REFERENCES[1:]])]
    systems = {"better": BETTER, "worse": WORSE, "same": BETTER}
    better, worse, same = (text_file(name, lines) for name, lines in systems.items())
    options = ["--reference", references[0], "--reference", references[1], "--trials", "200", "--seed", "3"]
    arguments = ["compare", *options, better, worse, same]
    assert main(arguments) == 0
    table = capsys.readouterr().out
    assert main([*arguments, "--json", "--metrics", "lowercased-TER,lowercased-bleu,CHRF"]) == 0
    lowercased = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in lowercased["metrics"]] == ["lowercased-ter", "lowercased-bleu", "chrf"]
    assert ["case:lc" in one["signature"] for one in lowercased["metrics"]] == [True, True, False]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    given = {"references": read_references(references)}
    metrics = BLEU(**given), CHRF(word_order=2, **given), TER(case_sensitive=True, **given)
    for one, metric in zip(found["metrics"], metrics, strict=True):
        first, second, third = one["systems"]
        assert [first["system"], second["system"], third["system"]] == [better, worse, same]
        assert first["score"] == pytest.approx(metric.corpus_score(BETTER, None).score)
        assert second["difference"] == pytest.approx(metric.corpus_score(WORSE, None).score - first["score"])
        assert first["interval"][0] <= first["score"] <= first["interval"][1]
        assert (first["p"], third["p"], third["difference"]) == (None, 1, 0)
        assert one["signature"] in table
        assert f"{second['difference']:+.2f}  {second['p']:.4f}" in table
    refused([*arguments, better], "better:")
    misused(["compare", "--reference", references[0], "--trials", "0", better, worse], "--trials")


def test_compare_shows_no_p_value_of_0(text_file, capsys):
    lines = [f"a{i} b{i} c{i} d{i} e{i}" for i in range(40)]
    references, worse = text_file("r", lines), text_file("w", [line[:-3] for line in lines])
    assert main(["compare", "--reference", references, "--trials", "20000", worse, references]) == 0
    shown = capsys.readouterr().out
    assert "0.0001" in shown
    assert "0.0000" not in shown
