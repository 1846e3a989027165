"""Sentence BLEU compared with closed forms, sacrebleu and plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from tests.naive import learning as naive

from itersel.grammar.references import make_references
from itersel.learn.bleu_kernels import (
    COUNTS,
    Statistics,
    add_counts,
    bleu_of_counts,
    closest_lengths,
    ngram_matches,
)
from itersel.learn.sentence_bleu import VARIANTS, SentenceBleu

Words = list[int]
SENTENCE = st.lists(st.integers(0, 3), max_size=9)
KBEST = st.lists(SENTENCE, min_size=1, max_size=5)
WORDS = SENTENCE.filter(bool)
REFERENCES = st.one_of(SENTENCE.map(lambda one: [one]), st.lists(WORDS, min_size=2, max_size=4))


LONG = st.lists(st.integers(0, 3), min_size=4, max_size=9)


def text(words: Words) -> str:
    return " ".join(map(str, words))


def flat(hypotheses: list[Words]) -> tuple[np.ndarray, np.ndarray]:
    offset = np.cumsum([0] + [len(words) for words in hypotheses]).astype(np.int64)
    return np.array([word for words in hypotheses for word in words], np.int32), offset


def score(scorer: SentenceBleu, hypotheses: list[Words], *references: Words) -> list[float]:
    return scorer.score(*flat(hypotheses), make_references(*references)).tolist()


def test_perfect_translation() -> None:
    reference = [5, 6, 7, 8, 9]
    # Liang et al. sum 1/16 + 1/8 + 1/4 + 1/2; Nakov et al. expect one word more than in the reference
    expected = {"liang": 15 / 16, "lin": 1, "papineni": 1, "chiang": 1, "nakov": math.exp(1 - 6 / 5)}
    for variant in VARIANTS:
        assert score(SentenceBleu(variant), [reference], reference) == pytest.approx([expected[variant]])


def test_liang_by_hand() -> None:
    # 4 words against 5: precisions 3/4, 1/3, 0; brevity exp(1 - 5/4)
    value = math.exp(-1 / 4) * (3 / 4 / 16 + math.sqrt(3 / 4 * 1 / 3) / 8)
    assert score(SentenceBleu("liang"), [[1, 2, 9, 3]], [1, 2, 3, 4, 5]) == pytest.approx([value])


def test_lin_and_nakov_by_hand() -> None:
    # a reference of 2 words: M = 2; precisions 1/2 and (0+1)/(1+1)
    assert score(SentenceBleu("lin"), [[1, 9]], [1, 2]) == pytest.approx([math.sqrt(1 / 2 * 1 / 2)])
    penalty = math.exp(1 - 3 / 2)
    assert score(SentenceBleu("nakov"), [[1, 9]], [1, 2]) == pytest.approx([penalty / 2])


@pytest.mark.parametrize("variant", VARIANTS)
def test_empty_translations_score_zero(variant: str) -> None:
    assert score(SentenceBleu(variant), [[], [7]], [1, 2]) == [0, 0]
    assert score(SentenceBleu(variant), [[], [7]], []) == [0, 0]
    assert score(SentenceBleu(variant), [[]], []) == [0]


def test_matches_are_clipped() -> None:
    # "the the the ..." of Papineni et al. 2002, section 2.1
    hypothesis, reference = [1] * 7, [1, 2, 3, 4, 1, 5]
    word, offset = flat([hypothesis])
    assert ngram_matches(word, offset, make_references(reference)).tolist() == [[2, 0, 0, 0]]


def test_words_of_large_vocabularies() -> None:
    reference = [2**31 - 1, 0, 2**31 - 1]
    word, offset = flat([reference, [0, 2**31 - 1]])
    matches = ngram_matches(word, offset, make_references(reference))
    assert matches.tolist() == [[3, 2, 1, 0], [2, 1, 0, 0]]


@given(KBEST, REFERENCES)
def test_matches_equal_plain_counts(hypotheses: list[Words], references: list[Words]) -> None:
    word, offset = flat(hypotheses)
    matches = ngram_matches(word, offset, make_references(*references))
    assert matches.tolist() == [naive.counts(words, *references)[0] for words in hypotheses]


@given(st.sampled_from(sorted(VARIANTS)), st.lists(st.tuples(KBEST, REFERENCES), min_size=1, max_size=3))
def test_equals_plain_python(variant: str, sentences: list[tuple[list[Words], list[Words]]]) -> None:
    ours, plain = SentenceBleu(variant), naive.Bleu(variant)
    for hypotheses, references in sentences:
        assert ours.target(make_references(*references)).words == plain.words(*references)
        expected = plain.score_all(hypotheses, *references)
        assert score(ours, hypotheses, *references) == pytest.approx(expected, abs=1e-12)


@given(LONG, st.lists(LONG, min_size=1, max_size=4))
def test_equals_sacrebleu(hypothesis: Words, references: list[Words]) -> None:
    texts = text(hypothesis), list(map(text, references))
    for variant, method in (("papineni", "none"), ("lin", "add-k")):
        theirs = BLEU(smooth_method=method, smooth_value=1, tokenize="none", effective_order=False)
        has_match = bool(set(hypothesis) & set().union(*references))
        expected = theirs.sentence_score(*texts).score / 100 if has_match else 0
        assert score(SentenceBleu(variant), [hypothesis], *references) == pytest.approx([expected], abs=1e-9)


@given(st.lists(st.tuples(LONG, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=5))
def test_corpus_bleu_equals_sacrebleu(sentences: list[tuple[Words, list[Words]]]) -> None:
    """Also if sentences have different numbers of references."""
    statistics = []
    for hypothesis, words in sentences:
        references, length = make_references(*words), np.array([len(hypothesis)])
        matches = ngram_matches(*flat([hypothesis]), references)
        statistics.append((*matches[0], len(hypothesis), *closest_lengths(references.lengths, length)))
    columns = np.array(statistics, np.int32)
    ours = Statistics(np.ascontiguousarray(columns[:, :4]), *np.ascontiguousarray(columns[:, 4:].T))
    texts = [
        [text(words[i]) if i < len(words) else None for _, words in sentences]
        for i in range(max(len(words) for _, words in sentences))
    ]
    theirs = BLEU(smooth_method="none", tokenize="none").corpus_score([text(h) for h, _ in sentences], texts)
    counts = np.zeros(COUNTS, np.int64)
    for row in range(len(sentences)):
        add_counts(counts, ours, row, 1)
    assert (counts[4], counts[8]) == (theirs.sys_len, theirs.ref_len)
    assert counts[:4].tolist() == theirs.counts
    assert 100 * bleu_of_counts(counts) == pytest.approx(theirs.score, abs=1e-9)


def test_several_references_by_hand() -> None:
    # Papineni et al. 2002, section 2.1: the first has "the" twice, the second once, so it matches twice
    the, cat, on, mat, there, a, is_ = range(7)
    first, second = [the, cat, is_, on, the, mat], [there, is_, a, cat, on, the, mat]
    word, offset = flat([[the] * 7])
    assert ngram_matches(word, offset, make_references(first, second)).tolist() == [[2, 0, 0, 0]]
    assert ngram_matches(word, offset, make_references(second)).tolist() == [[1, 0, 0, 0]]


def test_closest_reference_with_ties_to_the_shorter() -> None:
    lengths = np.array([4, 7, 8, 10, 11, 20])
    assert closest_lengths(np.array([9, 5, 12]), lengths).tolist() == [5, 5, 9, 9, 12, 12]


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=8), min_size=2, max_size=5))
def test_chiang_is_bleu_of_decayed_counts(texts: list[Words]) -> None:
    # A sentence scores the corpus BLEU of all so far, with weight 0.9^d for the one d sentences ago. Scaling
    # all counts makes no difference, so sacrebleu, which needs integers, gets 9^d * 10^(n-d).
    reference = [0, 1, 2, 0, 1]
    scorer = SentenceBleu("chiang")
    for last, words in enumerate(texts):
        found = score(scorer, [words], reference)
        decay = [9 ** (last - i) * 10**i for i in range(last + 1)]
        parts = [naive.counts(text, reference) for text in texts[: last + 1]]
        matches, totals = (
            [sum(d * part[side][n] for d, part in zip(decay, parts, strict=True)) for n in range(4)]
            for side in (0, 1)
        )
        length = sum(d * len(text) for d, text in zip(decay, texts, strict=False))
        theirs = BLEU.compute_bleu(matches, totals, length, 5 * sum(decay), smooth_method="none")
        assert found == pytest.approx([theirs.score / 100], abs=1e-9)


def test_first_translation_is_the_context() -> None:
    context = SentenceBleu("chiang")
    score(context, [[1, 2, 3, 4], [9, 9, 9, 9]], [1, 2, 3, 4])
    # 0.9 of a perfect sentence, and a sentence without a match: 3.6 of 7.6 words, 2.7/5.7, 1.8/3.8, 0.9/1.9
    expected = (3.6 / 7.6 * 2.7 / 5.7 * 1.8 / 3.8 * 0.9 / 1.9) ** (1 / 4)
    assert score(context, [[9, 9, 9, 9]], [1, 2, 3, 4]) == pytest.approx([expected])
