"""The options for the files of devtest, and the scores of its translations, on which steps decide."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from itersel.cli.arguments import add_files, add_optional_files
from itersel.config.report_steps import Scoring
from itersel.errors import InputError
from itersel.evaluate.names import QUALITY, TOKENIZED_BLEU

if TYPE_CHECKING:
    from itersel.evaluate.epoch_scores import EpochScores, EpochTexts, Scorer


class DevtestFiles(NamedTuple):
    """The files with which translations of devtest are scored; fields have the names of the options."""

    reference: Sequence[str]
    raw_reference: Sequence[str]
    preparation: str | None
    recaser: str | None
    labels: str | None
    nbest: Sequence[str]
    quality: str | None


def add_devtest(parser: argparse.ArgumentParser) -> None:
    """Add the options for the files of devtest, which `devtest_files` returns."""
    references = "reference translations of devtest, one sentence per line"
    add_files(parser, {"--reference FILE": references}, required=True)
    raw = "raw reference translations, before preparation; for scores of detokenised text, as the next two"
    add_files(parser, {"--raw-reference FILE": raw}, nargs="*", default=[])
    files = {
        "--preparation FILE": "preparation.json of the training corpus",
        "--recaser FILE": "recaser.json of the training corpus",
        "--labels FILE": "label of each line of devtest",
    }
    add_optional_files(parser, files)
    add_files(parser, {"--nbest FILE": "n-best lists of devtest, for quality"}, nargs="*", default=[])
    quality = "a number for each translation in the lists, higher is better; for quality, with --preparation"
    add_optional_files(parser, {"--quality FILE": quality})


def devtest_files(options: argparse.Namespace) -> DevtestFiles:
    """Return the files that the options of `add_devtest` name."""
    return DevtestFiles(**{name: getattr(options, name) for name in DevtestFiles._fields})


def score_devtest(scoring: Scoring, files: DevtestFiles, translations: Sequence[str]) -> EpochScores:
    """Return the scores of translations of devtest, such as one for each epoch."""
    from itersel.evaluate.epoch_scores import read_epochs, score_epochs

    by = scoring.choose_by
    if (files.labels is None) != (scoring.label is None):
        raise InputError("--labels and the key 'label' need each other; give both or neither")
    raw = () if by in (TOKENIZED_BLEU, QUALITY) else files.raw_reference
    if by == QUALITY:
        if not files.nbest or files.quality is None or files.preparation is None:
            raise InputError(f"choose_by: {by} needs --nbest, --quality and --preparation")
    elif by != TOKENIZED_BLEU and not (raw and files.preparation and files.recaser):
        raise InputError(f"choose_by: {by} needs --raw-reference, --preparation and --recaser")

    texts = read_epochs(translations, files.reference, raw, files.labels, scoring.label)
    return score_epochs(texts, scoring.retokenize, _scorer(scoring, files, texts))


def _scorer(scoring: Scoring, files: DevtestFiles, texts: EpochTexts) -> Scorer | None:
    """Return what decides, unless that is BLEU of tokenised text, which is computed anyway."""
    from itersel.evaluate.epoch_scores import text_scorer
    from itersel.report.quality import quality_scorer

    if scoring.choose_by == TOKENIZED_BLEU:
        return None

    # `score_devtest` refuses scores whose files are missing
    assert files.preparation is not None
    if scoring.choose_by == QUALITY:
        assert files.quality is not None
        return quality_scorer(files.nbest, files.quality, files.preparation, texts.lines)
    assert files.recaser is not None
    return text_scorer(texts, scoring.choose_by, scoring.tokenizer, files.preparation, files.recaser)
