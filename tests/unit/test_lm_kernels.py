"""Language model kernels compared with their naive versions; how states are combined."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import lm as naive
from tests.naive.strategies import load_arpa, to_arpa

from itersel.lm import lookup_kernels, state_kernels
from itersel.lm.compose_kernels import compose
from itersel.lm.edge_pair_kernels import PAIR_BITS
from itersel.lm.state_kernels import begin_state, word_state

WORDS = ["<unk>", "<s>", "</s>", "a", "b", "c"]


@st.composite
def models(draw: st.DrawFn) -> tuple[naive.Model, int]:
    """Draw pruned models: prefixes and suffixes of a listed n-gram may be missing."""
    order, number = draw(st.integers(1, 4)), st.integers(-40, 0).map(lambda i: i / 8)
    values = st.tuples(number, number)
    model = {(word,): draw(values) for word in WORDS}
    for n in range(2, order + 1):
        model |= draw(st.dictionaries(st.tuples(*[st.sampled_from(WORDS)] * n), values, max_size=8))
    # The highest order has no backoff.
    return {ngram: (p, b if len(ngram) < order else 0.0) for ngram, (p, b) in model.items()}, order


@given(models(), st.sampled_from(WORDS))
def test_score_word_equals_the_definition(tmp_path, drawn: tuple[naive.Model, int], left: str) -> None:
    model, order = drawn
    compiled = load_arpa(to_arpa(model, order), tmp_path).arrays
    # Listed n-grams as contexts, longer than the model uses, because random contexts would rarely back off.
    for context in [(), *model, *((left, *ngram) for ngram in model)]:
        array = np.array([*map(WORDS.index, context), 0], np.int32)
        for word in range(len(WORDS)):
            score, used = lookup_kernels.score_word(compiled, array, len(context), word)
            history = context[max(0, len(context) - order + 1) :]
            expected, least = naive.score_word(model, history, WORDS[word])
            assert score == pytest.approx(expected, abs=1e-5)
            # Longer if the n-gram was added as an infix of a listed one.
            assert least <= used <= len(history) + 1


@given(models(), st.lists(st.lists(st.integers(0, 5), max_size=5), max_size=4))
def test_score_sentences_equals_the_definition(tmp_path, drawn, sentences: list[list[int]]) -> None:
    model, order = drawn
    compiled = load_arpa(to_arpa(model, order), tmp_path).arrays
    offset = np.cumsum([0, *(len(s) + 2 for s in sentences)])
    words = np.array([word for s in sentences for word in (1, *s, 2)], np.int32)
    found = lookup_kernels.score_sentences(compiled, words, offset)
    expected = [naive.score_sentence(model, order, [WORDS[i] for i in s]) for s in sentences]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@given(models())
def test_every_infix_is_found_with_correct_flags(tmp_path, drawn: tuple[naive.Model, int]) -> None:
    model, order = drawn
    compiled = load_arpa(to_arpa(model, order), tmp_path).arrays
    listed = {ngram[i:j] for ngram in model for i in range(len(ngram)) for j in range(i + 1, len(ngram) + 1)}
    contexts = {ngram[:-1] for ngram in listed if len(ngram) > 1}
    contexts |= {ngram for ngram, (_, backoff) in model.items() if backoff != 0}
    slots = 0
    for n in range(1, order + 1):
        for ngram in itertools.product(range(len(WORDS)), repeat=n):
            words = tuple(WORDS[i] for i in ngram)
            if n == 1:
                flags = int(compiled.unigram_flags[ngram[0]])
            else:
                row = lookup_kernels.find(compiled, lookup_kernels.ngram_keys(np.array([ngram], np.int32))[0])
                assert (row >= 0) == (words in listed)
                if row < 0:
                    continue
                slots += 1
                flags = int(compiled.slots[row, 0]) % 4
                if words in model:
                    np.testing.assert_allclose(compiled.values[row, 2:], model[words], rtol=1e-6)
            left = any(longer[1:] == words for longer in listed)
            # a suffix of a context is also a context
            right = any(context[-len(words) :] == words for context in contexts)
            assert flags == left * lookup_kernels.EXTENDS_LEFT + right * lookup_kernels.EXTENDS_RIGHT
    assert np.count_nonzero(compiled.slots[:, 0]) == slots


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=6))
def test_keys_equal_the_naive_ones(words: list[int]) -> None:
    expected = int(lookup_kernels.FIRST_KEY)
    key = lookup_kernels.FIRST_KEY
    for word in reversed(words):
        expected = naive.extend_key(expected, word)
        key = lookup_kernels.extend_key(np.uint64(key), word)
    assert int(key) == int(lookup_kernels.ngram_keys(np.array([words], np.int32))[0]) == expected


def test_insert_finds_every_slot_and_reports_duplicate_keys() -> None:
    # Keys that all belong in the same slot of eight: bits 2 to 4 are equal.
    keys = np.array([4 + 32 * i for i in range(5)], np.uint64)
    rows = np.column_stack([keys | np.uint64(3), np.arange(5, dtype=np.uint64)])
    slots = np.zeros((8, 2), np.uint64)
    assert lookup_kernels.insert(slots, rows) == -1
    np.testing.assert_array_equal(slots[1:6], rows)
    values = slots.view(np.float32).reshape(8, 4)
    model = lookup_kernels.ModelArrays(2, np.zeros((1, 2), np.float32), np.zeros(1, np.uint8), slots, values)
    assert [lookup_kernels.find(model, key) for key in keys] == [1, 2, 3, 4, 5]
    assert lookup_kernels.find(model, np.uint64(4 + 32 * 5)) == -1
    assert lookup_kernels.insert(slots, rows[2:]) == 0


# Deliberately not closed under contexts: "b c" has a backoff and no extension, "c b a" has no suffix "b a".
MODEL: naive.Model = {
    ("<unk>",): (-1.1, 0), ("<s>",): (-99, -0.3), ("</s>",): (-0.9, 0),
    ("a",): (-0.7, -0.2), ("b",): (-0.6, -0.4), ("c",): (-1.3, -0.1),
    ("<s>", "a"): (-0.2, -0.15), ("a", "b"): (-0.4, -0.25), ("b", "a"): (-0.3, -0.35),
    ("b", "c"): (-0.5, -0.45), ("c", "</s>"): (-0.8, 0), ("c", "b"): (-0.1, -0.05),
    ("<s>", "a", "b"): (-0.11, 0), ("a", "b", "a"): (-0.22, 0),
    ("b", "a", "b"): (-0.33, 0), ("c", "b", "a"): (-0.44, 0),
}  # fmt: skip


@pytest.fixture(scope="module", params=[3, 2, 1])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """Return a model of each order; the longest n-grams have no backoff."""
    order = request.param
    short = {ngram: (p, b * (len(ngram) < order)) for ngram, (p, b) in MODEL.items() if len(ngram) <= order}
    return load_arpa(to_arpa(short, order), tmp_path_factory.mktemp("lm"))


def states_of(model, words: int = 1 << 10, pairs: int = 1 << 12) -> state_kernels.States:
    states = state_kernels.make_states(model.order, words, pairs)
    state_kernels.reset_states(states)
    return states


# tables that are large enough, that are often full, and edges whose pairs are not remembered
@pytest.mark.parametrize(("pairs", "first_edge"), [(1 << 12, 1), (4, 1), (1 << 12, 1 << PAIR_BITS)])
@given(data=st.data())
def test_any_bracketing_gives_the_probability_of_the_sentence(model, pairs, first_edge, data) -> None:
    words = data.draw(st.lists(st.sampled_from(["a", "b", "c", "new"]), max_size=9))
    ids = np.array([model.ids.get(word, 0) for word in words], np.int32)
    start, end = model.ids["<s>"], model.ids["</s>"]
    arrays = model.arrays
    states = states_of(model, max(1 << 10, 4 * first_edge), pairs)
    states.counts[0] = first_edge
    pieces = [(begin_state(arrays, states, start), 0.0)]
    pieces += [(word_state(arrays, states, i), float(arrays.unigram[i, 0])) for i in [*ids, end]]
    while len(pieces) > 1:
        at = data.draw(st.integers(0, len(pieces) - 2))
        (a, score_a), (b, score_b) = pieces[at : at + 2]
        state, change = compose(arrays, states, a, b)
        pieces[at : at + 2] = [(state, score_a + score_b + change)]
    assert not states.counts[1]
    whole = np.array([start, *ids, end], np.int32)
    expected = lookup_kernels.score_sentences(arrays, whole, np.array([0, whole.size]))[0]
    assert pieces[0][1] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("model", [3], indirect=True)
def test_words_that_no_context_can_affect_share_a_state(model) -> None:
    states = states_of(model)
    a, b, c, unknown = (word_state(model.arrays, states, model.ids.get(w, 0)) for w in ["a", "b", "c", "new"])
    assert compose(model.arrays, states, unknown, unknown)[0] == unknown
    # a word to the left of c can still change its score
    assert compose(model.arrays, states, c, unknown)[0] != unknown
    assert compose(model.arrays, states, a, b)[0] != compose(model.arrays, states, c, b)[0]


def test_full_tables_are_reported(model) -> None:
    states = states_of(model, 2, 4)
    for word in ["a", "b", "c"]:
        word_state(model.arrays, states, model.ids[word])
    assert states.counts[1] == 1
