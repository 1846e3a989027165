"""The state monoid: a sentence's probability does not depend on how its pieces are combined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.lm.binary import compile_model, load_model
from itersel.lm.kernels import score_sentences
from itersel.lm.state_kernels import (
    EMPTY_STATE,
    PAIR_BITS,
    begin_state,
    compose,
    make_states,
    reset_states,
    word_state,
)

# Deliberately not closed under contexts: "b c" has a backoff and no extension, "c b a" has no suffix "b a".
ARPA = """\\data\\
ngram 1=6
ngram 2=6
ngram 3=4

\\1-grams:
-1.1\t<unk>\t0
-99\t<s>\t-0.3
-0.9\t</s>\t0
-0.7\ta\t-0.2
-0.6\tb\t-0.4
-1.3\tc\t-0.1

\\2-grams:
-0.2\t<s> a\t-0.15
-0.4\ta b\t-0.25
-0.3\tb a\t-0.35
-0.5\tb c\t-0.45
-0.8\tc </s>\t0
-0.1\tc b\t-0.05

\\3-grams:
-0.11\t<s> a b
-0.22\ta b a
-0.33\tb a b
-0.44\tc b a

\\end\\
"""


@pytest.fixture(scope="module", params=[3, 2, 1])
def model(request, tmp_path_factory):
    """Models of three orders."""
    folder = tmp_path_factory.mktemp("model")
    head, *sections = ARPA.removesuffix("\\end\\\n").split("\n\n")
    counts = head.splitlines()[: 1 + request.param]
    # the longest n-grams have no backoff
    highest = sections[request.param - 1].splitlines()
    sections[request.param - 1] = "\n".join("\t".join(line.split("\t")[:2]) for line in highest)
    text = "\n\n".join(["\n".join(counts), *sections[: request.param], "\\end\\\n"])
    (folder / "lm.arpa").write_text(text)
    compile_model(folder / "lm.arpa", folder / "lm.bin")
    return load_model(folder / "lm.bin", request.param)


# tables that are large enough, that are often full, and edges whose pairs are not remembered
@pytest.mark.parametrize(("pairs", "first_edge"), [(1 << 12, 1), (4, 1), (1 << 12, 1 << PAIR_BITS)])
@given(data=st.data())
def test_any_bracketing_gives_the_probability_of_the_sentence(model, pairs, first_edge, data):
    words = data.draw(st.lists(st.sampled_from(["a", "b", "c", "new"]), max_size=9))
    ids = np.array([model.ids.get(word, 0) for word in words], np.int32)
    start, end = model.ids["<s>"], model.ids["</s>"]
    arrays = model.arrays
    states = make_states(model.order, max(1 << 10, 4 * first_edge), pairs)
    reset_states(states)
    states.counts[0] = first_edge
    pieces = [(begin_state(arrays, states, start), 0.0)]
    pieces += [(word_state(arrays, states, i), float(arrays.unigram[i, 0])) for i in [*ids, end]]
    while len(pieces) > 1:
        at = data.draw(st.integers(0, len(pieces) - 2))
        (a, score_a), (b, score_b) = pieces[at : at + 2]
        state, change = compose(arrays, states, a, b)
        pieces[at : at + 2] = [(state, score_a + score_b + change)]
    assert not states.counts[1]
    expected = score_sentences(arrays, ids, np.array([0, len(ids)]), start, end)[0]
    assert pieces[0][1] == pytest.approx(expected, abs=1e-5)


def test_the_empty_piece_changes_nothing(model):
    states = make_states(model.order, 1 << 10, 1 << 12)
    reset_states(states)
    state = word_state(model.arrays, states, model.ids["a"])
    assert compose(model.arrays, states, state, EMPTY_STATE) == (state, 0.0)
    assert compose(model.arrays, states, EMPTY_STATE, state) == (state, 0.0)


@pytest.mark.parametrize("model", [3], indirect=True)
def test_words_that_no_context_can_affect_share_a_state(model):
    states = make_states(3, 1 << 10, 1 << 12)
    reset_states(states)
    a, b, c, unknown = (word_state(model.arrays, states, model.ids.get(w, 0)) for w in ["a", "b", "c", "new"])
    after = [compose(model.arrays, states, x, unknown)[0] for x in (unknown, c)]
    assert after[0] == unknown
    assert after[1] != after[0]  # a word to the left of c can still change its score
    assert compose(model.arrays, states, a, b)[0] != compose(model.arrays, states, c, b)[0]


def test_full_tables_are_reported(model):
    states = make_states(model.order, 2, 4)
    reset_states(states)
    for word in ["a", "b", "c"]:
        word_state(model.arrays, states, model.ids[word])
    assert states.counts[1] == 1
