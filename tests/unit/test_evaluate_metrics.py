"""Scores of detokenised text compared with sacrebleu: formulas, command line, significance."""

import itertools
import json
import math
import tracemalloc
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.significance import PairedTest
from tests.limited import limited
from tests.refusals import input_error

from itersel.evaluate import significance
from itersel.evaluate.counts import FORMAT, count, read_counts, write_counts
from itersel.evaluate.metrics import make_metrics, make_tokenized_bleu
from itersel.evaluate.names import METRICS, OF_TEXT, TABULATED, sign_of, title_of
from itersel.evaluate.significance import (
    Bootstrap,
    Randomization,
    differences,
    paired_differences,
    paired_p_values,
    pooled_differences,
)
from itersel.evaluate.tokenizers import check_tokenizer, tokenizer_of
from itersel.storage.hdf5 import read_arrays, write_arrays

WORDS = ["The", "the", "cat", "sat", "on", "a", "Mat", "mat", "and", "slept", "there", "all", "day"]
INCOMPLETE = ()


def sentence(random: Random) -> str:
    text = " ".join(random.choices(WORDS, k=random.randint(3, 14)))
    return f"{text[0].upper()}{text[1:]}{random.choice(['.', '!', ' (so).'])}"


def damaged(lines: list[str], share: float, seed: int) -> list[str]:
    random = Random(seed)
    return [
        " ".join(word if random.random() > share else random.choice(WORDS) for word in line.split())
        for line in lines
    ]


RANDOM = Random(5)
REFERENCES = [sentence(RANDOM) for _ in range(60)]
OTHERS = damaged(REFERENCES, 0.3, 1)
ONE, TWO = damaged(REFERENCES, 0.15, 2), damaged(REFERENCES, 0.25, 3)


def test_all_metrics():
    metrics = make_metrics([REFERENCES])
    assert tuple(metric.name for metric in metrics) == TABULATED
    assert [sign_of(metric.name) for metric in metrics[:3]] == [1, 1, -1]


LINES = st.lists(st.lists(st.sampled_from([*WORDS, ""]), max_size=9).map(" ".join), min_size=3, max_size=3)
# a sentence may have fewer references than others
MORE = st.lists(st.lists(st.none() | st.sampled_from(REFERENCES[:9]), min_size=3, max_size=3), max_size=2)


@given(LINES, LINES, MORE)
def test_scores_equal_sacrebleu(translations, first, more):
    references = [first, *more]
    for metric in [*make_metrics(references, names=OF_TEXT), make_tokenized_bleu(references)]:
        counts = metric.counts(translations)
        expected = metric.counter.corpus_score(translations, references).score
        assert metric.score(counts) == pytest.approx(expected, abs=1e-9), metric.name


@pytest.mark.parametrize(
    ("case", "arguments"),
    [("cased", ["--ter-case-sensitive"]), ("lowercased", ["--lowercase", "--chrf-lowercase"])],
)
def test_command_line_of_sacrebleu(text_file, monkeypatch, case, arguments):
    """The same scores, intervals and signatures."""
    command = [text_file("reference", REFERENCES), "-i", text_file("one", ONE), "-m", "bleu", "chrf", "ter"]
    command += ["--chrf-word-order", "2", "--confidence", *arguments, "-w", "6"]
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    theirs = json.loads(limited(*command, program=("-m", "sacrebleu")).stdout)
    bootstrap = Bootstrap(len(REFERENCES))
    ours = [
        metric
        for metric in make_metrics([REFERENCES])
        if METRICS[metric.name].is_lowercased == (case == "lowercased")
    ]
    for metric, expected in zip(ours, theirs, strict=True):
        counts = metric.counts(ONE)
        assert metric.score(counts) == pytest.approx(expected["score"], abs=1e-5)
        interval = bootstrap.interval(metric, [counts])
        assert (interval.high - interval.low) / 2 == pytest.approx(expected["confidence_var"], abs=1e-3)
        assert metric.signature == expected["signature"].replace("bs:1000|seed:12345|", "")
        assert expected["name"].removesuffix("2++") in title_of(metric.name)


@pytest.mark.parametrize("place", range(7))
def test_p_values_equal_sacrebleu(monkeypatch, place):
    """For differences that no trial equals."""
    metric = [*make_metrics([REFERENCES]), make_tokenized_bleu([REFERENCES])][place]
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    name = metric.counter.__class__.__name__
    _, theirs = PairedTest([("one", ONE), ("two", TWO)], {name: metric.counter}, None, "ar", 300)()
    found = next(results for key, results in theirs.items() if key != "System")
    exchanges = Randomization(len(ONE), 300, 7)
    ours = differences(metric, *(exchanges.exchange(metric.counts(lines)) for lines in (ONE, TWO))).p
    assert ours == found[1].p_value


def test_pooled_p_values_equal_plain_python():
    """In each trial, the text of each run is assembled and scored."""
    metrics = make_metrics([REFERENCES, OTHERS])
    runs = [ONE, TWO, damaged(REFERENCES, 0.2, 4), damaged(REFERENCES, 0.2, 5), OTHERS]
    counts = [[metric.counts(lines) for lines in runs] for metric in metrics]

    def difference(metric, of_runs):
        scores = [metric.score(rows) for rows in of_runs]
        return abs(math.fsum(scores[:2]) / 2 - math.fsum(scores[2:]) / 3)

    at_least = [1] * len(metrics)
    random, order = np.random.default_rng(7), np.tile(np.arange(5), (len(ONE), 1))
    for _ in range(130):
        drawn = random.permuted(order, axis=1)
        for number, (metric, of_runs) in enumerate(zip(metrics, counts, strict=True)):
            exchanged = [np.array([of_runs[run][i] for i, run in enumerate(column)]) for column in drawn.T]
            at_least[number] += difference(metric, exchanged) >= difference(metric, of_runs)
    one, other = [of_runs[:2] for of_runs in counts], [of_runs[2:] for of_runs in counts]
    found = [one.p for one in pooled_differences(metrics, one, other, 130, 7)]
    assert found == [count / 131 for count in at_least]


