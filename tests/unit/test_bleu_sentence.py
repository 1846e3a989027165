"""Sentence BLEU compared with closed forms, sacrebleu and plain Python."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from tests.naive import learning as naive
from tests.naive.strategies import make_references

from itersel.bleu import bleu_kernels
from itersel.bleu.bleu_kernels import ngram_matches
from itersel.bleu.names import SENTENCE_BLEUS
from itersel.bleu.sentence import SentenceBleu

Words = list[int]
SENTENCE = st.lists(st.integers(0, 3), max_size=9)
KBEST = st.lists(SENTENCE, min_size=1, max_size=5)
WORDS = SENTENCE.filter(bool)
REFERENCES = st.one_of(SENTENCE.map(lambda one: [one]), st.lists(WORDS, min_size=2, max_size=4))
LONG = st.lists(st.integers(0, 3), min_size=4, max_size=9)
PERFECT = [5, 6, 7, 8, 9]


def text(words: Words) -> str:
    return " ".join(map(str, words))


def flat(hypotheses: list[Words]) -> tuple[np.ndarray, np.ndarray]:
    offset = np.cumsum([0] + [len(words) for words in hypotheses]).astype(np.int64)
    return np.array([word for words in hypotheses for word in words], np.int32), offset


def bleu_of(metric: SentenceBleu, hypotheses: list[Words], *references: Words) -> list[float]:
    word, offset = flat(hypotheses)
    made = make_references(*references)
    return metric.of_matches(ngram_matches(word, offset, made), np.diff(offset), made.lengths).tolist()


@given(KBEST)
def test_numbers_of_ngrams(texts: list[Words]) -> None:
    expected = [naive.counts(words, [])[1] for words in texts]
    lengths = np.array(list(map(len, texts)))
    assert bleu_kernels.ngram_counts(lengths).tolist() == expected
    orders = range(1, naive.ORDER + 1)
    assert [[bleu_kernels.ngram_count(int(h), n) for n in orders] for h in lengths] == expected


@pytest.mark.parametrize(
    ("variant", "hypothesis", "reference", "expected"),
    [
        # Liang et al. sum 1/16 + 1/8 + 1/4 + 1/2; Nakov et al. expect one word more than in the reference
        ("liang", PERFECT, PERFECT, 15 / 16),
        ("lin", PERFECT, PERFECT, 1),
        ("papineni", PERFECT, PERFECT, 1),
        ("chiang", PERFECT, PERFECT, 1),
        ("nakov", PERFECT, PERFECT, math.exp(1 - 6 / 5)),
        # 4 words against 5: precisions 3/4, 1/3, 0; brevity exp(1 - 5/4)
        ("liang", [1, 2, 9, 3], [1, 2, 3, 4, 5], math.exp(-1 / 4) * (3 / 4 / 16 + math.sqrt(3 / 4 / 3) / 8)),
        # a reference of 2 words: M = 2; precisions 1/2 and (0+1)/(1+1)
        ("lin", [1, 9], [1, 2], 1 / 2),
        ("nakov", [1, 9], [1, 2], math.exp(1 - 3 / 2) / 2),
        *((variant, [7], [], 0) for variant in SENTENCE_BLEUS),
    ],
)
def test_by_hand(variant: str, hypothesis: Words, reference: Words, expected: float) -> None:
    assert bleu_of(SentenceBleu(variant), [hypothesis, []], reference) == pytest.approx([expected, 0])


def test_words_of_large_vocabularies() -> None:
    reference = [2**31 - 1, 0, 2**31 - 1]
    word, offset = flat([reference, [0, 2**31 - 1]])
    matches = bleu_kernels.ngram_matches(word, offset, make_references(reference))
    assert matches.tolist() == [[3, 2, 1, 0], [2, 1, 0, 0]]


@given(
    st.sampled_from(sorted(SENTENCE_BLEUS)), st.lists(st.tuples(KBEST, REFERENCES), min_size=1, max_size=3)
)
def test_equals_plain_python(variant: str, sentences: list[tuple[list[Words], list[Words]]]) -> None:
    ours, plain = SentenceBleu(variant), naive.Bleu(variant)
    for hypotheses, references in sentences:
        assert ours.against(make_references(*references).lengths).length_factor == plain.words(*references)
        expected = plain.of_all(hypotheses, *references)
        assert bleu_of(ours, hypotheses, *references) == pytest.approx(expected, abs=1e-12)


@given(LONG, st.lists(LONG, min_size=1, max_size=4))
def test_equals_sacrebleu(hypothesis: Words, references: list[Words]) -> None:
    texts = text(hypothesis), list(map(text, references))
    for variant, method in (("papineni", "none"), ("lin", "add-k")):
        theirs = BLEU(smooth_method=method, smooth_value=1, tokenize="none", effective_order=False)
        has_match = bool(set(hypothesis) & set().union(*references))
        expected = theirs.sentence_score(*texts).score / 100 if has_match else 0
        assert bleu_of(SentenceBleu(variant), [hypothesis], *references) == pytest.approx(
            [expected], abs=1e-9
        )


@given(st.lists(st.tuples(LONG, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=5))
def test_corpus_bleu_equals_sacrebleu(sentences: list[tuple[Words, list[Words]]]) -> None:
    """Also if sentences have different numbers of references."""
    statistics = []
    for hypothesis, words in sentences:
        references, length = make_references(*words), np.array([len(hypothesis)])
        matches = bleu_kernels.ngram_matches(*flat([hypothesis]), references)
        statistics.append(
            (*matches[0], len(hypothesis), *bleu_kernels.closest_lengths(references.lengths.each, length))
        )
    columns = np.array(statistics, np.int32)
    ours = bleu_kernels.Statistics(
        np.ascontiguousarray(columns[:, :4]), *np.ascontiguousarray(columns[:, 4:].T)
    )
    texts = [text(hypothesis) for hypothesis, _ in sentences]
    others = map(list, itertools.zip_longest(*(map(text, words) for _, words in sentences)))
    theirs = BLEU(smooth_method="none", tokenize="none").corpus_score(texts, [*others])
    counts = np.zeros(bleu_kernels.COUNTS, np.int64)
    for row in range(len(sentences)):
        bleu_kernels.add_counts(counts, ours, row, 1)
    assert (counts[4], counts[8]) == (theirs.sys_len, theirs.ref_len)
    assert counts[:4].tolist() == theirs.counts
    assert 100 * bleu_kernels.bleu_of_counts(counts) == pytest.approx(theirs.score, abs=1e-9)
