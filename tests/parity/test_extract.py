"""Extraction compared with cdec's extractor, on German-English LibreOffice Help; see docs/extraction.md."""

import itertools
import math
from collections import defaultdict
from typing import NamedTuple

import pytest
from tests.naive import extractor as naive
from tests.text_grammars import grammar_of

from itersel.config.extraction import ExtractionSettings
from itersel.grammar.extract import extract_grammars
from itersel.grammar.index import build_index
from itersel.grammar.sentence_grammars import read_grammars
from itersel.grammar.text_format import read_grammar
from itersel.storage.files import read_lines, write_lines
from itersel.vectors.feature_names import GRAMMAR_FEATURES

pytestmark = pytest.mark.slow

# settings of the recorded run
SETTINGS = ExtractionSettings(max_span=15, max_symbols=5, max_nonterminals=2, min_gap=1, max_samples=300)
TOLERANCE = 1e-3

Rules = dict[naive.Rule, naive.Entry]


class Case(NamedTuple):
    """One recorded run: sentences, and both grammars of each."""

    sentences: list[naive.Words]
    ours: list[Rules]
    theirs: list[Rules]


def read_cdec(path):
    found = {}
    for rule in read_grammar(path):
        features = tuple(rule.features[name] for name in GRAMMAR_FEATURES)
        found[rule.source, rule.target] = naive.Entry(features, rule.alignment)
    return found


@pytest.fixture(scope="module")
def index(parity, tmp_path_factory):
    path = tmp_path_factory.mktemp("extract") / "index"
    texts = (parity / "corpus" / f"train.{language}.gz" for language in ("de", "en"))
    build_index(*texts, parity / "align" / "gdfa.gz", path)
    return path


@pytest.fixture(scope="module", params=["dev", "loo"])
def case(request, parity, index, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    train = parity / "corpus" / "train.de.gz"
    leave_one_out = request.param == "loo"
    count = 50 if leave_one_out else 30
    lines = read_lines(train if leave_one_out else parity / "corpus" / "dev.de.gz")[:count]
    write_lines(folder / "input", lines)
    write_lines(folder / "ids", map(str, range(count)))
    ids = folder / "ids" if leave_one_out else None
    extract_grammars(index, folder / "input", folder / "sentences.h5", leave_one_out=ids)
    grammars = read_grammars(folder / "sentences.h5")
    return Case(
        [tuple(line.split()) for line in lines],
        [grammar_of(grammars, sentence) for sentence in range(count)],
        [read_cdec(parity / "extract" / request.param / f"grammar.{i}.gz") for i in range(count)],
    )


class Corpus:
    """The source side of the training corpus, to count occurrences without an index."""

    def __init__(self, path):
        self.sentences = [tuple(line.split()) for line in read_lines(path)]
        self.having = defaultdict(set)
        for number, words in enumerate(self.sentences):
            for word in words:
                self.having[word].add(number)
        self.known = {}

    def is_sampled(self, source):
        """Return whether a source side, without X at its edges, occurs more often than the sample size."""
        blocks = blocks_of(source)
        if blocks not in self.known:
            candidates = set.intersection(*(self.having[word] for block in blocks for word in block))
            sentences = (self.sentences[number] for number in sorted(candidates))
            matches = (naive.matches(sentence, blocks, SETTINGS) for sentence in sentences)
            occurrences = itertools.chain.from_iterable(matches)
            limit = SETTINGS.max_samples + 1
            self.known[blocks] = sum(1 for _ in itertools.islice(occurrences, limit)) == limit
        return self.known[blocks]


@pytest.fixture(scope="module")
def corpus(parity):
    return Corpus(parity / "corpus" / "train.de.gz")


def blocks_of(source):
    return naive.split_blocks(source, 0, (1, 1))[0]


def has_nonterminal(rule):
    return -1 in rule[0]


def pairs(case):
    return zip(case.sentences, case.ours, case.theirs, strict=True)


def same_features(ours, theirs):
    both = zip(ours.features, theirs.features, strict=True)
    return all(math.isclose(*values, abs_tol=TOLERANCE) for values in both)


def test_rules_without_nonterminals(case, corpus):
    """All rules of source sides that occur at most 300 times equal cdec's, with all features."""
    compared = 0
    for _, ours, theirs in pairs(case):
        kept = [
            {sides for sides in grammar if not has_nonterminal(sides) and not corpus.is_sampled(sides[0])}
            for grammar in (ours, theirs)
        ]
        assert kept[0] == kept[1]
        for sides in kept[0]:
            assert same_features(ours[sides], theirs[sides]), sides
        compared += len(kept[0])
    assert compared > 1500


def test_rules_with_nonterminals(case, corpus):
    """Every difference has one of two reasons; at least 95 % of cdec's rules are found."""
    missing = {"wide": 0, "sampled": 0}
    more, both = 0, 0
    for words, ours, theirs in pairs(case):
        for sides in filter(has_nonterminal, theirs.keys() - ours.keys()):
            # cdec matches source sides in 16 words of the input, more than the maximum span of a rule
            wide = not any(naive.matches(words, blocks_of(sides[0]), SETTINGS))
            assert wide or corpus.is_sampled(sides[0]), sides
            missing["wide" if wide else "sampled"] += 1
        for sides in filter(has_nonterminal, ours.keys() - theirs.keys()):
            assert corpus.is_sampled(sides[0]), sides
            more += 1
        both += sum(map(has_nonterminal, ours.keys() & theirs.keys()))
    total = both + sum(missing.values())
    assert both >= 0.95 * total
    # the figures of docs/extraction.md: 97 % found, 2.3 % too wide, 0.6 % sampled differently
    assert missing["wide"] < 0.025 * total
    assert missing["sampled"] < 0.01 * total
    assert more < 0.01 * total


def is_counted(theirs):
    """Return whether cdec has used all occurrences, according to its own count.

    With leave-one-out, a sample of 300 may be a few occurrences short.
    """
    return theirs.features[GRAMMAR_FEATURES.index("SampleCountF")] < math.log10(1 + 280)


def test_features_of_rules_with_nonterminals(case):
    """If all occurrences are used, counts and costs equal cdec's."""
    compared = 0
    for _, ours, theirs in pairs(case):
        for sides in filter(has_nonterminal, ours.keys() & theirs.keys()):
            if is_counted(theirs[sides]):
                assert same_features(ours[sides], theirs[sides]), sides
                compared += 1
    assert compared > 20_000


def test_alignments(case):
    """Most alignments are equal: with leave-one-out, cdec also leaves the sentence out of the vote."""
    compared = same = 0
    for _, ours, theirs in pairs(case):
        for sides in ours.keys() & theirs.keys():
            if is_counted(theirs[sides]):
                same += ours[sides].alignment == theirs[sides].alignment
                compared += 1
    assert same >= 0.9995 * compared
