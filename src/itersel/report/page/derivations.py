"""Derivations for the page, of the sentences on which two systems differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from itersel.config.mbr import MinimumRisk
from itersel.config.search import Search
from itersel.decode.decoder import Decoder
from itersel.decode.derivation_trees import derive_all
from itersel.decode.ranking import best_ranks, list_size
from itersel.errors import InputError
from itersel.grammar.sentence_grammars import SentenceGrammars, read_grammars
from itersel.lm.binary import LanguageModel, load_model
from itersel.report.folder import find_repeats, translation_of
from itersel.report.page.document import compared_systems
from itersel.report.page.sentences import Translated, read_translated, sentence_scores
from itersel.report.table_content import read_table
from itersel.results import MBR, SYSTEM, TABLE, WEIGHTS
from itersel.run.progress import progress
from itersel.system.chosen import read_system
from itersel.system.mbr import read_mbr
from itersel.vectors.feature_names import ALL_FEATURES, DENSE
from itersel.vectors.weights import Weights, read_itersel_weights

if TYPE_CHECKING:
    from itersel.config.report_steps import ExplainSettings


class ExplainedSystem(NamedTuple):
    """What determines the translations of a system, besides the settings that all share."""

    weights: Weights
    features: str
    mbr: MinimumRisk | None


def explain(results: Path, pieces: Sequence[str], model: str, settings: ExplainSettings) -> dict[str, Any]:
    """Return the derivations of some sentences of the first test set by the two compared systems.

    `results` is the folder of results of a finished run; `pieces` are those of the test set, in order;
    `model` is the compiled language model. The sentences with the largest difference in sentence chrF are
    chosen.
    """
    table = read_table(results / TABLE)
    if table is None:
        raise InputError(f"has no {TABLE}; run snakemake first", results)

    repeats = {repeat.folder: repeat for repeat in find_repeats(results)}
    names = compared_systems(table, [*repeats.values()])
    test = table.test_sets[0].name
    test_set = read_translated(results, test, [repeat for name, repeat in repeats.items() if name in names])
    if test_set is None:
        raise InputError("has no translations of the test set; run snakemake first", results)

    systems = []
    for name in names:
        path = translation_of(repeats[name].path, test) if name in repeats else None
        if path is None:
            raise InputError(f"has no translations of the test set by '{name}'; run snakemake first", results)
        # names of templates stand for all features: features of other templates have weight 0
        described = read_system(path.parent / SYSTEM).features
        features = DENSE if described == DENSE else ALL_FEATURES
        mbr = read_mbr(path.parent / MBR) if settings.has_mbr else None
        systems.append(ExplainedSystem(read_itersel_weights(path.parent / WEIGHTS), features, mbr))

    chosen = _most_different(test_set, names, settings.derivations)
    count = len(test_set.tokens.source)
    sentences = _explain(chosen, count, pieces, load_model(model), settings.search, systems)
    return {"test_set": test, "systems": names, "sentences": sentences}


def _most_different(test_set: Translated, names: Sequence[str], most: int) -> list[int]:
    """Return the sentences on which two systems differ most in chrF, in the order of the text."""
    first, second = (test_set.systems.index(name) for name in names)
    scored = sentence_scores(test_set)
    difference = [abs(chrf[which[first]] - chrf[which[second]]) for _, which, chrf in scored]
    order = sorted(range(len(difference)), key=lambda sentence: (-difference[sentence], sentence))
    return sorted(order[:most])


def _explain(
    chosen: Sequence[int],
    count: int,
    pieces: Sequence[str],
    model: LanguageModel,
    search: Search,
    systems: Sequence[ExplainedSystem],
) -> list[dict[str, Any]]:
    """Decode the chosen sentences, a piece at a time, with the weights and features of each system."""
    found: list[dict[str, Any]] = []
    before = 0

    for path in progress(pieces, "explain"):
        grammars = read_grammars(path)
        numbers = [one - before for one in chosen if before <= one < before + grammars.sentence_count]
        if numbers:
            explained = _explain_sentences(grammars, numbers, model, search, systems)
            found += [{"sentence": before + number, **row} for number, row in explained.items()]
        before += grammars.sentence_count

    if before != count:
        raise InputError(
            f"the pieces have {before} sentences, the test set has {count}; name all pieces, in order"
        )
    return found


def _explain_sentences(
    grammars: SentenceGrammars,
    numbers: Sequence[int],
    model: LanguageModel,
    search: Search,
    systems: Sequence[ExplainedSystem],
) -> dict[int, dict[str, Any]]:
    """Decode some of the sentences; returns the source and the derivation by each system, by number."""
    words = grammars.vocabulary.to_list()
    source = [words[word] for word in grammars.source]
    offset = grammars.source_offset
    rows: dict[int, dict[str, Any]] = {
        number: {"source": source[slice(*offset[number : number + 2])], "derivations": []}
        for number in numbers
    }

    for weights, features, mbr in systems:
        decoder = Decoder(grammars, model, replace(search, features=features))
        vectors = decoder.weight_vectors(weights)
        for number in numbers:
            found, derivations = derive_all(decoder, number, vectors, words, list_size(1, mbr))
            derivation = derivations[best_ranks(found, words, 1, mbr)[0]]
            nodes = [node._asdict() for node in derivation.nodes]
            rows[number]["derivations"].append({**derivation._asdict(), "nodes": nodes})

    return rows
