"""`itersel step kbest`, and tuning from lists to weights to translations."""

import json

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from tests.naive.learning import counts
from tests.naive.tuning import Translation, corpus_bleu
from tests.refusals import check_facts
from tests.steps import settings
from tests.tuning import further_references, make_decodable, tune_command, write_decoded

from itersel.cli.main import main
from itersel.config.search import KBestSettings
from itersel.decode.decoder import Decoder
from itersel.grammar.sentence_grammars import read_grammars
from itersel.lists.files import FORMAT
from itersel.lists.table import TUNER_DIGITS
from itersel.lm.binary import load_model
from itersel.storage.hdf5 import read_arrays
from itersel.storage.strings import StringTable
from itersel.tune.generate_lists import generate_lists
from itersel.tune.start_weights import START_WEIGHTS
from itersel.vectors.weights import FORMAT as WEIGHTS
from itersel.vectors.weights import make_weights, read_itersel_weights

SENTENCES = [("a b a b b", "x y x y z"), ("b a a b", "y x x y")]


def test_features_do_not_depend_on_the_order_of_summation(decodable, tmp_path):
    grammars, weights = read_grammars(decodable / "sentences.h5"), make_weights(START_WEIGHTS)
    decoder = Decoder(grammars, load_model(decodable / "model"))
    written = []
    for noise in (0.0, 1e-15):

        class Noisy:
            dense_names, weight_vectors = decoder.dense_names, decoder.weight_vectors

            def decode(self, *arguments):
                found = decoder.decode(*arguments)
                return found._replace(dense=found.dense + noise)  # noqa: B023

        path = tmp_path / f"{noise}.h5"
        generate_lists(path, grammars, Noisy(), weights, KBestSettings())
        written.append(path.read_bytes())
        dense_values = read_arrays(path, FORMAT, ("dense", "sentence_offset"))[0]["dense"]
        assert (dense_values == np.round(dense_values, TUNER_DIGITS)).all()
    assert written[0] == written[1]


@pytest.fixture(scope="module")
def decodable(tmp_path_factory):
    return make_decodable(tmp_path_factory.mktemp("decodable"), "a b c d e f\nb c d e\nx y z\n", SENTENCES)


def test_templates_of_lists_and_of_training(decodable, tmp_path, capsys):
    """Only features of the given templates get a weight; features of others do not occur at all."""
    given = settings(templates=["RBT", "Shape"])
    assert write_decoded("step kbest", decodable, tmp_path / "1.h5", *given) == 0
    arrays, _ = read_arrays(tmp_path / "1.h5", FORMAT)
    names = StringTable(arrays["feature_name"], arrays["feature_name_offset"]).to_list()
    assert {name[:4] for name in names} == {"RBT:", "Shap"}
    output, weights = tmp_path / "weights.h5", tmp_path / "start"
    weights.write_text("LanguageModel 1\nWordPenalty -1\n")
    start = ["--start", str(weights)]
    assert write_decoded("train", decodable, output, *start, *settings(templates=["RBT"])) == 0
    learned = [
        name for name in read_itersel_weights(output).to_dict() if ":" in name or name.startswith("Shape")
    ]
    assert learned
    assert all(name.startswith("RBT:") for name in learned)
    # the features of other templates have no weights, so they make no difference
    translations = []
    for templates in (["RBT"], ["R", "RBS", "RBT", "Shape"]):
        decode = ["--weights", str(output), *settings(templates=templates)]
        assert write_decoded("decode", decodable, tmp_path / "out", *decode) == 0
        translations.append((tmp_path / "out").read_text())
    assert translations[0] == translations[1]
    assert write_decoded("train", decodable, output, *start, *settings(templates=["RBT", "Lex"])) == 1
    check_facts(capsys.readouterr().err, "sentences.h5:", "'Lex'", "R, RBS, RBT, Shape")


