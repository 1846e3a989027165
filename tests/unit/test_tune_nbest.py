"""Tuning on n-best lists of other decoders: their statistics, and qualities other than BLEU."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from tests.naive import tuning as naive
from tests.refusals import check_facts, input_error
from tests.tuning import DENSE_NAMES, make_table, random_sentences

from itersel.cli.main import main
from itersel.evaluate.metrics import make_tokenized_bleu
from itersel.evaluate.texts import read_references
from itersel.lists.matches import with_matches
from itersel.lists.reading import read_lists
from itersel.storage.hdf5 import header_of
from itersel.tune.measure import quality_by_metric, read_measure
from itersel.tune.mert import ListLineSearch, tune_mert
from itersel.tune.mira_kernels import mean_weights, mira_lists, mira_pass, start_state
from itersel.tune.nbest import prepare_nbest, read_all_but_lists, tune_nbest
from itersel.tune.ranking import draw_pairs
from itersel.tune.start_weights import START_WEIGHTS, default_start
from itersel.tune.tuners.forest_mert import ForestMert
from itersel.tune.tuners.kbest_mira import KBestMira
from itersel.tune.tuners.mert import Mert
from itersel.tune.tuners.pro import Pro
from itersel.vectors.weights import FORMAT, make_weights

TUNERS = (Mert(), KBestMira(), Pro(interpolation=1.0))
WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "red"]


@pytest.fixture
def files(tmp_path):
    """Return a folder with lists of 20 sentences and two references; `good` is right, `bad` misleads."""
    random = np.random.default_rng(5)
    lines, references = [], ([], [])
    for sentence in range(20):
        words = random.choice(WORDS, 9).tolist()
        references[0].append(" ".join(words))
        references[1].append("" if sentence % 2 else " ".join(random.permutation(words)))
        for rank in range(10):
            kept = [word if random.random() > rank / 10 else "x" for word in words[: 9 - rank % 3]]
            right = sum(word != "x" for word in kept)
            rare = "rare=1" if rank == 3 else ""
            features = f"good= {right} 0 bad={-right - rank / 20} {rare}"
            lines.append(f"{sentence} ||| {' '.join(kept)} ||| {features} ||| 0")
    lines.append(lines[-1])
    (tmp_path / "list").write_text("\n".join(lines))
    for number, one in enumerate(references):
        (tmp_path / f"ref{number}").write_text("".join(f"{line}\n" for line in one))
    return tmp_path


def references_of(files):
    return read_references([files / "ref0", files / "ref1"])


def test_statistics_are_those_of_sacrebleu(files):
    references = references_of(files)
    texts = [[line or "" for line in lines] for lines in references]
    table = with_matches(read_lists([files / "list"], 20).without_duplicates().table, texts)
    assert table.translation_count == 200
    for row, sentence in enumerate(table.sentence.tolist()):
        one = [[lines[sentence]] for lines in references]
        score = make_tokenized_bleu(one, "none").counter.corpus_score([table.text.get(row)], None)
        found = table.statistics
        assert found.matches[row].tolist() == score.counts
        assert (found.length[row], found.closest_length[row]) == (score.sys_len, score.ref_len)


@pytest.mark.parametrize("settings", TUNERS)
def test_good_features_get_weight(files, settings):
    start = make_weights({"bad": 1.0})
    found = tune_nbest([files / "list"], *references_of(files), tuner=settings, start=start)
    weights = found.weights.to_dict()
    assert found.sizes == {"good": 2}
    # the first translation of each list is right
    assert found.quality_points == pytest.approx(100)
    assert weights["good_0"] - weights.get("bad", 0) > 0
    assert found.translations == 200


@pytest.mark.parametrize("settings", TUNERS)
def test_numbers_of_a_file_are_tuned_for(files, settings):
    # the lowest rank of each list, after the file's order of lines
    (files / "quality").write_text("\n".join([str(row % 10) for row in range(200)] + ["9"]))
    found = tune_nbest([files / "list"], tuner=settings, quality=str(files / "quality"))
    assert found.quality_points > 80
    assert found.weights.to_dict()["good_0"] < 0


@pytest.mark.parametrize("name", ["chrf++", "ter"])
def test_the_same_text_is_counted_once(files, monkeypatch, name):
    """Translations of a sentence that differ only in their features, such as those of several iterations."""
    lines = (files / "list").read_text().splitlines()
    again = [line.replace("bad=-", "bad=-1") for line in lines]
    (files / "again").write_text("\n".join([*again, *lines]))
    counted = []

    def count(self, hypotheses, references, _count=Metric._extract_corpus_statistics):
        counted.extend(filter(None, hypotheses))
        return _count(self, hypotheses, references)

    monkeypatch.setattr(Metric, "_extract_corpus_statistics", count)
    found = []
    for file in ("list", "again"):
        table = read_lists([files / file], 20).table
        quality = quality_by_metric(table, references_of(files), name).tolist()
        rows = set(zip(table.sentence.tolist(), table.text.to_list(), quality, strict=True))
        found.append((table.translation_count, len(counted), rows))
        counted.clear()
    (size, once, expected), (twice, again, same) = found
    assert (twice, again) == (2 * size, once)
    assert same == expected


@pytest.mark.parametrize("quality", ["chrF++", "TER"])
def test_scores_of_sacrebleu_are_tuned_for(files, quality):
    found = tune_nbest([files / "list"], *references_of(files), tuner=Mert(), quality=quality)
    assert found.quality_points == pytest.approx({"chrF++": 100, "TER": 0}[quality])


def test_sentence_scores_are_those_of_sacrebleu(files):
    references = references_of(files)
    table = read_lists([files / "list"]).table
    for name, metric in (("chrf", CHRF()), ("chrf++", CHRF(word_order=2)), ("ter", TER(case_sensitive=True))):
        found = quality_by_metric(table, references, name)
        for row in range(0, table.translation_count, 7):
            refs = [one[table.sentence[row]] for one in references]
            score = metric.sentence_score(table.text.get(row), [ref for ref in refs if ref is not None]).score
            assert found[row] == pytest.approx(score / 100 if name != "ter" else -score / 100)


@given(st.integers(0, 2**32))
def test_quality_along_a_line(seed):
    table = make_table(random_sentences(seed))
    random = np.random.default_rng(seed)
    table = table._replace(quality=random.integers(0, 9, table.dense.shape[0]) / 8)
    line_search = ListLineSearch(table)
    weights, direction = random.integers(-8, 9, (2, len(DENSE_NAMES))) / 8
    begin, value = line_search.intervals(weights, direction)
    ends = np.append(begin[1:], begin[-1] + 2 if begin.shape[0] > 1 else 1.0)
    for left, right, found in zip(begin, ends, value, strict=True):
        x = (max(left, right - 2) + right) / 2
        score = table.dense @ (weights + x * direction)
        chosen = [
            table.quality[a + naive.best(score[a:b].round(9).tolist())]
            for a, b in zip(table.offset[:-1], table.offset[1:], strict=True)
        ]
        if right - left > 1e-6:
            assert found == pytest.approx(np.mean(chosen))


def test_search_for_quality_improves_it():
    table = make_table(random_sentences(3, 20))
    table = table._replace(quality=table.dense @ np.array([1.0, -2.0, 0.5]))
    line_search = ListLineSearch(table)
    weights, found = tune_mert(line_search, np.zeros(3), 12, 5, (1,))
    best = np.maximum.reduceat(table.quality, table.offset[:-1]).mean()
    assert found == pytest.approx(best)
    assert line_search.quality_of_best(weights) == found


class QualityMira(naive.Mira):
    """k-best MIRA for a quality by the identity of the translation."""

    quality: dict[int, float]

    def bleu(self, one, sentence):
        return self.quality[id(one)] * sum(sentence.reference_lengths) / len(sentence.reference_lengths)


@given(st.integers(0, 2**32))
def test_mira_for_quality_equals_plain_python(seed):
    sentences = random_sentences(seed)
    table = make_table(sentences)
    sparse = table.sparse_rows
    random = np.random.default_rng(seed)
    table = table._replace(quality=random.random(table.dense.shape[0]))
    plain = QualityMira({}, 0.1, 0.9)
    every = [one for sentence in sentences for one in sentence.translations]
    plain.quality = dict(zip(map(id, every), table.quality.tolist(), strict=True))
    state = start_state(np.zeros(len(DENSE_NAMES) + sparse.key.shape[0]))
    order = random.permutation(len(sentences))
    mira_pass(mira_lists(table), sparse, state, order, 0.1, 0.9)
    for i in order:
        plain.step(sentences[i])
    names = [*DENSE_NAMES, *sparse.name.to_list()]
    found = dict(zip(names, mean_weights(state).tolist(), strict=True))
    assert found == pytest.approx(dict.fromkeys(names, 0.0) | plain.mean(), abs=1e-9)


def test_pairs_for_quality():
    table = make_table(random_sentences(1, 10))
    quality = np.random.default_rng(1).random(table.dense.shape[0])
    pairs = draw_pairs(table._replace(quality=quality), Pro(), (1,))
    assert (quality[pairs[:, 0]] - quality[pairs[:, 1]]).min() >= 0.05
    with input_error(5):
        draw_pairs(table._replace(quality=quality / 100), Pro(), (1,))


@pytest.mark.parametrize(
    ("settings", "options", "facts"),
    [
        (ForestMert(), {}, ("pro", "kbest-mira", "mert")),
        (Mert(), {"references": ()}, "bleu"),
        (Mert(), {"quality": "chrF", "references": ()}, "chrf"),
        (Mert(), {"references": [["x"] * 20]}, ("list:", "BLEU", 0)),
        (Mert(), {"references": [["x"] * 3]}, ("list:", 19)),
        (Mert(), {"quality": "equal"}, "equal:"),
        (Mert(), {"quality": "few"}, ("few:", 20, 201)),
        (Mert(), {"quality": "ref0"}, "ref0:1:"),
        (Mert(), {"quality": np.zeros((201, 2))}, ("quality", "201x2", 201)),
        (Mert(), {"quality": [[0, np.nan]]}, ("quality[0, 1]", "nan")),
    ],
)
def test_errors(files, monkeypatch, settings, options, facts):
    monkeypatch.chdir(files)
    (files / "equal").write_text("1\n" * 201)
    (files / "few").write_text("1\n" * 20)
    options = {"references": references_of(files)} | options
    with input_error(facts):
        tune_nbest(["list"], *options.pop("references"), tuner=settings, **options)


@pytest.mark.parametrize("settings", TUNERS)
def test_only_a_search_starts_from_1(tmp_path, settings):
    """Also with a feature of our decoder, from whose own start weights the tuners of a run start."""
    (tmp_path / "list").write_text("0 ||| a ||| f=1 LanguageModel=2\n0 ||| b ||| f=2\n")
    text = read_all_but_lists([tmp_path / "list"], [["a"]], {}, read_measure("ter"))
    start = prepare_nbest(text, settings).all_start_weights.to_dict()
    assert start == ({"f": 1.0, "LanguageModel": 1.0} if settings.searches_lines else {})


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["f", "g"], {"f": 1.0, "g": 1.0}), (["f", "LanguageModel"], START_WEIGHTS), ([], {})],
)
def test_the_start_of_a_run(names, expected):
    assert default_start(names).to_dict() == expected


@pytest.mark.parametrize("options", [{"quality": "none"}, {"features": {"lm": "none"}}])
def test_other_files_are_read_before_the_lists(files, monkeypatch, options):
    monkeypatch.chdir(files)
    (files / "list").write_text("not a list\n")
    (files / "none").write_text("1\nx\n")
    with input_error("none:2:"):
        tune_nbest(["list"], *references_of(files), tuner=KBestMira(), **options)


@pytest.mark.parametrize("settings", TUNERS)
def test_weights_of_features_that_are_not_in_the_lists_are_kept(files, settings):
    start = make_weights({"good_0": 1.0, "UnknownWordPenalty0": 0.5})
    found = tune_nbest([files / "list"], *references_of(files), tuner=settings, start=start)
    assert found.weights.to_dict()["UnknownWordPenalty0"] == 0.5


def test_passes_of_mira_with_very_low_quality_are_kept(tmp_path):
    (tmp_path / "list").write_text("0 ||| b c d ||| f=1\n0 ||| b c d e ||| g=1\n")
    found = tune_nbest([tmp_path / "list"], ["a"], tuner=KBestMira(), quality="ter")
    assert found.quality_points == pytest.approx(300)


@pytest.mark.parametrize("quality", ["chrf", [0.0, 1.0]])
def test_only_bleu_has_a_tokenizer(tmp_path, quality):
    (tmp_path / "list").write_text("0 ||| a ||| f=1\n0 ||| b ||| f=2\n")
    with input_error("tokenizer", "none"):
        tune_nbest([tmp_path / "list"], ["a"], tuner=KBestMira(), tokenizer="none", quality=quality)
    stated, unstated = (
        tune_nbest([tmp_path / "list"], ["a"], tuner=KBestMira(), quality=quality, **one)
        for one in ({"tokenizer": "13a"}, {})
    )
    assert stated.quality_points == unstated.quality_points


@pytest.mark.parametrize(("tokenizer", "is_equal"), [("13a", True), ("none", False)])
def test_bleu_has_a_tokenizer(tmp_path, tokenizer, is_equal):
    """Only a tokenizer splits off the comma."""
    (tmp_path / "list").write_text("0 ||| a, b c d e ||| f=1\n")
    found = tune_nbest([tmp_path / "list"], ["a , b c d e"], tuner=KBestMira(), tokenizer=tokenizer)
    assert (found.quality_points == pytest.approx(100)) == is_equal


def test_command(files, monkeypatch, capsys, refused):
    monkeypatch.chdir(files)
    command = ["tune", "--tuner", "kbest-mira", "--nbest", "list", "--reference", "ref0", "--output", "-"]
    assert main(command) == 0
    found = capsys.readouterr()
    assert {line.split("\t")[0] for line in found.out.splitlines()} <= {"good_0", "good_1", "bad", "rare"}
    assert found.err == ""
    refused([*command, "--quality=ter", "--tokenizer=none"], ("tokenizer", "none", "quality"))
    assert main([*command, "--quality=TER", "--output=w.h5", "--c=0.5", "--seed=7"]) == 0
    made = header_of("w.h5", FORMAT).attributes
    recorded = json.loads(made["settings"])
    assert (made["kind"], made["tuner"], made["translations"]) == ("tuned-weights", "kbest-mira", 200)
    assert (recorded["c"], recorded["seed"], recorded["quality"]) == (0.5, 7, "ter")
    assert "tokenizer" not in recorded
    for stated, tokenizer in ([], "13a"), (["--tokenizer=none"], "none"):
        assert main([*command, "--output=w.h5", *stated]) == 0
        assert json.loads(header_of("w.h5", FORMAT).attributes["settings"])["tokenizer"] == tokenizer


def test_mert_refuses_many_features(tmp_path):
    (tmp_path / "list").write_text("".join(f"0 ||| a b c d ||| f{i}=1 ||| 0\n" for i in range(501)))
    with input_error(501, "mert", 500):
        tune_nbest([tmp_path / "list"], ["a b c d"], tuner=Mert())
    found = tune_nbest([tmp_path / "list"], ["a b c d"], tuner=KBestMira())
    assert found.quality_points == pytest.approx(100)


def test_command_for_moses(files, capsys):
    """Moses does not list features that are not to be tuned; their weights stay."""
    (files / "moses.ini").write_text("[weight]\ngood= 0 0\nUnknownWordPenalty0= 1\n")
    given = {"reference": "ref0", "start": "moses.ini", "output": "w.ini"}
    options = [f"--{name}={files / file}" for name, file in given.items()]
    assert main(["tune", "--tuner=mert", f"--nbest={files / 'list'}", *options]) == 0
    captured = capsys.readouterr()
    check_facts(captured.out, "100.00", 20, 200)
    assert "BLEU: sacrebleu nrefs:1|case:mixed|eff:no|tok:13a|smooth:none|version:" in captured.out
    check_facts(captured.err, "UnknownWordPenalty0")
    written = (files / "w.ini").read_text().splitlines()
    assert [line.partition("=")[0] for line in written[:2]] == ["[weight]", "good"]
    assert "UnknownWordPenalty0= 1.0" in written


def test_a_quality_stays_with_its_translation(tmp_path):
    """Lines may be in any order of the sentences, and of equal translations only the first is kept."""
    lines = ["1 ||| x ||| f=1", "0 ||| y ||| f=1", "1 ||| x ||| f=1", "1 ||| z ||| f=1"]
    (tmp_path / "list").write_text("\n".join(lines))
    text = read_all_but_lists([tmp_path / "list"], [], {}, read_measure([1.0, 2.0, 3.0, 5.0]))
    table = prepare_nbest(text, KBestMira()).problem.table
    assert (table.text.to_list(), table.quality.tolist()) == (["y", "x", "z"], [0.25, 0.0, 1.0])
