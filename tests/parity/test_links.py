"""Links of n-best lists by saved models, against aligning the same text together with that of the models."""

import gzip

import numpy as np

from itersel.align.sampler import (
    TRAINED,
    NumberedBitext,
    Sampler,
    SentencePairs,
    TrainedAligner,
    align_with,
    read_model,
    write_model,
)
from itersel.corpus.prepare import Preparation
from itersel.corpus.settings import Words
from itersel.corpus.vocabulary import WordNumbers, number_words
from itersel.rerank.link_kernels import grow_diag_final_and
from itersel.rerank.links import align_lists
from itersel.rerank.words import NULL, list_words

TRAIN, DEV = 6000, 500


def read(parity, split, count):
    """Return the first sentences of both sides of recorded text, whose tokens have spaces between them."""
    sides = []
    for language in ("de", "en"):
        with gzip.open(parity / f"corpus/{split}.{language}.gz", "rt", encoding="utf-8") as stream:
            sides.append([next(stream).rstrip("\n") for _ in range(count)])
    return sides


def numbered(source, target):
    """Return a text whose words are numbers."""
    vocabularies = [WordNumbers({NULL: 0}) for _ in range(2)]
    sides = [
        number_words([line.split() for line in lines], words)
        for lines, words in zip((source, target), vocabularies, strict=True)
    ]
    return NumberedBitext(SentencePairs(*sides[0], *sides[1]), *map(list, vocabularies))


def aligned(bitext):
    """Return links and models of both directions."""
    links, models = [], []
    for direction in ("forward", "reverse"):
        text, given, generated = bitext if direction == "forward" else bitext.turned()
        sampler = Sampler(text, len(given), len(generated), 1)
        links.append(sampler.run())
        models.append(TrainedAligner(direction, given, generated, sampler.model))
    return links, models


def points(source, target, offset, first):
    """Return the links of sentences from `first` on: number of the sentence from there, source, target."""
    sentence = np.repeat(np.arange(offset.shape[0] - 1), np.diff(offset)) - first
    found = zip(sentence.tolist(), source.tolist(), target.tolist(), strict=True)
    return {point for point in found if point[0] >= 0}


def agreement(found, expected):
    """Return the F1 of links."""
    return 2 * len(found & expected) / (len(found) + len(expected))


def saved(model, folder):
    """Return a model as it is read from a file, with a row for unknown words."""
    path = folder / f"{model.direction}.h5"
    write_model(path, model, 1)
    return read_model(path)


def test_links_of_saved_models(parity, tmp_path):
    """They are as good as the links of all passes of the aligner, within 0.01."""
    train, dev = read(parity, "train", TRAIN), read(parity, "dev", DEV)
    together, _ = aligned(numbered(*(a + b for a, b in zip(train, dev, strict=True))))
    _, learned = aligned(numbered(*train))
    models = [saved(model, tmp_path) for model in learned]

    whole = numbered(*(a + b for a, b in zip(train, dev, strict=True))).text
    expected = points(*grow_diag_final_and(whole.given_start, whole.generated_start, *together), TRAIN)

    words = list_words(np.arange(DEV + 1), *dev, Preparation(Words("de", "en", True)))
    found = points(*align_lists(words, *models), 0)

    bitext = NumberedBitext(
        SentencePairs(*words.source, *words.target), words.source_words, words.target_words
    )
    by_all_passes = []
    for sides, trained in zip((bitext, bitext.turned()), models, strict=True):
        text = sides.renumbered(trained.given, trained.generated)
        by_all_passes.append(align_with(trained.model, text, 1, TRAINED))
    best = points(*grow_diag_final_and(words.source.offset, words.target.offset, *by_all_passes), 0)

    assert agreement(found, expected) > agreement(best, expected) - 0.01
    assert agreement(found, expected) > 0.9
