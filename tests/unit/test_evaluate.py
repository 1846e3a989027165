"""BLEU compared with closed forms; approximate randomization with full enumeration and sacrebleu."""

from __future__ import annotations

import itertools
import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from itersel.cli.main import main
from itersel.evaluate.bleu import make_bleu, read_references, score_corpus, signature
from itersel.evaluate.metrics import tokenized_bleu
from itersel.evaluate.significance import p_values, pooled_p_values

REFERENCES = ["a b c d e f", "g h i j", "k l m n o", "p q r s t u v", "w x y z a b"]
BETTER = ["a b c d e f", "g h i x", "k l m n o", "p q r s t u v", "w x y z b"]
WORSE = ["a b c d x f", "g h i x", "k l m n y", "p q r s t u", "w x y z b"]


def test_closed_form():
    # 9 of 10 words, 7 of 9 bigrams, 5 of 8 trigrams, 3 of 7 4-grams; 10 words, reference 11: brevity penalty.
    metric = make_bleu([["one two three four five six seven eight nine ten eleven"]])
    score = score_corpus(metric, ["one two three four five x seven eight nine ten"])
    assert score.precisions == pytest.approx((90.0, 100 * 7 / 9, 100 * 5 / 8, 100 * 3 / 7))
    expected = math.exp(1 - 11 / 10) * (0.9 * 7 / 9 * 5 / 8 * 3 / 7) ** 0.25
    assert score.bleu == pytest.approx(100 * expected)
    assert (score.length, score.reference_length) == (10, 11)


def test_lowercased_and_tokenised_as_mteval():
    metric = make_bleu([["the cat, said: 3.5 (dogs)."]])
    assert score_corpus(metric, ["The CAT , said : 3.5 ( dogs ) ."]).bleu == pytest.approx(100)
    assert score_corpus(make_bleu([["a b c d,"]], "none"), ["a b c d ,"]).bleu < 100


def test_signature():
    metric = make_bleu([REFERENCES])
    score_corpus(metric, BETTER)
    assert signature(metric).startswith("nrefs:1|case:lc|eff:no|tok:13a|smooth:none|version:")


def bleu_difference(one, other):
    metric = make_bleu([REFERENCES])
    return abs(score_corpus(metric, one).bleu - score_corpus(metric, other).bleu)


def test_randomization_against_all_exchanges():
    observed = bleu_difference(BETTER, WORSE)
    at_least = 0
    for exchange in itertools.product((False, True), repeat=len(REFERENCES)):
        one = [b if swap else a for swap, a, b in zip(exchange, BETTER, WORSE, strict=True)]
        other = [a if swap else b for swap, a, b in zip(exchange, BETTER, WORSE, strict=True)]
        at_least += bleu_difference(one, other) >= observed
    exact = at_least / 2 ** len(REFERENCES)
    assert 0 < exact < 1
    p = p_values(tokenized_bleu(make_bleu([REFERENCES])), BETTER, {"worse": WORSE}, trials=20_000)["worse"]
    assert p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000))


def test_pooled_test_against_all_exchanges():
    """Three runs; sentences with identical translations make no difference."""
    runs = [
        BETTER,
        WORSE,
        [worse if i % 2 else good for i, (good, worse) in enumerate(zip(BETTER, WORSE, strict=True))],
    ]
    kept = [i for i, lines in enumerate(zip(*runs, strict=True)) if len(set(lines)) > 1]
    references, runs = [REFERENCES[i] for i in kept], [[run[i] for i in kept] for run in runs]
    metric = make_bleu([references])

    def difference(one, other, third):
        scores = [score_corpus(metric, lines).bleu for lines in (one, other, third)]
        return abs(scores[0] - (scores[1] + scores[2]) / 2)

    at_least, observed = 0, difference(*runs)
    for orders in itertools.product(itertools.permutations(range(3)), repeat=len(kept)):
        exchanged = [[runs[order[run]][i] for i, order in enumerate(orders)] for run in range(3)]
        at_least += difference(*exchanged) >= observed - 1e-9
    exact = at_least / 6 ** len(kept)
    assert 0 < exact < 1
    ours = tokenized_bleu(metric)
    counts = [ours.counts(run) for run in runs]
    [p] = pooled_p_values([ours], [counts[:1]], [counts[1:]], trials=4000)
    assert p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 4000))


