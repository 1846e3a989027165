"""Minimum Bayes risk: against plain Python and sacrebleu, and in the commands that translate."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF
from tests.naive import mbr as naive
from tests.rerankers import decoded, make_reranker
from tests.steps import settings
from tests.systems import itersel, make_system, raw_text, translate

from itersel import load_system
from itersel.config.mbr import GAINS, SCALES, MinimumRisk
from itersel.corpus.vocabulary import WordNumbers, number_words
from itersel.errors import InputError
from itersel.rerank.mbr import ranked_by_gain
from itersel.rerank.mbr_kernels import expected_gains
from itersel.rerank.words import characters_of

FILES = {
    "language-model": "lm.bin",
    "index": "index",
    "preparation": "preparation.json",
    "recaser": "recaser.json",
}
WORDS = ["a", "b", "the", "ab", "Haus", "ü"]
TRANSLATIONS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9), min_size=1, max_size=9)


def gains(translations, probability, gain):
    numbers = WordNumbers()
    side = number_words(translations, numbers)
    if gain == "chrf":
        side = characters_of(side, list(numbers))
    return expected_gains(*side, np.array(probability), gain == "chrf")


def ranked(translations, scores, **settings):
    numbers = WordNumbers()
    side = number_words(translations, numbers)
    return ranked_by_gain(side, list(numbers), np.array(scores, float), MinimumRisk(**settings)).tolist()


@given(TRANSLATIONS, st.data(), st.sampled_from(GAINS), st.sampled_from([0.01, 0.3, 1.0, 20.0]))
def test_sums_over_all_pairs(translations, data, gain, scale):
    # eighths, so that scores may be equal
    scores = [data.draw(st.integers(-40, 40)) / 8 for _ in translations]
    probability = naive.posterior(scores, scale)
    expected = naive.expected_gains(translations, scores, gain, scale)
    np.testing.assert_allclose(gains(translations, probability, gain), expected, rtol=1e-12, atol=1e-14)

    size = data.draw(st.integers(2, 10))
    found = ranked(translations, scores, gain=gain, scale=scale, size=size)
    assert found == naive.ranked(translations, scores, gain, scale, size)


@pytest.mark.parametrize("gain", GAINS)
def test_gains_are_those_of_sacrebleu(gain):
    texts = [line.removesuffix(".") for line in raw_text(12)]
    metrics = {"sentence-bleu": BLEU(smooth_method="add-k", smooth_value=1, tokenize="none"), "chrf": CHRF()}
    for text, reference in pairwise(texts):
        expected = metrics[gain].sentence_score(text, [reference]).score / 100
        # all of the probability is the reference's
        found = gains([text.split(), reference.split()], [0.0, 1.0], gain)
        np.testing.assert_allclose(found, [expected, 1.0], rtol=1e-9)


@given(TRANSLATIONS, st.data(), st.sampled_from(GAINS))
def test_a_large_scale_chooses_the_best_score(translations, data, gain):
    scores = [data.draw(st.integers(-40, 40)) for _ in translations]
    best, *_ = ranked(translations, scores, gain=gain, scale=1e6)
    highest = [place for place, score in enumerate(scores) if score == max(scores)]
    assert best in highest
    if len(highest) == 1:
        assert best == highest[0]


def test_similar_translations_win_together():
    """The best score is alone; the others agree, and share most of the probability."""
    translations = [["x", "y", "z"], ["a", "b", "c", "d"], ["a", "b", "c", "e"], ["a", "b", "c"]]
    scores = [0.0, -0.5, -0.6, -0.7]
    for gain in GAINS:
        assert ranked(translations, scores, gain=gain)[0] != 0
        assert ranked(translations, scores, gain=gain, scale=30.0)[0] == 0
        # the two best have nothing in common
        assert ranked(translations, scores, gain=gain, size=2) == [0, 1]


def test_equal_translations_add_up():
    translations, scores = [["x"], ["a"], ["b"], ["a"]], [0.0, -0.5, -0.6, -0.5]
    for gain in GAINS:
        assert ranked(translations, scores, gain=gain) == [1, 3, 0, 2]


@pytest.mark.parametrize("gain", GAINS)
def test_ties_go_to_the_higher_score_and_then_to_the_first(gain):
    assert ranked([["a"], ["b"], ["c"], ["d"]], [1, 2, 2, 1], gain=gain, scale=1e-9) == [1, 2, 0, 3]


@pytest.mark.parametrize("gain", GAINS)
def test_lists_of_one_and_of_empty_translations(gain):
    assert ranked([["a"]], [-3], gain=gain) == [0]
    assert ranked([[]], [-3], gain=gain) == [0]
    # empty translations are equal, too
    assert ranked([["a"], [], []], [0.0, -0.1, -0.1], gain=gain) == [1, 2, 0]


@pytest.mark.parametrize(
    ("key", "value"), [("gain", "ter"), ("scale", 0.0), ("scale", float("inf")), ("scale", 2e6), ("size", 1)]
)
def test_settings_out_of_bounds(key, value):
    with pytest.raises(InputError, match=key):
        MinimumRisk(**{key: value})


# lists of two sentences, in the second of which two translations agree
LISTS = [
    "0 ||| a b c d e ||| f=-1 ||| 0",
    "0 ||| a b c d e f ||| f=-2 ||| 0",
    "1 ||| x y z ||| f=-1 ||| 0",
    "1 ||| a b c d ||| f=-1.5 ||| 0",
    "1 ||| a b c d e ||| f=-1.6 ||| 0",
]
FIRST, AGREEING = ["a b c d e", "x y z"], ["a b c d e", "a b c d"]


@pytest.fixture
def rescore(tmp_path):
    (tmp_path / "lists").write_text("\n".join(LISTS) + "\n")
    (tmp_path / "weights").write_text("f 1\n")
    command = ["rescore", "--nbest", tmp_path / "lists", "--output", tmp_path / "out"]

    def run(*options):
        itersel(*command, "--weights", tmp_path / "weights", *options)
        return (tmp_path / "out").read_text().splitlines()

    return run


def test_rescore(rescore):
    assert rescore() == rescore("--no-mbr") == FIRST
    assert rescore("--mbr") == rescore("--mbr", "sentence-bleu") == AGREEING
    # recall counts more than precision
    assert rescore("--mbr", "chrf") == ["a b c d e f", "a b c d e"]
    assert rescore("--mbr", "--mbr-scale", "1000") == FIRST
    assert rescore("--mbr", "--mbr-size", "2") == FIRST


def test_rescored_lists_are_ordered_by_expected_gain(rescore):
    lines = rescore("--mbr", "--k-best", "2")
    assert [line.split(" ||| ")[1] for line in lines] == ["a b c d e", "a b c d e f", "a b c d", "a b c d e"]
    # scores are the model's
    assert [float(line.split(" ||| ")[-1]) for line in lines] == [-1, -2, -1.5, -1.6]


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (["--mbr-scale", "2"], ["--mbr-scale", "--mbr"]),
        (["--no-mbr", "--mbr-size", "5"], ["--mbr-size"]),
        (["--mbr", "--mbr-size", "5", "--k-best", "6"], ["--k-best", 6, "--mbr-size", 5]),
    ],
)
def test_options_that_do_not_fit(rescore, refused, tmp_path, options, facts):
    command = ["rescore", "--nbest", tmp_path / "lists", "--weights", tmp_path / "weights"]
    refused([*command, "--output", tmp_path / "out", *options], *facts)


@pytest.fixture
def own_mbr(tmp_path):
    """Return a function that reranks with a system that has its own gain, scale and size."""
    system = make_reranker(tmp_path, "dense")
    path = system / "resources.json"
    without = path.read_text()

    def rerank(*options, **mbr):
        content = json.loads(without)
        content["settings"]["mbr"] = mbr or None
        path.write_text(json.dumps(content))
        command = ["rescore", "--system", system, "--nbest", tmp_path / "lists"]
        itersel(*command, *options, "--output", tmp_path / "out")
        return (tmp_path / "out").read_text().splitlines()

    return rerank


def test_options_change_what_a_system_does(own_mbr):
    own = {"gain": "chrf", "scale": 0.2, "size": 500}
    by_own = own_mbr(**own)
    assert by_own == own_mbr("--mbr", **own) == own_mbr("--mbr", "chrf", **own)
    assert by_own == own_mbr("--mbr", "chrf", "--mbr-scale", "0.2")
    assert own_mbr("--mbr-scale", "5", **own) == own_mbr("--mbr", "chrf", "--mbr-scale", "5") != by_own
    # not a scale that was chosen for another gain
    assert (
        own_mbr("--mbr", "sentence-bleu", **own) == own_mbr("--mbr") != own_mbr("--mbr", "--mbr-scale", "0.2")
    )
    assert own_mbr("--no-mbr", **own) == own_mbr()


def test_a_system_may_compare_more_than_by_default(own_mbr):
    own = {"gain": "chrf", "scale": 0.2, "size": 500}
    assert own_mbr("--mbr", "--k-best", "200", **own) == own_mbr("--k-best", "200", **own)


def test_first_entries_are_not_chosen(rescore, refused, tmp_path):
    refused(["rescore", "--first", "--nbest", tmp_path / "lists", "--mbr"], "--mbr", "--first")


@pytest.mark.parametrize("value", ["0", "-1", "nan", "x"])
def test_bad_scales_are_usage_errors(value, capsys):
    from itersel.cli.main import main

    assert main(["rescore", "--nbest", "x", "--first", "--mbr", "--mbr-scale", value]) == 2
    assert "--mbr-scale" in capsys.readouterr().err


@pytest.mark.parametrize("gain", GAINS)
def test_decode_chooses_from_given_lists_as_rescore_does(tmp_path, gain):
    system = make_reranker(tmp_path, "dense")
    options = ["--mbr", gain, "--mbr-scale", "0.2"]
    itersel(
        "rescore", "--system", system, "--nbest", tmp_path / "lists", *options, "--output", tmp_path / "out"
    )
    found = (tmp_path / "out").read_text().splitlines()
    assert found == decoded(tmp_path, "dense", *options)
    assert found != decoded(tmp_path, "dense")


def test_translate(system, tmp_path):
    text = tmp_path / "raw"
    text.write_text("".join(line + "\n" for line in ["", *raw_text(20)]))
    lists = [json.loads(line) for line in translate(system, text, tmp_path / "lists", "--k-best", "30")]
    options = ["--mbr", "chrf", "--mbr-scale", "0.5", "--mbr-size", "30"]
    expected = []
    for one in lists:
        found = one["translations"]
        scores, tokens = ([each[key] for each in found] for key in ("score", "tokens"))
        order = naive.ranked(tokens, scores, "chrf", 0.5, 30)
        expected.append([found[place] for place in order])

    chosen = translate(system, text, tmp_path / "out", *options)
    assert chosen == [one[0]["text"] for one in expected]
    assert chosen != [one["translations"][0]["text"] for one in lists]
    assert translate(system, text, tmp_path / "two", "--processes", "2", *options) == chosen

    details = translate(system, text, tmp_path / "out", "--k-best", "3", "--alignments", *options)
    for line, best in zip(details, expected, strict=True):
        found = json.loads(line)["translations"]
        assert [{key: one[key] for key in best[0]} for one in found] == best[:3]


def test_decode(system, tmp_path):
    run = system.parents[2]
    (tmp_path / "source").write_text("das kleine haus am fluss bleibt .\n\ndas alte boot am berg liegt .\n")
    itersel(
        "grammar",
        "extract",
        "--index",
        run / "index",
        "--input",
        tmp_path / "source",
        "--output",
        tmp_path / "s.h5",
    )
    files = [
        "--sentences",
        tmp_path / "s.h5",
        "--language-model",
        run / "lm.bin",
        "--weights",
        system / "weights.h5",
    ]

    def decode(*options):
        itersel("decode", *files, "--output", tmp_path / "out", *options)
        return (tmp_path / "out").read_text().splitlines()

    by_sentence = {}
    for line in decode("--k-best", "40"):
        number, text, _, score = line.split(" ||| ")
        by_sentence.setdefault(int(number), []).append((text.split(), float(score)))
    expected = []
    for one in by_sentence.values():
        translations, scores = zip(*one, strict=True)
        order = naive.ranked(translations, scores, "sentence-bleu", 0.2, 40)
        expected.append([" ".join(translations[place]) for place in order])

    options = ["--mbr", "--mbr-scale", "0.2", "--mbr-size", "40"]
    assert decode(*options) == [one[0] for one in expected]
    lines = decode("--k-best", "5", *options)
    assert [line.split(" ||| ")[1] for line in lines] == [text for one in expected for text in one[:5]]


def scale_of(path):
    return json.loads(path.read_text())["mbr"]["scale"]


def choose_scale(tmp_path, pieces, weights, reference, *more, **mbr):
    """Choose a scale; returns the scores by scale."""
    (tmp_path / "pieces").write_text("".join(f"{piece}\n" for piece in pieces))
    files = ["--inputs", tmp_path / "pieces", "--weights", weights, "--reference", reference, *more]
    itersel(
        "step",
        "scale",
        *files,
        *settings(features="dense", scoring={"tokenizer": "13a"}, mbr=mbr),
        "--output",
        tmp_path / "mbr.json",
    )
    found = json.loads((tmp_path / "mbr.json").read_text())
    return dict(zip(found["scales"], found["devtest_scores"], strict=True))


def test_the_scale_is_chosen_on_devtest_and_kept_in_a_reranker(tmp_path):
    system = make_reranker(tmp_path, "dense")
    # what one of the scales chooses
    wanted = decoded(tmp_path, "dense", "--mbr", "chrf", "--mbr-scale", "0.3")
    (tmp_path / "wanted").write_text("".join(f"{line}\n" for line in wanted))
    pieces = [tmp_path / f"{number}.h5" for number in range(2)]
    scores = choose_scale(tmp_path, pieces, system / "weights.h5", tmp_path / "wanted", gain="chrf")
    assert tuple(scores) == SCALES
    assert scores[0.3] == max(scores.values()) == pytest.approx(100)
    # the largest one, if several are the best
    best = max(scale for scale, score in scores.items() if score == scores[0.3])
    assert scale_of(tmp_path / "mbr.json") == best
    assert decoded(tmp_path, "dense", "--chosen-mbr", tmp_path / "mbr.json") == wanted
    assert decoded(tmp_path, "dense", "--chosen-mbr", tmp_path / "mbr.json", "--no-mbr") != wanted

    without_mbr = json.loads((system / "resources.json").read_text())
    files = ["--divided-lists", tmp_path / "cut", "--chosen-mbr", tmp_path / "mbr.json"]
    how = settings(features="dense", lists=without_mbr["settings"]["lists"])
    itersel("step", "reranker", *files, *how, "--output", system / "resources.json")
    with_mbr = json.loads((system / "resources.json").read_text())
    assert with_mbr["settings"].pop("mbr") == json.loads((tmp_path / "mbr.json").read_text())["mbr"]
    assert without_mbr["settings"].pop("mbr") is None
    assert with_mbr == without_mbr

    itersel("bundle", system, tmp_path / "bundle")
    for path in (system, tmp_path / "bundle"):
        command = ["rescore", "--system", path, "--nbest", tmp_path / "lists", "--output", tmp_path / "out"]
        itersel(*command)
        assert (tmp_path / "out").read_text().splitlines() == wanted
        itersel(*command, "--no-mbr")
        assert (tmp_path / "out").read_text().splitlines() == decoded(tmp_path, "dense")
        assert load_system(path).rerank(None, [tmp_path / "lists"]) == wanted


def test_a_translator_keeps_its_scale(tmp_path):
    system, text = make_system(tmp_path, "dense"), tmp_path / "raw"
    text.write_text("".join(f"{line}\n" for line in raw_text(20)))
    by_score = translate(system, text, tmp_path / "out")
    (tmp_path / "text").write_text("das kleine haus am fluss bleibt .\ndas alte boot am berg liegt .\n")
    extract = ["grammar", "extract", "--index", tmp_path / "index", "--input", tmp_path / "text"]
    itersel(*extract, "--output", tmp_path / "s.h5")
    more = ["--language-model", tmp_path / "lm.bin"]
    mbr = {"gain": "chrf", "scale": 0.5, "size": 30}
    scores = choose_scale(
        tmp_path, [tmp_path / "s.h5"], system / "weights.h5", tmp_path / "text", *more, **mbr
    )
    assert list(scores) == [0.5]

    files = [f"--{name}={tmp_path / file}" for name, file in FILES.items()]
    how = settings(pop_limit=30, features="dense")
    chosen = ["--chosen-mbr", tmp_path / "mbr.json", "--output", system / "resources.json"]
    itersel("step", "resources", *files, *how, *chosen)
    itersel("bundle", system, tmp_path / "bundle")
    for path in (system, tmp_path / "bundle"):
        by_risk = translate(path, text, tmp_path / "out")
        assert by_risk != by_score
        assert load_system(path).translate(text.read_text().splitlines()) == by_risk
        assert translate(path, text, tmp_path / "out", "--mbr", "--mbr-size", "30") == by_risk
        assert translate(path, text, tmp_path / "out", "--no-mbr") == by_score
        with pytest.raises(InputError, match=r"31.* 30 "):
            load_system(path).translate(["das haus"], k_best=31)


def test_damaged_choices_are_refused(tmp_path, refused):
    (tmp_path / "mbr.json").write_text('{"mbr": {"gain": "sentence-bleu", "scale": 0, "size": 5}}')
    command = [
        "decode",
        "--sentences",
        tmp_path / "x.h5",
        "--weights",
        tmp_path / "w",
        "--output",
        tmp_path / "out",
    ]
    refused([*command, "--chosen-mbr", tmp_path / "mbr.json"], tmp_path / "mbr.json")
