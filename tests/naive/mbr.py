"""Minimum Bayes risk in plain Python: sums over all pairs of translations."""

import math

from tests.naive.learning import Bleu
from tests.naive.text_features import f_score, ngrams


def posterior(scores, scale):
    """Return the probability of each translation of a list."""
    weights = [math.exp(scale * (score - max(scores))) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]


def bleu(words, reference):
    """Return sentence BLEU, in which counts are increased by one from n = 2 on (Lin & Och 2004)."""
    return Bleu("lin").of(words, reference)


def chrf(words, reference):
    """Return chrF: the F-score of the mean precision and the mean recall of n-grams of characters."""
    precisions, recalls = [], []
    for n in range(1, 7):
        ours, theirs = (ngrams("".join(one), n) for one in (words, reference))
        if ours and theirs:
            common = (ours & theirs).total()
            precisions.append(common / ours.total())
            recalls.append(common / theirs.total())
    if not precisions:
        return 0.0
    return f_score(*(sum(one) / len(one) for one in (precisions, recalls)))


GAINS = {"sentence-bleu": bleu, "chrf": chrf}


def expected_gains(translations, scores, gain, scale):
    """Return the expected gain of each translation, a list of words."""
    probabilities = posterior(scores, scale)

    def gain_of(one, other):
        return 1.0 if one == other else GAINS[gain](one, other)

    return [
        math.fsum(p * gain_of(one, other) for p, other in zip(probabilities, translations, strict=True))
        for one in translations
    ]


def ranked(translations, scores, gain="sentence-bleu", scale=1.0, size=100):
    """Return the places of the translations by expected gain; ties go to higher scores, then to the first."""
    best = sorted(range(len(scores)), key=lambda place: -scores[place])[:size]
    found = expected_gains(
        [translations[place] for place in best], [scores[place] for place in best], gain, scale
    )
    return [place for _, place in sorted(zip(found, best, strict=True), key=lambda pair: -round(pair[0], 10))]
