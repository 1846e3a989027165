"""cdec's own grammars, and the features of its k-best derivations."""

import itertools
from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np
import pytest
from tests.text_grammars import features_by_rule, read_kbest

from itersel.grammar.grammar_kernels import GLUE, PASS_THROUGH
from itersel.grammar.sentence_grammars import read_grammars
from itersel.grammar.text_format import export_grammars, import_grammars, read_grammar
from itersel.vectors.feature_names import GRAMMAR_FEATURES

pytestmark = pytest.mark.slow

SPARSE = ("RBS:", "RBT:", "Shape_")
PRINTED_DIGITS = {"rtol": 1e-5, "atol": 1e-5}  # cdec prints six digits of sums


class Hypothesis(NamedTuple):
    sentence: int
    features: dict[str, float]


@pytest.fixture(scope="module")
def path(parity, tmp_path_factory):
    path = tmp_path_factory.mktemp("import") / "sentences.h5"
    import_grammars(parity / "decode/src.de", parity / "decode/grammar", path, [parity / "decode/ref.en"])
    return path


@pytest.fixture(scope="module")
def grammars(path):
    return read_grammars(path)


@pytest.fixture(scope="module")
def hypotheses(parity):
    lists = read_kbest(parity / "decode/kbest20.sparse.gz")
    return [Hypothesis(number, features) for number, _, features, _ in lists]


@pytest.fixture(scope="module")
def rows(grammars):
    return features_by_rule(grammars)


@pytest.fixture(scope="module")
def identities(rows):
    found = [[name for name in row if name.startswith("R:")] for row in rows]
    assert all(len(names) == 1 for names in found)
    return [names[0] for names in found]


def test_sparse_features_are_those_of_the_rules(hypotheses, rows, identities):
    row_of = dict(zip(identities, rows, strict=True))
    assert all(row_of[name] == row for name, row in zip(identities, rows, strict=True))
    assert len(hypotheses) == 367
    for _, features in hypotheses:
        expected = Counter({name: value for name, value in features.items() if name.startswith(SPARSE)})
        computed = Counter()
        for name, count in features.items():
            if name.startswith("R:"):
                computed.update({n: v * count for n, v in row_of[name].items() if n != name})
        assert computed == expected


def test_glue_is_the_identity_of_the_glue_rule(grammars, hypotheses, identities):
    [glue] = np.flatnonzero(grammars.rule_kind == GLUE)
    for _, features in hypotheses:
        assert features.get("Glue", 0) == features.get(identities[glue], 0)


def rule_instances(grammars, identities, sentence):
    """Return the dense features and PassThrough of the rules of a sentence, by identity."""
    columns = [grammars.dense_names.index(name) for name in GRAMMAR_FEATURES]
    instances = defaultdict(list)
    for place in range(grammars.grammar_offset[sentence], grammars.grammar_offset[sentence + 1]):
        rule = grammars.grammar_rule[place]
        passed = grammars.rule_kind[rule] == PASS_THROUGH
        instances[identities[rule]].append(np.append(grammars.grammar_dense[place, columns], passed))
    return instances


def test_dense_and_pass_through_features_are_those_of_the_rules(grammars, hypotheses, identities):
    """A known word may be passed through or translated as itself; both rules have the same identity."""
    for sentence, group in itertools.groupby(hypotheses, lambda hypothesis: hypothesis.sentence):
        instances = rule_instances(grammars, identities, sentence)
        for _, features in group:
            choices = []
            for name, count in features.items():
                if name.startswith("R:X:"):
                    chosen = itertools.combinations_with_replacement(instances[name], int(count))
                    choices.append(list(map(sum, chosen)))
            expected = [features.get(name, 0.0) for name in (*GRAMMAR_FEATURES, "PassThrough")]
            sums = map(sum, itertools.product(*choices))
            assert any(np.allclose(total, expected, **PRINTED_DIGITS) for total in sums)


def test_export_restores_the_rules_of_cdec(parity, path, tmp_path):
    export_grammars(path, tmp_path)
    for sentence in (0, 2, 59):
        ours = list(read_grammar(tmp_path / f"grammar.{sentence}.gz"))
        theirs = list(read_grammar(parity / f"decode/grammar/grammar.{sentence}.gz"))
        assert len(theirs) > 100
        for rule in ours + theirs:
            assert rule.features.keys() == set(GRAMMAR_FEATURES)

        def rounded(rule):
            values = tuple(np.float32(rule.features[name]).tobytes() for name in GRAMMAR_FEATURES)
            return rule.source, rule.target, rule.alignment, values

        # our export groups rules by source side
        assert Counter(map(rounded, ours)) == Counter(map(rounded, theirs))
