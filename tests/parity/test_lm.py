"""The language model compared with KenLM: recorded models of lmplz, and the package if it is installed."""

import numpy as np
import pytest
from tests.naive.strategies import load_arpa, to_arpa

from itersel.lm.arpa import Arpa, parse_arpa
from itersel.lm.binary import compile_model, load_model, score_lines
from itersel.lm.estimate import estimate
from itersel.lm.ngrams import NGrams
from itersel.lm.numbered_text import read_numbered_text
from itersel.storage.files import read_bytes, read_lines

pytestmark = pytest.mark.slow

ODD_LINES = ["", "the", "zyzzyva", "zyzzyva zyzzyva the zyzzyva", "<unk> the file", ". " * 30]
ODD_LINES += ["click the zyzzyva button , then choose ok ."]


@pytest.fixture(scope="module", params=[3, 5])
def order(request):
    return int(request.param)


@pytest.fixture(scope="module")
def recorded(parity, order):
    return parity / "lm" / f"train.en.o{order}.arpa.gz"


@pytest.fixture(scope="module")
def estimated(parity, order):
    return in_memory(estimate(read_numbered_text([parity / "corpus" / "train.en.gz"]), order))


def in_memory(model):
    ngrams = []
    for order in range(1, len(model.counts) + 1):
        columns = zip(*model.blocks(order), strict=True)
        ngrams.append(NGrams(*(np.concatenate(column) for column in columns)))
    return Arpa(model.words, ngrams)


@pytest.fixture(scope="module")
def compiled(recorded, tmp_path_factory):
    path = tmp_path_factory.mktemp("lm") / "lm.bin"
    compile_model(recorded, path)
    return path


def sort(words):
    return np.lexsort(words.T[::-1])


def test_estimated_model_equals_lmplz(estimated, recorded):
    expected = parse_arpa([read_bytes(recorded)], recorded)
    assert estimated.words == expected.words
    assert len(estimated.ngrams) == len(expected.ngrams)
    for found, wanted in zip(estimated.ngrams, expected.ngrams, strict=True):
        a, b = sort(found.words), sort(wanted.words)
        np.testing.assert_array_equal(found.words[a], wanted.words[b])
        np.testing.assert_allclose(found.log10_probability[a], wanted.log10_probability[b], rtol=0, atol=1e-5)
        np.testing.assert_allclose(found.backoff[a], wanted.backoff[b], rtol=0, atol=1e-5)


def test_scores_equal_kenlm(kenlm, parity, recorded, compiled):
    reference, lines = kenlm.Model(str(recorded)), read_lines(parity / "corpus" / "dev.en.gz")
    scores, expected, unknown, expected_unknown = of_both(reference, load_model(compiled), lines)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-3)
    assert unknown == expected_unknown


def of_both(reference, model, lines):
    """Return KenLM's and our scores of the lines and of unusual lines, and the numbers of unknown words."""
    lines = lines + ODD_LINES
    scores, unknown = score_lines(model, lines)
    expected = [sum(found[2] for found in reference.full_scores(line, eos=False)) for line in lines]
    return scores, [reference.score(line) for line in lines], unknown.tolist(), expected


def test_pruned_model_with_open_vocabulary_scores_as_in_kenlm(kenlm, parity, tmp_path):
    vocabulary = tmp_path / "vocabulary"
    vocabulary.write_text("\n".join(read_lines(parity / "corpus" / "dev.en.gz")[:100]))
    model = in_memory(estimate(read_numbered_text([parity / "corpus" / "devtest.en.gz"], vocabulary), 4))
    # KenLM requires every prefix of an n-gram, so suffixes are pruned.
    trigrams, fourgrams = model.ngrams[2:]
    fourgrams = keep(fourgrams, np.arange(fourgrams.words.shape[0]) % 3 == 0)
    prefixes = {tuple(words) for words in fourgrams.words[:, :-1].tolist()}
    wanted = [i % 4 == 0 or tuple(words) in prefixes for i, words in enumerate(trigrams.words.tolist())]
    trigrams = keep(trigrams, np.array(wanted))
    suffixes = {tuple(words) for words in fourgrams.words[:, 1:].tolist()}
    assert len(suffixes - {tuple(words) for words in trigrams.words.tolist()}) > 1000
    kept = {
        tuple(model.words[word] for word in words): (probability, backoff)
        for grams in (*model.ngrams[:2], trigrams, fourgrams)
        for words, probability, backoff in zip(*(column.tolist() for column in grams), strict=True)
    }
    pruned = load_arpa(to_arpa(kept, 4), tmp_path)
    lines = read_lines(parity / "corpus" / "dev.en.gz")[:200]
    reference = kenlm.Model(str(tmp_path / "lm.arpa"))
    scores, expected, unknown, expected_unknown = of_both(reference, pruned, lines)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-3)
    assert unknown == expected_unknown


def keep(grams, rows):
    return NGrams(*(column[rows] for column in grams))
