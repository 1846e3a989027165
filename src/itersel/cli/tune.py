"""``itersel tune``: weights tuned on n-best lists."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from itersel.cli.argument_types import named_file, seed, seeds
from itersel.cli.arguments import add_files, add_options, add_output
from itersel.cli.blas import use_portable_blas
from itersel.cli.shared_options import add_nbest, add_tokenizer, features_of
from itersel.config.command_line import section_of
from itersel.config.tuners import LIST_TUNERS, START_ON_LISTS
from itersel.errors import InputError, first_names
from itersel.evaluate.names import DEFAULT_METRIC, OF_TEXT
from itersel.storage.numbers import DEFAULT_SEED

if TYPE_CHECKING:
    from itersel.tune.nbest import PreparedLists, TunedLists

use_portable_blas()

# See `add_chosen_section`.
CHOSEN = {"tune": ("tuner", LIST_TUNERS)}


def _add_tune(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Tune weights on the n-best lists of Moses, Marian, cdec or Joshua, "
        "'number ||| text ||| features ||| score', or JSON lines. Equal translations of a sentence count "
        "once."
    )

    tuner = "%(choices)s; 'itersel tune --tuner NAME --help' shows the options of a tuner"
    add_options(parser, {"--tuner NAME": tuner}, required=True, choices=LIST_TUNERS)
    one = {"--seed N": "random seed (default: %(default)s)"}
    add_options(parser, one, type=seed, default=DEFAULT_SEED)
    several = "several random seeds, such as 1-5 or 1,7,9: keep the weights that are best on devtest"
    add_options(parser, {"--seeds LIST": several}, type=seeds)
    add_output(parser, "output file for the weights: .h5, .json, .ini (Moses) or text")

    add_nbest(parser)
    references = "reference translations, one sentence per line; several files for several references"
    add_files(parser, {"--reference FILE": references}, default=[])

    start = f"start weights: text, .h5, .json or .ini (default: {START_ON_LISTS})"
    add_options(parser, {"--start FILE": start})

    quality = (
        f"{', '.join(OF_TEXT)}, or a file with a number for each line of lists, higher is better; lowercased "
        f"metrics ignore case (default: {DEFAULT_METRIC}, without the smoothing of 'itersel compare')"
    )
    add_options(parser, {"--quality": quality}, default=DEFAULT_METRIC)
    add_tokenizer(parser)
    _add_devtest(parser.add_argument_group("with --seeds"))


def _add_devtest(parser: argparse._ActionsContainer) -> None:
    lists = "n-best lists of another text, for choosing between the seeds"
    add_files(parser, {"--devtest-nbest FILE": lists}, default=[])
    references = "references of that text, as with --reference"
    add_files(parser, {"--devtest-reference FILE": references}, default=[])
    feature = "a further feature of these lists, as with --feature"
    add_options(
        parser, {"--devtest-feature NAME=FILE": feature}, type=named_file, action="append", default=[]
    )
    quality = "with a file of --quality: a number for each line of these lists"
    add_options(parser, {"--devtest-quality FILE": quality})


def _tune(options: argparse.Namespace) -> None:
    from itersel.evaluate.metrics import signature_of
    from itersel.evaluate.texts import read_references
    from itersel.lists.weights import write_any_weights
    from itersel.storage.files import STANDARD_STREAM
    from itersel.tune.measure import read_measure
    from itersel.tune.nbest import prepare_nbest
    from itersel.tune.problem import tuned_with

    measure = read_measure(options.quality, options.tokenizer)
    _check_devtest(options, has_numbers=measure.metric_name is None)

    tuner = section_of(LIST_TUNERS[options.tuner], options)
    references = read_references(options.reference) if options.reference else []
    features = features_of(options.feature)
    prepared = prepare_nbest(options.nbest, references, tuner, options.start, features, measure)

    seed = options.seed
    results_of_seeds: list[str] = []
    if options.seeds:
        found, results_of_seeds, seed = _tune_with_seeds(options, prepared)
    else:
        found = prepared.tune(seed)

    settings = {} if measure.metric_name is None else {"quality": measure.metric_name}
    counts = {"sentences": found.sentences, "translations": found.translations}
    attributes = tuned_with(tuner, seed, settings, **counts)
    write_any_weights(options.output, found.weights, attributes, found.sizes)
    if found.absent:
        absent = first_names(found.absent)
        print(f"itersel tune: warning: not in the lists, weights stay as they are: {absent}", file=sys.stderr)

    if options.output == STANDARD_STREAM:
        return

    mean = "" if measure.is_bleu else "mean "
    described = f"{found.sentences} sentences, {found.translations} different translations"
    for line in results_of_seeds:
        print(line)
    reached = f"{found.start_quality_points:.2f} -> {found.quality_points:.2f}"
    print(f"{mean}{measure.title}: {reached}; {described}")
    if measure.metric_name is not None:
        print(
            f"{measure.title}: sacrebleu {signature_of(measure.metric_name, references, measure.tokenizer)}"
        )


def _check_devtest(options: argparse.Namespace, has_numbers: bool) -> None:
    """Raise an InputError unless devtest has the same things as dev, if there are several seeds."""
    given = [
        name for name in ("nbest", "reference", "feature", "quality") if getattr(options, f"devtest_{name}")
    ]
    if not options.seeds:
        if given:
            raise InputError(f"--devtest-{given[0]} has no effect without --seeds; remove it")
        return

    if options.seed != DEFAULT_SEED:
        raise InputError("--seed has no effect with --seeds; remove it")
    if not options.devtest_nbest:
        raise InputError("--seeds needs --devtest-nbest, lists for choosing between the seeds")
    if bool(options.devtest_quality) != has_numbers:
        change = "remove it" if options.devtest_quality else "give the numbers of devtest, too"
        raise InputError(f"--devtest-quality goes with a file of --quality; {change}")

    features = features_of(options.feature)
    of_devtest = features_of(options.devtest_feature, "--devtest-feature")
    if different := sorted(features.keys() ^ of_devtest.keys()):
        raise InputError(f"only one of --feature and --devtest-feature has '{different[0]}'; give it to both")


def _tune_with_seeds(
    options: argparse.Namespace, prepared: PreparedLists
) -> tuple[TunedLists, list[str], int]:
    """Return what is best on devtest, a table of the quality with each seed, and the best one."""
    from statistics import mean, stdev

    from itersel.evaluate.texts import read_references
    from itersel.storage.text_table import aligned
    from itersel.tune.seeds import tune_with_seeds

    references = read_references(options.devtest_reference) if options.devtest_reference else []
    features = dict(options.devtest_feature)
    numbers = options.devtest_quality
    points_on_devtest = prepared.quality_points_on(options.devtest_nbest, references, features, numbers)
    best = tune_with_seeds(prepared, options.seeds, points_on_devtest)

    rows: dict[str, Sequence[float]] = {"start": (best.tuned.start_quality_points, best.start_quality_points)}
    names = [f"{one.seed}{' *' * (one.seed == best.seed)}" for one in best.qualities]
    qualities = [(one.dev_points, one.devtest_points) for one in best.qualities]
    rows |= dict(zip(names, qualities, strict=True))
    columns = list(zip(*qualities, strict=True))
    rows |= {"mean": list(map(mean, columns)), "standard deviation": list(map(stdev, columns))}

    results = [
        {"seed": name, "dev": f"{dev:.2f}", "devtest": f"{other:.2f}"} for name, (dev, other) in rows.items()
    ]
    note = f"*: best on devtest, written to {options.output}"
    return best.tuned, [*aligned(results, ["seed"]), note], best.seed