def test_counts_survive_a_file(tmp_path):
    counted = count(TWO, ONE, [REFERENCES, OTHERS], "13a")
    write_counts(tmp_path / "one.h5", counted)
    found = read_counts(tmp_path / "one.h5")
    assert found[1:] == counted[1:]
    for mine, theirs in zip(found.counts, counted.counts, strict=True):
        assert (mine.name, mine.signature) == (theirs.name, theirs.signature)
        rows = found.counts[mine]
        assert (rows == counted.counts[theirs]).all()
        assert mine.score(rows) == theirs.score(rows)


def test_damaged_counts(tmp_path):
    path, counted = tmp_path / "one.h5", count(TWO, ONE, [REFERENCES], "13a")
    for name, value, facts in (
        *(("multiplier of ter", factor, INCOMPLETE) for factor in (0, -2, 1.5)),
        ("multiplier of bleu", 2, INCOMPLETE),
        ("bleu", "a\tb", INCOMPLETE),
        ("bleu", 3, INCOMPLETE),
        ("number of references", 0, INCOMPLETE),
        ("references", 1, INCOMPLETE),
        ((3, 2), 1000, "BLEU"),
        ((3, 12), 1000, "chrF++"),
    ):
        write_counts(path, counted)
        arrays, attributes = read_arrays(path, FORMAT)
        (attributes if isinstance(name, str) else arrays["counts"])[name] = value
        write_arrays(path, FORMAT, arrays, attributes)
        with input_error(facts):
            read_counts(path)


def test_interval_equals_plain_python():
    """The interval of the mean of several runs."""
    metric = make_metrics([REFERENCES])[4]
    runs = [metric.counts(ONE), metric.counts(TWO)]
    drawn = np.random.default_rng(12345).choice(60, size=(1000, 60), replace=True)
    scores = sorted(np.mean([metric.score(counts[indices]) for counts in runs]) for indices in drawn)
    assert Bootstrap(60).interval(metric, runs) == pytest.approx((scores[25], scores[-26]))


def test_trials_take_a_bit_for_each_sentence():
    """They need less memory than one byte, and drawn texts less than eight."""
    counts = np.ones((20_000, 10))
    for make, most in ((lambda: Randomization(20_000, 2000).exchange(counts), 2000), (bootstrapped, 8000)):
        tracemalloc.start()
        try:
            make()
            assert tracemalloc.get_traced_memory()[1] < 20_000 * most
        finally:
            tracemalloc.stop()


def bootstrapped():
    return Bootstrap(20_000).means(make_metrics([["a"]])[0], [np.ones((20_000, 10))])


def test_blocks_make_no_difference(monkeypatch):
    """Single runs and repeats; numbers of trials and sentences that no block divides."""
    metrics, random = make_metrics([REFERENCES])[:2], np.random.default_rng(2)
    texts = {
        name: [random.permutation(TWO) for _ in range(runs)]
        for name, runs in zip("abcd", (1, 1, 1, 2), strict=True)
    }
    counts = [
        {name: [metric.counts(one) for one in runs] for name, runs in texts.items()} for metric in metrics
    ]
    pairs = list(itertools.combinations(texts, 2))
    found = []
    for block, sums in ((1 << 20, 1 << 25), (500, 500), (1, 1)):
        monkeypatch.setattr(significance, "BLOCK", block)
        monkeypatch.setattr(significance, "SUMS_BLOCK", sums)
        tested = paired_differences(metrics, counts, pairs, 101, 3)
        p = paired_p_values(metrics, counts, pairs, 101, 3)
        assert p == [[one.p for one in by_metric] for by_metric in tested]
        interval = Bootstrap(len(TWO)).interval(metrics[0], counts[0]["d"])
        trials = [[one.by_trial.tolist() for one in by_metric] for by_metric in tested]
        found.append((trials, p, interval))
    assert found[0] == found[1] == found[2]
    assert len({len(trials) for by_metric in found[0][0] for trials in by_metric}) == 1


def test_ter_of_many_references():
    """Only numbers of references that occur divide the multiplier, not all up to the largest."""
    metrics = make_metrics([["a b"]] * 42)
    assert [metric.multiplier for metric in metrics[:3]] == [1, 1, 42]


def test_tokenizers(monkeypatch):
    found = [tokenizer_of(code) for code in ("de", "zh", "ja-jp", "ko")]
    assert found == ["13a", "zh", "ja-mecab", "ko-mecab"]
    chinese = make_metrics([["我喜欢你。"]], "zh")
    assert chinese[0].score(chinese[0].counts(["我喜欢你。"])) == pytest.approx(100)
    assert "tok:zh" in chinese[0].signature
    # one of five characters differs
    assert chinese[2].score(chinese[2].counts(["我喜欢他。"])) == pytest.approx(20)
    assert "asian:yes" in chinese[2].signature
    monkeypatch.setattr("itersel.evaluate.tokenizers.find_spec", lambda name: None)
    with input_error("MeCab", "'sacrebleu[ja]'"):
        check_tokenizer("ja-mecab")
    with input_error("ko-mecab"):
        make_metrics([REFERENCES], "ko-mecab")
    check_tokenizer("char")
