"""The options for the files of devtest, and the scores of its translations, on which steps decide."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from itersel.cli.arguments import add_files, add_optional_files
from itersel.config.report_steps import Scoring
from itersel.errors import InputError
from itersel.evaluate.names import QUALITY, TOKENIZED_BLEU

if TYPE_CHECKING:
    from itersel.evaluate.epoch_scores import EpochScores


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
    raw = "raw reference translations; scores of detokenised text need them, --preparation and --recaser"
    add_files(parser, {"--raw-reference FILE": raw}, nargs="*", default=[])
    files = {
        "--preparation FILE": "preparation.json of the training corpus",
        "--recaser FILE": "recaser.json of the training corpus",
        "--labels FILE": "label of each line of devtest",
    }
    add_optional_files(parser, files)
    add_files(
        parser, {"--nbest FILE": "n-best lists of devtest, to choose by quality"}, nargs="*", default=[]
    )
    quality = "a number for each translation in these lists, higher is better; needs --preparation, too"
    add_optional_files(parser, {"--quality FILE": quality})


def devtest_files(options: argparse.Namespace) -> DevtestFiles:
    """Return the files that the options of `add_devtest` name."""
    return DevtestFiles(**{name: getattr(options, name) for name in DevtestFiles._fields})


def score_devtest(scoring: Scoring, files: DevtestFiles, translations: Sequence[str]) -> EpochScores:
    """Return the scores of translations of devtest, such as one for each epoch."""
    from itersel.evaluate.epoch_scores import read_epochs, score_epochs, text_scorer
    from itersel.report.quality import quality_scorer

    if (files.labels is None) != (scoring.label is None):
        raise InputError("--labels and the key 'label' need each other; give both or neither")
    read = partial(read_epochs, translations, files.reference, labels=files.labels, task=scoring.label)
    by = scoring.choose_by

    if by == TOKENIZED_BLEU:
        return score_epochs(read(), scoring.retokenize)

    if by == QUALITY:
        if not files.nbest or files.quality is None or files.preparation is None:
            raise InputError(f"choose_by: {by} needs --nbest, --quality and --preparation")
        texts = read()
        of_lists = quality_scorer(files.nbest, files.quality, files.preparation, texts.lines)
        return score_epochs(texts, scoring.retokenize, of_lists)

    if not files.raw_reference or files.preparation is None or files.recaser is None:
        raise InputError(f"choose_by: {by} needs --raw-reference, --preparation and --recaser")
    texts = read(raw_reference=files.raw_reference)
    of_text = text_scorer(texts, by, scoring.tokenizer, files.preparation, files.recaser)
    return score_epochs(texts, scoring.retokenize, of_text)