@pytest.mark.parametrize("given", [{}, {"pop_limit": 30}], ids=["file", "settings"])
def test_grammars_need_a_language_model(decodable, tmp_path, refused, given):
    """Without one, a step expects given lists: neither grammars nor settings of a search."""
    sentences, weights, text = decodable / "sentences.h5", tmp_path / "weights", tmp_path / "text"
    weights.write_text("WordPenalty -1\n")
    text.write_text("x\ny\n")
    (tmp_path / "pieces").write_text(f"{sentences}\n")
    output = ["--output", tmp_path / "out"]

    found_in = ["'pop_limit'"] if given else [str(sentences)]
    refused(["train", "--sentences", sentences, *settings(**given), *output], "--language-model", *found_in)
    decode = ["decode", "--sentences", sentences, "--weights", weights, *settings(**given), *output]
    refused(decode, "--language-model", *found_in)

    scale = {"scoring": {"tokenizer": "13a"}, "mbr": {"gain": "chrf"}, **given}
    files = ["--inputs", tmp_path / "pieces", "--weights", weights, "--reference", text]
    found_in = ["'pop_limit'"] if given else [str(sentences)]
    refused(["step", "scale", *files, *settings(**scale), *output], "--language-model", *found_in)


@pytest.mark.parametrize("features", ["all", "dense"])
def test_decode_tune_decode(decodable, tmp_path, features):
    lists, given = tmp_path / "1.h5", settings(features=features)
    assert write_decoded("step kbest", decodable, lists, *given) == 0
    arrays, found = read_arrays(lists, FORMAT)
    assert found["iteration"] == 1
    used = {"features": features, "k_best": 100, "max_span": 15, "pop_limit": 200, "templates": None}
    assert json.loads(found["settings"]) == used
    assert (arrays["feature"].size > 0) == (features == "all")
    assert arrays["length"].tolist() == [5] * 100 + [4] * 3**4
    first = lists.read_bytes()
    assert write_decoded("step kbest", decodable, lists, *given) == 0
    assert lists.read_bytes() == first
    tuner = "mert" if features == "dense" else "kbest-mira"
    assert main(tune_command(tmp_path, [lists], tuner=tuner, iteration=1, files=1)) == 0
    weights = str(tmp_path / "out.h5")
    assert write_decoded("step kbest", decodable, tmp_path / "2.h5", *given, "--start", weights) == 0
    assert write_decoded("decode", decodable, tmp_path / "out", "--weights", weights) == 0
    translations = [line.split() for line in (tmp_path / "out").read_text().splitlines()]
    references = [["x", "y", "x", "y", "z"], ["y", "x", "x", "y"]]
    matches = [tuple(counts(*both)[0]) for both in zip(translations, references, strict=True)]
    chosen = [Translation(one, len(words), {}) for one, words in zip(matches, translations, strict=True)]
    bleu = read_arrays(tmp_path / "out.h5", WEIGHTS)[1]["quality"]
    # the lists contain all translations, so the best in the lists are the best overall
    assert corpus_bleu(chosen, 9) == pytest.approx(bleu / 100)
    assert translations == references or features == "dense"
    assert bleu > 50


@pytest.mark.parametrize("tuner", ["mert", "pro", "kbest-mira", "forest-mert"])
def test_several_references(decodable, tmp_path, tuner):
    """BLEU of the tuned weights equals sacrebleu's score of their translations."""
    step = "step forest" if tuner == "forest-mert" else "step kbest"
    lists, weights, output = (tmp_path / name for name in ("1.h5", "out.h5", "out"))
    dense = settings(features="dense")
    assert write_decoded(step, decodable, lists, *dense, sentences="several.h5") == 0
    assert main(tune_command(tmp_path, [lists], tuner=tuner, iteration=1, files=1)) == 0
    dense += ["--weights", str(weights)]
    assert write_decoded("decode", decodable, output, *dense, sentences="several.h5") == 0
    first = [target.split() for _, target in SENTENCES]
    texts = [[" ".join(words) or None for words in text] for text in (first, *further_references(first))]
    metric = BLEU(tokenize="none", smooth_method="none")
    expected = metric.corpus_score(output.read_text().splitlines(), texts)
    assert read_arrays(weights, WEIGHTS)[1]["quality"] == pytest.approx(expected.score)
    assert expected.score > 0
