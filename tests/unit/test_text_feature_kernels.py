"""Features of the text of translations, against plain versions of them."""

import random
from itertools import chain, pairwise

import numpy as np
import pytest
from tests.naive import lm as naive_lm
from tests.naive import text_features as naive
from tests.systems import itersel

from itersel.align.symmetrize import symmetrize
from itersel.corpus.vocabulary import Side, WordNumbers, number_words
from itersel.lm.binary import load_model
from itersel.rerank.agreement import agreement
from itersel.rerank.dense import FeatureInputs, language_model_scores, user_model_scores
from itersel.rerank.lexicon import LexicalTable, count_lexicon
from itersel.rerank.link_kernels import grow_diag_final_and
from itersel.rerank.links import Links
from itersel.rerank.sparse import shape_of, shapes_of, text_rows
from itersel.rerank.text_kernels import changed_copies, repeated_bigrams, words_without_links
from itersel.rerank.words import NULL, ListWords
from itersel.storage.files import write_lines
from itersel.storage.ragged import offsets_of
from itersel.vectors.feature_names import TEXT_TEMPLATES

SOURCE = ["das", "Haus", "ist", "KLEIN", "2.0", "iX"]
TARGET = ["the", "House", "is", "SMALL", "a_b", "1,000"]


class Lists:
    """Lists of random words, with random links."""

    def __init__(self, seed, sentences=6):
        draw = random.Random(seed)
        self.sources = [draw.choices(SOURCE, k=draw.randint(0, 5)) for _ in range(sentences)]
        self.lists = [
            [draw.choices(TARGET, k=draw.randint(0, 6)) for _ in range(draw.randint(1, 5))]
            for _ in range(sentences)
        ]
        self.scores = [[draw.uniform(-3, 0) for _ in one] for one in self.lists]
        self.points = [
            [
                sorted(
                    {
                        (draw.randrange(len(source)), draw.randrange(len(words)))
                        for _ in range(draw.randint(0, 5) if source and words else 0)
                    }
                )
                for words in one
            ]
            for source, one in zip(self.sources, self.lists, strict=True)
        ]
        numbers = [WordNumbers({NULL: 0}) for _ in range(2)]
        self.rows = [words for one in self.lists for words in one]
        self.words = ListWords(
            offsets_of(list(map(len, self.lists))),
            number_words(self.sources, numbers[0]),
            number_words(self.rows, numbers[1]),
            *map(list, numbers),
        )
        every = [points for one in self.points for points in one]
        flat = np.array([point for points in every for point in points], np.int32).reshape(-1, 2)
        self.links = Links(flat[:, 0].copy(), flat[:, 1].copy(), offsets_of(list(map(len, every))))


@pytest.mark.parametrize("seed", range(30))
def test_links_are_symmetrised(seed):
    draw = random.Random(seed)
    pairs = [(draw.randint(0, 6), draw.randint(0, 6)) for _ in range(8)]
    forward, reverse, expected = [], [], []
    for sources, targets in pairs:
        of_target = [draw.randint(0, sources) for _ in range(targets)]
        of_source = [draw.randint(0, targets) for _ in range(sources)]
        left = [(i - 1, j) for j, i in enumerate(of_target) if i]
        right = [(i, j - 1) for i, j in enumerate(of_source) if j]
        expected.append(symmetrize(left, right, "grow-diag-final-and"))
        forward += of_target
        reverse += of_source

    offsets = (offsets_of([pair[side] for pair in pairs]) for side in range(2))
    source, target, offset = grow_diag_final_and(
        *offsets, np.array(forward, np.int16), np.array(reverse, np.int16)
    )
    points = list(zip(source.tolist(), target.tolist(), strict=True))
    assert [points[begin:end] for begin, end in pairwise(offset.tolist())] == expected


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("left_out", [(), (1, 3)])
def test_lexical_scores(seed, left_out):
    text, lists = Lists(seed, 8), Lists(seed + 100)
    # one translation of each sentence
    targets, points = [one[0] for one in text.lists], [one[0] for one in text.points]
    numbers = [WordNumbers({NULL: 0}) for _ in range(2)]
    sides = [number_words(one, to) for one, to in zip((text.sources, targets), numbers, strict=True)]
    given = [(side, list(to)) for side, to in zip(sides, numbers, strict=True)]
    lexicon = count_lexicon(*given, points, left_out)

    used = [number for number in range(8) if number not in left_out]
    counts = naive.count_links(*([texts[n] for n in used] for texts in (text.sources, targets, points)))
    found = {
        (lexicon.source_words[s], lexicon.target_words[t]): n
        for s, t, n in zip(*(column.tolist() for column in lexicon[2:]), strict=True)
    }
    assert found == counts

    table = LexicalTable(lexicon, lists.words)
    expected = [
        naive.lexical_scores(source, words, counts)
        for source, one in zip(lists.sources, lists.lists, strict=True)
        for words in one
    ]
    np.testing.assert_allclose(table.scores(), expected, rtol=1e-12)

    known = {word for number in used for word in targets[number]}
    letters = set("".join(known))
    assert table.unknown_words().tolist() == [sum(word not in known for word in row) for row in lists.rows]
    assert table.unknown_characters().tolist() == [
        sum(one not in letters for word in row for one in word) for row in lists.rows
    ]


