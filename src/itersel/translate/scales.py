"""Translations of pieces by minimum Bayes risk with several scales, each list decoded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from itersel.config.report_steps import GivenListScaleSettings, ScaleSettings
from itersel.decode.opening import open_grammars, open_lists
from itersel.decode.output import text_of
from itersel.decode.ranking import best_ranks
from itersel.errors import located
from itersel.rerank.mbr import ranking_of
from itersel.run.progress import progress
from itersel.vectors.weights import Weights


def translations_by(
    pieces: Sequence[str],
    language_model: str | None,
    weights: Weights,
    settings: ScaleSettings | GivenListScaleSettings,
) -> Iterator[list[str]]:
    """Yield the translations of each sentence: one for each candidate of the settings.

    `language_model` is None if the pieces contain given lists.
    """
    for piece in progress(pieces, "translate"):
        with located(piece):
            if isinstance(settings, ScaleSettings):
                assert language_model is not None, "only given lists need no language model"
                yield from _decoded(piece, language_model, weights, settings)
            else:
                list_table = open_lists(piece, settings, has_text=True)
                by_candidate = [
                    list_table.best_texts(weights, ranking_of(mbr)) for mbr in settings.mbr.candidates
                ]
                yield from map(list, zip(*by_candidate, strict=True))


def _decoded(
    piece: str, language_model: str, weights: Weights, settings: ScaleSettings
) -> Iterator[list[str]]:
    sentences, [decoder] = open_grammars(piece, language_model, settings)
    vectors = decoder.weight_vectors(weights)
    words = sentences.vocabulary.to_list()
    candidates = settings.mbr.candidates

    for sentence in range(sentences.sentence_count):
        kbest = decoder.decode(sentence, vectors, k=settings.mbr.size)
        yield [text_of(kbest, best_ranks(kbest, words, 1, mbr)[0], words) for mbr in candidates]