def test_same_as_sacrebleu_without_ties(monkeypatch):
    random = Random(3)
    references = [" ".join(random.choices("abcdefghij", k=random.randint(5, 25))) for _ in range(120)]

    def damaged(share):
        return [" ".join(w if random.random() > share else "x" for w in line.split()) for line in references]

    one, other = damaged(0.10), damaged(0.11)
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    metric = make_bleu([references])
    _, theirs = PairedTest([("one", one), ("other", other)], {"BLEU": metric}, None, "ar", 500)()
    expected = theirs["BLEU"][1].p_value
    assert 1 / 501 < expected < 1
    assert p_values(tokenized_bleu(metric), one, {"other": other}, 500, seed=7)["other"] == expected


lines = st.lists(st.text("ab ", max_size=6), min_size=4, max_size=4)


@given(lines, lines, lines)
def test_randomization_is_symmetric(references, one, other):
    metric = tokenized_bleu(make_bleu([references]))
    forth = p_values(metric, one, {"s": other}, trials=50)["s"]
    back = p_values(metric, other, {"s": one}, trials=50)["s"]
    assert forth == back
    assert 0 < forth <= 1


def write(path, content):
    path.write_text("".join(line + "\n" for line in content))
    return str(path)


def test_several_references(tmp_path, capsys):
    """Equal to sacrebleu's corpus score; files of different lengths are rejected."""
    others = [f"{line} x" for line in REFERENCES]
    theirs = BLEU(lowercase=True, smooth_method="none", force=True).corpus_score(BETTER, [REFERENCES, others])
    paths = [write(tmp_path / "ref0", REFERENCES), write(tmp_path / "ref1", others)]
    system = write(tmp_path / "system", BETTER)
    arguments = [word for path in paths for word in ("--reference", path)]
    assert main(["bleu", *arguments, system]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[1].startswith(f"{theirs.score:.2f}\t")
    assert out[2].startswith("# nrefs:2|")
    blank = write(tmp_path / "blank", [""] * len(others))
    assert read_references([blank, paths[0]]) == [[None] * len(others), REFERENCES]
    assert read_references([blank, blank])[0] == [""] * len(others)
    assert main(["bleu", "--reference", paths[0], "--reference", blank, system]) == 0
    alone = score_corpus(make_bleu([REFERENCES]), BETTER).bleu
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{alone:.2f}\t")
    short = write(tmp_path / "short", others[:2])
    assert main(["bleu", *arguments, "--reference", short, system]) == 1
    assert f"short: has 2 lines, but {paths[0]} has {len(REFERENCES)}" in capsys.readouterr().err


def test_command_bleu(tmp_path, capsys):
    reference, system = write(tmp_path / "ref", REFERENCES), write(tmp_path / "system", BETTER)
    assert main(["bleu", "--reference", reference, system, reference]) == 0
    out = capsys.readouterr().out.splitlines()
    expected = score_corpus(make_bleu([REFERENCES]), BETTER).bleu
    assert out[1].split("\t")[0] == f"{expected:.2f}"
    assert out[2] == f"100.00\t100.0/100.0/100.0/100.0\t1.000\t{reference}"
    assert out[3].startswith("# nrefs:1|case:lc|")
    short, empty = write(tmp_path / "short", BETTER[:2]), write(tmp_path / "empty", [])
    for files, said in (
        ([reference, short], f"short: has 2 lines, but the reference {reference} has 5"),
        ([empty, short], "empty: is empty"),
    ):
        assert main(["bleu", "--reference", *files]) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert said in captured.err


def test_command_compare(tmp_path, capsys):
    reference = write(tmp_path / "ref", REFERENCES)
    better, worse = write(tmp_path / "better", BETTER), write(tmp_path / "worse", WORSE)
    same = write(tmp_path / "same", BETTER)
    arguments = ["compare", "--reference", reference, "--trials", "200", "--seed", "3", better, worse, same]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    rows = [line.split("\t") for line in first.splitlines()]
    assert [row[-1] for row in rows[1:4]] == [better, worse, same]
    assert float(rows[2][1]) == pytest.approx(-bleu_difference(BETTER, WORSE), abs=0.005)
    assert rows[3][1:3] == ["+0.00", "1.0000"]
    assert rows[4][0].endswith("|ar:200|seed:3")
    assert main(arguments) == 0
    assert capsys.readouterr().out == first
    assert main(["compare", "--reference", reference, "--trials", "0", better, worse]) == 2
