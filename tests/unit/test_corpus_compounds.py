"""Splitting of compounds: the paper's example, and plain Python."""

import math

from hypothesis import given
from hypothesis import strategies as st

from itersel.corpus.compounds import MAXIMUM_LENGTH, CompoundSplitter

# Koehn & Knight 2003, section 3.2.
PAPER = {"aktionsplan": 852, "aktion": 960, "plan": 710, "aktions": 5, "akt": 224, "ion": 1}
ENDS = {"haus": 5, "tür": 5, "jahr": 5, "zeit": 5}


def test_split():
    for frequency, word, parts in (
        # Geometric means: aktionsplan 852; aktion-plan 825.6; aktions-plan 59.6; akt-ion-plan 54.2.
        (PAPER, "aktionsplan", "aktionsplan"),
        (PAPER | {"aktionsplan": 825}, "aktionsplan", "aktion plan"),
        (PAPER | {"aktionsplan": 826}, "aktionsplan", "aktionsplan"),
        # fillers only join parts
        (ENDS, "haustür", "haus tür"),
        (ENDS, "jahreszeit", "jahr zeit"),
        (ENDS, "jahrszeit", "jahr zeit"),
        (ENDS, "zeites", "zeites"),
        (ENDS, "jahrenzeit", "jahrenzeit"),
        # short words are not parts
        ({"ab": 100, "haus": 100}, "abhaus", "abhaus"),
        # ties keep the word, and then the shorter first part
        ({"abc": 2, "def": 8, "abcdef": 4}, "abcdef", "abcdef"),
        ({"abc": 3, "abcd": 3, "defg": 3, "efg": 3}, "abcdefg", "abc defg"),
    ):
        assert CompoundSplitter(frequency).split(word) == tuple(parts.split())


def test_long_words_and_those_with_other_characters_stay_whole():
    """Splitting 5,000 letters took 8 s, 100,000 letters hours."""
    splitter = CompoundSplitter(ENDS)
    assert splitter.split("haus" * (MAXIMUM_LENGTH // 4)) == ("haus",) * (MAXIMUM_LENGTH // 4)
    assert splitter.split("haus" * 50_000) == ("haus" * 50_000,)
    assert splitter.split_sentence("haustür haus-tür haus2tür") == "haus tür haus-tür haus2tür"


def all_splits(word, frequency):
    """Yield all ways to split a word into known parts."""
    if frequency.get(word, 0) and len(word) >= 3:
        yield (word,)
    for end in range(3, len(word)):
        part = word[:end]
        for filler in ("", "s", "es"):
            if frequency.get(part, 0) and word.startswith(filler, end):
                for rest in all_splits(word[end + len(filler) :], frequency):
                    yield (part, *rest)


@given(
    st.dictionaries(st.text("aes", min_size=1, max_size=5), st.integers(1, 9), max_size=12),
    st.text("aes", min_size=1, max_size=12),
)
def test_no_split_has_a_greater_mean(frequency, word):
    def mean(parts):
        return math.prod(frequency.get(part, 0) for part in parts) ** (1 / len(parts))

    chosen = CompoundSplitter(frequency).split(word)
    options = {(word,), *all_splits(word, frequency)}
    assert chosen in options
    assert mean(chosen) >= max(map(mean, options)) * (1 - 1e-12)
