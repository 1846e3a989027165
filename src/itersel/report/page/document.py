"""Everything that the page shows of a folder of results, as one plain value.

This includes, for each repeat of an experiment, measures of each epoch and the features of the best one.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from itersel.config.defaults import resolved
from itersel.config.experiments import PlannedRepeat, experiment_of, planned_repeats
from itersel.config.reading import read_unresolved
from itersel.config.splits import kind_of_text, texts_by_key
from itersel.config.values import Config, Experiment
from itersel.evaluate.names import BLEU, QUALITY
from itersel.report.answer import answer
from itersel.report.baseline import baseline_and_best
from itersel.report.corpus import read_corpus
from itersel.report.costs import read_costs
from itersel.report.description import read_run, settings_of
from itersel.report.folder import FoundRepeat, find_repeats, read_optional, references_of
from itersel.report.page.config import describe_config
from itersel.report.page.curves import read_curves
from itersel.report.page.features import read_features
from itersel.report.page.groups import read_frequencies
from itersel.report.page.logs import read_errors
from itersel.report.page.sentences import pack, read_translated
from itersel.report.settings import settings_table
from itersel.report.table import NOTES
from itersel.report.table_content import Table, read_table
from itersel.results import BEST, CORPUS, DERIVATIONS, INDEX, SYSTEM, TABLE
from itersel.storage.json_files import check_numbers, check_texts
from itersel.system.chosen import read_system

NO_DERIVATIONS = "contains no derivations; make them with 'itersel step explain'"


def read_document(results: Path) -> dict[str, Any]:
    """Return what the page shows of a run, ``<output>/<name>``; what does not exist yet is None or empty.

    If `results` is not such a folder, or a file in it is damaged, it is an InputError.
    """
    description = read_run(results)
    given = description.get("config") or {}
    unresolved = read_unresolved(given) if given else Config(experiments={})
    config = resolved(unresolved)
    planned = list(planned_repeats(config).values())
    planned_systems = {one.system: experiment_of(config, one) for one in planned if one.repeat == 1}

    table = read_table(results / TABLE)
    systems = table.test_sets[0].systems if table else ()
    experiments = [system.name for system in systems if system.is_experiment]
    others = [system.name for system in systems if not system.is_experiment]

    repeats = find_repeats(results, planned or list(map(PlannedRepeat, experiments)))

    # for the epochs of unfinished repeats
    references = references_of(results / CORPUS, "devtest")
    described = [
        _describe_repeat(
            results, repeat, planned_systems.get(repeat.system), references, config.evaluation.retokenize
        )
        for repeat in repeats
    ]

    # a table from before more experiments were added says nothing about these
    is_complete = all(repeat["finished"] for repeat in described)

    names = [test_set.name for test_set in table.test_sets] if table else ["test"]
    read = (read_translated(results, name, repeats, others) for name in names)
    translated = [test_set for test_set in read if test_set is not None]
    frequencies = read_frequencies(results / INDEX) if translated else None

    return {
        "text": NOTES[kind_of_text(config)],
        "learned_by": _learned_by(config),
        "name": str(given.get("name", results.resolve().name)),
        # by which browsers choose fonts and voices
        "languages": {"source": config.data.source_language, "target": config.data.target_language},
        "date": _date(results / TABLE),
        "answer": answer(table) if table and is_complete else None,
        "experiments": len(experiments),
        "compared": compared_systems(table, repeats),
        "table": table,
        "repeats": described,
        "costs": read_costs(results, {repeat.folder for repeat in repeats}),
        "corpus": read_corpus(results),
        "test_sets": [pack(test_set, frequencies) for test_set in translated],
        "derivations": read_optional(results / DERIVATIONS, _checked_derivations, NO_DERIVATIONS),
        "config": describe_config(given, unresolved) if given else None,
        "settings": settings_table(settings_of(description)) if given else None,
        "versions": description.get("versions", {}),
        "earlier": description.get("earlier", []),
    }


def compared_systems(table: Table | None, repeats: Sequence[FoundRepeat]) -> list[str]:
    """Return the baseline (the best system itself if it is alone), and the best system on devtest."""
    if not table:
        return [repeats[0].folder, repeats[-1].folder]

    baseline, best = baseline_and_best(table)
    return [baseline or best, best]


def _learned_by(config: Config) -> list[str]:
    """Return what experiments learn by: BLEU, or the quality of translations where the config gives it."""
    # text of named corpora, which is not among these, has no quality
    texts = texts_by_key(config.data)
    learned = [texts.get(f"data.{experiment.tune_on}") for experiment in config.experiments.values()]
    has_quality = {bool(text and text.quality) for text in learned}
    return [QUALITY if one else BLEU for one in sorted(has_quality)]


def _date(table: Path) -> str | None:
    """Return the day on which the table was written (UTC); None before that."""
    if not table.is_file():
        return None
    return datetime.datetime.fromtimestamp(table.stat().st_mtime, datetime.UTC).date().isoformat()


def _checked_derivations(found: Any) -> Any:
    """Return this if it is what the page shows of derivations by two systems, or raise an error of Python."""
    first, second = found["systems"]
    check_texts((found["test_set"], first, second))

    for sentence in found["sentences"]:
        check_numbers((sentence["sentence"],))
        if not isinstance(sentence["derivations"], list):
            raise TypeError
        for derivation in sentence["derivations"]:
            check_numbers((derivation["score"], derivation["lm"]))

    return found


def _describe_repeat(
    results: Path,
    repeat: FoundRepeat,
    planned: Experiment | None,
    references: Sequence[Path],
    retokenize: str,
) -> dict[str, Any]:
    best = repeat.path / BEST / SYSTEM
    system = read_system(best) if best.is_file() else None

    # independent tasks are scored only on the sentences with their label
    scored = [] if planned and planned.tasks.only_label is not None else references

    return {
        "name": repeat.folder,
        "experiment": repeat.system,
        "number": repeat.repeat,
        "planned": planned.epochs if planned else None,
        "finished": system is not None,
        "errors": [] if system else read_errors(results, repeat),
        "epochs": read_curves(repeat, system, scored, retokenize),
        "features": read_features(repeat, system),
    }