@pytest.mark.parametrize("order", [1, 3])
def test_scores_by_language_models(tmp_path, order):
    """That of train, and any number of the user's."""
    lists, models, plain = Lists(7), [], []
    for number, text in enumerate((["the house is small"], ["a house", "the a_b", "small small"])):
        files = [tmp_path / f"{number}.{suffix}" for suffix in ("txt", "arpa", "bin")]
        write_lines(files[0], text)
        itersel("lm", "estimate", "--order", order, "--input", files[0], "--output", files[1])
        itersel("lm", "compile", "--input", files[1], "--output", files[2])
        models.append(load_model(files[2]))
        plain.append(naive_lm.estimate([line.split() for line in text], order))

    known = FeatureInputs(lists.words, np.zeros(len(lists.rows)), (), None, None, models[0], models)
    expected = [[naive.language_model_scores(row, model, order) for model in plain] for row in lists.rows]
    found = user_model_scores(known)
    np.testing.assert_allclose(found, [[*chain(*row)] for row in expected], atol=1e-4)
    assert found[:, :2].tolist() == language_model_scores(known).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_agreement(seed):
    lists = Lists(seed)
    scores = np.array([score for one in lists.scores for score in one])
    expected = [
        row for one, own in zip(lists.lists, lists.scores, strict=True) for row in naive.agreement(one, own)
    ]
    np.testing.assert_allclose(agreement(lists.words, scores), expected, rtol=1e-9, atol=1e-12)


def test_a_list_of_one_translation_agrees_with_itself():
    words = ListWords(
        offsets_of([1]), Side(np.zeros(0, np.int32), offsets_of([0])), *_numbered(["a", "b", "c", "d", "e"])
    )
    np.testing.assert_allclose(agreement(words, np.zeros(1)), [[1, 1]])


def _numbered(row):
    numbers = WordNumbers({NULL: 0})
    return number_words([row], numbers), [NULL], list(numbers)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("templates", [TEXT_TEMPLATES, ("Ngram2", "Lex"), ("Phrase",)])
def test_sparse_features(seed, templates):
    lists = Lists(seed)
    expected = []
    for source, one, points in zip(lists.sources, lists.lists, lists.points, strict=True):
        rows = [
            naive.sparse_features(source, words, own, templates)
            for words, own in zip(one, points, strict=True)
        ]
        expected += naive.telling_apart(rows)

    rows = text_rows(lists.words, lists.links, templates)
    names = rows.name.to_list()
    found = [
        {names[feature]: value for feature, value in zip(rows.feature[a:b], rows.value[a:b], strict=True)}
        for a, b in pairwise(rows.offset.tolist())
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        *(("", ""), ("the", "a"), ("The", "Aa"), ("NATO", "A"), ("iPhone", "aAa"), ("McDonald's", "AaAa-a")),
        *(
            ("1,000.5", "0-0-0"),
            ("...", "-"),
            ("A4", "A0"),
            ("ß", "a"),
            ("Ö", "A"),
            ("中文", "a"),
            ("٣", "0"),
        ),
    ],
)
def test_shapes(word, shape):
    """Letters without case count as lower case."""
    assert shape_of(word) == naive.shape(word) == shape
    assert shapes_of(["x", word, word]).number.tolist()[1:] == [int(shape != "a")] * 2


def test_features_with_the_same_name_are_one():
    """`a_b` and `a`, `b` give the same name; what is counted is the name."""
    numbers = [WordNumbers({NULL: 0}) for _ in range(2)]
    rows = [["x", "a_b"], ["x", "a", "b", "a_b"], ["a", "b"]]
    words = ListWords(
        offsets_of([3]),
        number_words([["q"]], numbers[0]),
        number_words(rows, numbers[1]),
        *map(list, numbers),
    )
    none = np.zeros(0, np.int32)
    found = text_rows(words, Links(none, none, np.zeros(4, np.int64)), ("Ngram2", "Ngram3"))
    names = found.name.to_list()
    assert len({*names}) == len(names)
    assert names.count("Ngram2:a_b") == 1
    assert {"Ngram3:x_a_b", "Ngram2:x_a_b"} <= {*names}


@pytest.mark.parametrize("seed", range(10))
def test_words_without_links(seed):
    lists = Lists(seed)
    sizes = (np.diff(side.offset) for side in (lists.words.source, lists.words.target))
    source, target = sizes
    expected = [
        (len(source) - len({i for i, _ in points}), len(words) - len({j for _, j in points}))
        for source, one, own in zip(lists.sources, lists.lists, lists.points, strict=True)
        for words, points in zip(one, own, strict=True)
    ]
    found = words_without_links(*lists.links, source[lists.words.sentence], target)
    assert found.tolist() == list(map(list, expected))


def test_copies():
    """Of the words 0, 0 and 2, the first translation lacks a 0, the second has 1 and 2 too often."""
    source, target = [[0, 0, 2], []], [[0, 2], [2, 0, 1, 0, 2], [1]]
    sides = [
        Side(np.array([*chain(*one)], np.int32), offsets_of(list(map(len, one)))) for one in (source, target)
    ]
    found = changed_copies(*sides[0], *sides[1], offsets_of([2, 1]), 3)
    assert found.tolist() == [[1, 0], [0, 2], [0, 1]]


def test_repetitions():
    rows = [[1, 2, 1, 2, 1, 2], [1, 1, 1], [1, 2, 3], []]
    words = np.array([*chain(*rows)], np.int32)
    assert repeated_bigrams(words, offsets_of(list(map(len, rows)))).tolist() == [3, 1, 0, 0]
