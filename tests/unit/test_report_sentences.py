"""Groups of sentences, and the n-grams that some systems get right more often."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from itersel.report.page.groups import Frequency, group_sentences
from itersel.report.page.sentences import MOST, count_matches

WORDS = {"the": Frequency(500, 0), "katze": Frequency(3, 0), "in": Frequency(50, 60)}
SOURCE = ["the katze", "the the", "katze zug in 7 .", " ".join(["the"] * 61), "7 ."]
lines = st.lists(st.lists(st.sampled_from("abc"), max_size=8).map(" ".join), min_size=4, max_size=4)


def groups(systems, frequencies=WORDS):
    """Return the label of each sentence, by the beginning of the title."""

    def label(one, group):
        return one.labels[group] if isinstance(group, int) else [one.labels[each] for each in group]

    found = group_sentences(SOURCE, systems, frequencies)
    return {one.title.split()[0]: [label(one, group) for group in one.groups] for one in found}


def test_groups():
    nothing, copies = [""] * 5, ["katze sits", "the", "in 7 zug katze katze", "the", "7 ."]
    found = groups([nothing, copies])
    assert found["Length"] == ["1 to 10", "1 to 10", "1 to 10", "61 or more", "1 to 10"]
    # a word without letters is not rare, and 'zug' does not occur
    assert found["Frequency"] == ["2 to 9", "100 or more", "0", "100 or more", "100 or more"]
    # 'in' is also a target word; a word counts as often as it stands in both
    assert found["Source"] == [["0", "1"], ["0", "1"], ["0", "2"], ["0", "1"], ["0", "0"]]
    assert groups([nothing], None).keys() == {"Length"}


def naive_matches(references, translations):
    """Return for each n-gram how often each system shares it with the references."""

    def ngrams(line):
        words = line.split()
        return Counter(" ".join(words[i : i + n]) for n in (1, 2, 3, 4) for i in range(len(words) + 1 - n))

    found = {}
    for number in range(len(references[0])):
        allowed = [ngrams(lines[number]) for lines in references]
        for system, lines in enumerate(translations):
            for ngram, count in ngrams(lines[number]).items():
                most = max(one[ngram] for one in allowed)
                found.setdefault(ngram, [0] * len(translations))[system] += min(count, most)
    return found


@given(st.lists(lines, min_size=1, max_size=2), st.lists(lines, min_size=2, max_size=3))
def test_matches_of_ngrams(references, translations):
    found = count_matches(references, translations)
    expected = naive_matches(references, translations)
    assert {ngram: list(counts) for ngram, counts in found} == {
        ngram: counts for ngram, counts in expected.items() if max(counts) - min(counts) > 1
    }
    ratios = [(max(counts) + 1) / (min(counts) + 1) for _, counts in found]
    assert ratios == sorted(ratios, reverse=True)


def test_the_ngrams_that_differ_most_are_kept():
    text = [f"w{number}" for number in range(MOST + 50)]
    references = [[f"{word} {word} {word}" if i < MOST else f"{word} {word}" for i, word in enumerate(text)]]
    found = count_matches(references, [references[0], [""] * len(text)])
    assert len(found) == MOST
    assert {counts for _, counts in found} == {(3, 0)}
