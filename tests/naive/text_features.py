"""Features of the text of translations, computed plainly: one sentence at a time, with dictionaries."""

import math
from collections import Counter
from fractions import Fraction

from tests.naive import lm


def lexical_scores(source, translation, counts):
    """Return log10 p(translation | source) and the reverse; `counts` are of pairs, NULL is ''."""
    forward = _direction(translation, source, {(t, s): n for (s, t), n in counts.items()})
    return forward, _direction(source, translation, counts)


def language_model_scores(words, model, order):
    """Return log10 of the probability by a language model, and the words that it does not know."""
    return lm.score_sentence(model, order, words), sum((word,) not in model for word in words)


def _direction(words, others, counts):
    """Return the score of words given others; pairs are (word, other)."""
    of_other = Counter()
    for (_, other), number in counts.items():
        of_other[other] += number
    total = 0.0
    for word in words:
        shares = [
            Fraction(counts.get((word, other), 0), of_other[other]) if of_other[other] else Fraction(0)
            for other in ["", *others]
        ]
        total += math.log10(max(float(sum(shares) / (len(others) + 1)), 1e-7))
    return total


def count_links(sources, targets, alignments):
    """Return how often words are linked; those without links are linked to ''."""
    counts = Counter()
    for source, target, points in zip(sources, targets, alignments, strict=True):
        counts.update((source[i], target[j]) for i, j in points)
        counts.update((word, "") for i, word in enumerate(source) if i not in {i for i, _ in points})
        counts.update(("", word) for j, word in enumerate(target) if j not in {j for _, j in points})
    return counts


def ngrams(tokens, n):
    """Return the counts of the n-grams of a sentence."""
    return Counter(tuple(tokens[place : place + n]) for place in range(len(tokens) - n + 1))


def _expected(translations, shares, n):
    expected = Counter()
    for tokens, share in zip(translations, shares, strict=True):
        for gram, count in ngrams(tokens, n).items():
            expected[gram] += share * count
    return expected


def agreement(translations, scores):
    """Return BLEU and chrF of each translation of a list against what the list expects."""
    weights = [math.exp(score - max(scores)) for score in scores]
    shares = [weight / sum(weights) for weight in weights]
    letters = [list("".join(tokens)) for tokens in translations]
    return [
        (_bleu(tokens, translations, shares), _chrf(characters, letters, shares))
        for tokens, characters in zip(translations, letters, strict=True)
    ]


def _bleu(tokens, translations, shares):
    total = 0.0
    for n in range(1, 5):
        expected = _expected(translations, shares, n)
        matches = sum(min(count, expected[gram]) for gram, count in ngrams(tokens, n).items())
        total += math.log((matches + 1) / (max(len(tokens) - n + 1, 0) + 1))
    wanted = sum(share * len(one) for one, share in zip(translations, shares, strict=True))
    if len(tokens) < wanted:
        total += 4 * (1 - (wanted + 1) / (len(tokens) + 1))
    return math.exp(total / 4)


def _chrf(tokens, translations, shares):
    found = []
    for n in range(1, 7):
        expected = _expected(translations, shares, n)
        wanted, given = sum(expected.values()), max(len(tokens) - n + 1, 0)
        if not given or not wanted:
            continue
        matches = sum(min(count, expected[gram]) for gram, count in ngrams(tokens, n).items())
        found.append(f_score(matches / given, matches / wanted))
    return sum(found) / len(found) if found else 0.0


def f_score(precision, recall):
    """Return the F score in which recall has a weight of 2."""
    return 5 * precision * recall / (4 * precision + recall) if precision + recall else 0.0


def sparse_features(source, target, points, templates):
    """Return the features of a translation by name, with how often it has them."""
    edged = ["<s>", *target, "</s>"]
    found = Counter()
    found.update(f"Ngram1:{word}" for word in target)
    for n in (2, 3):
        found.update(f"Ngram{n}:{'_'.join(gram)}" for gram in ngrams(edged, n).elements())
    found.update(f"Lex:{source[i]}_{target[j]}" for i, j in points)
    found.update(f"LexShape:{shape(source[i])}_{shape(target[j])}" for i, j in points)
    found.update(f"Del:{word}" for i, word in enumerate(source) if all(one != i for one, _ in points))
    found.update(f"Ins:{word}" for j, word in enumerate(target) if all(one != j for _, one in points))
    found.update(f"Phrase:{name}" for name in _phrases(source, target, points))
    return Counter({name: n for name, n in found.items() if name.partition(":")[0] in templates})


def shape(word):
    """Return the shape of a word, of the classes of its characters."""
    found = ""
    for one in word:
        kind = "0" if one.isdigit() else "-"
        if one.isalpha():
            kind = "A" if one.isupper() else "a"
        if not found.endswith(kind):
            found += kind
    return found


def _phrases(source, target, points):
    for begin in range(len(source)):
        for length in (1, 2):
            inside = [(i, j) for i, j in points if begin <= i < begin + length]
            if not {begin, begin + length - 1} <= {i for i, _ in inside}:
                continue
            low, high = min(j for _, j in inside), max(j for _, j in inside)
            if high - low > 1 or (length == 1 and high == low):
                continue
            if any(low <= j <= high for i, j in points if not begin <= i < begin + length):
                continue
            yield f"{'_'.join(source[begin : begin + length])}:{'_'.join(target[low : high + 1])}"


def telling_apart(rows):
    """Drop features that all translations of a list have equally often."""
    common = {name for name, count in rows[0].items() if all(row[name] == count for row in rows)}
    return [{name: count for name, count in row.items() if name not in common} for row in rows]
