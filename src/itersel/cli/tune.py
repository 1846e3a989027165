"""``itersel tune``: weights tuned on n-best lists."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
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
    from itersel.tune.nbest import TextLists
    from itersel.tune.seeds import BestSeed

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
    from itersel.lists.weights import write_any_weights
    from itersel.storage.files import STANDARD_STREAM
    from itersel.tune.nbest import prepare_nbest
    from itersel.tune.problem import tuned_with
    from itersel.tune.seeds import tune_with_seeds

    tuner = section_of(LIST_TUNERS[options.tuner], options)
    dev, devtest = _read_texts(options)
    prepared = prepare_nbest(dev, tuner, options.start)

    best_seed = options.seed
    results_of_seeds: list[str] = []
    if devtest is None:
        found = prepared.tune(best_seed)
    else:
        best = tune_with_seeds(prepared, options.seeds, prepared.quality_points_on(devtest))
        found = best.tuned
        best_seed = best.seed
        results_of_seeds = _results_of_seeds(best, options.output)

    measure = dev.measure
    # by the names of the options, whose values they are
    settings = {} if measure.metric_name is None else {"quality": measure.metric_name}
    if measure.is_bleu:
        settings["tokenizer"] = measure.tokenizer
    counts = {"sentences": found.sentences, "translations": found.translations}
    attributes = tuned_with(tuner, best_seed, settings, **counts)
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
        signature = signature_of(measure.metric_name, dev.references, measure.tokenizer)
        print(f"{measure.title}: sacrebleu {signature}")


def _read_texts(options: argparse.Namespace) -> tuple[TextLists, TextLists | None]:
    """Read everything but the lists and the start weights: of dev and, with several seeds, of devtest."""
    from itersel.evaluate.texts import read_references
    from itersel.lists.numbers import read_numbers
    from itersel.tune.measure import Measure, read_measure
    from itersel.tune.nbest import read_all_but_lists

    _check_seeds(options)
    features = features_of(options.feature)
    devtest_features = features_of(options.devtest_feature, "--devtest-feature")
    if options.seeds:
        _check_devtest(options, features, devtest_features)

    measure = read_measure(options.quality, options.tokenizer)
    dev = read_all_but_lists(options.nbest, read_references(options.reference), features, measure)
    if not options.seeds:
        return dev, None

    if measure.metric_name is None:
        measure = Measure(numbers=read_numbers(options.devtest_quality))
    references = read_references(options.devtest_reference)
    return dev, read_all_but_lists(options.devtest_nbest, references, devtest_features, measure)


def _check_seeds(options: argparse.Namespace) -> None:
    """Raise an InputError if there are options of devtest without several seeds, or the reverse."""
    if options.seeds:
        if options.seed != DEFAULT_SEED:
            raise InputError("--seed has no effect with --seeds; remove it")
        if not options.devtest_nbest:
            raise InputError("--seeds needs --devtest-nbest, lists for choosing between the seeds")
        return

    for name in ("nbest", "reference", "feature", "quality"):
        if getattr(options, f"devtest_{name}"):
            raise InputError(f"--devtest-{name} has no effect without --seeds; remove it")


def _check_devtest(
    options: argparse.Namespace, features: Mapping[str, str], devtest_features: Mapping[str, str]
) -> None:
    """Raise an InputError if devtest lacks something that dev has, or has something else."""
    from itersel.tune.measure import named_metric

    has_numbers = named_metric(options.quality) is None
    if has_numbers and not os.path.exists(options.quality):
        # perhaps a metric whose name is misspelt, which needs no numbers of devtest
        raise InputError("no such file", options.quality)
    if bool(options.devtest_quality) != has_numbers:
        change = "remove it" if options.devtest_quality else "give the numbers of devtest, too"
        raise InputError(f"--devtest-quality goes with a file of --quality; {change}")
    if different := sorted(features.keys() ^ devtest_features.keys()):
        raise InputError(f"only one of --feature and --devtest-feature has '{different[0]}'; give it to both")


def _results_of_seeds(best: BestSeed, output: str) -> list[str]:
    """Return the lines of a table of the quality that each seed reaches."""
    from statistics import mean, stdev

    from itersel.storage.text_table import aligned

    rows: dict[str, Sequence[float]] = {"start": (best.tuned.start_quality_points, best.start_quality_points)}
    names = [f"{one.seed}{' *' * (one.seed == best.seed)}" for one in best.qualities]
    qualities = [(one.dev_points, one.devtest_points) for one in best.qualities]
    rows |= dict(zip(names, qualities, strict=True))
    columns = list(zip(*qualities, strict=True))
    rows |= {"mean": list(map(mean, columns)), "standard deviation": list(map(stdev, columns))}

    results = [
        {"seed": name, "dev": f"{dev:.2f}", "devtest": f"{other:.2f}"} for name, (dev, other) in rows.items()
    ]
    return [*aligned(results, ["seed"]), f"*: best on devtest, written to {output}"]
