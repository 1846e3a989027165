"""A metric has one name wherever one can be written, in either case."""

import json
import re

import pytest

from itersel.cli.main import make_parser
from itersel.config.reading import read_config
from itersel.config.report_steps import ChooseSettings, PatienceSettings
from itersel.config.settings import read_settings
from itersel.errors import InputError
from itersel.evaluate.compare import compare
from itersel.evaluate.metrics import make_metrics
from itersel.evaluate.names import METRICS, OF_TEXT, QUALITY, TABULATED, TOKENIZED_BLEU, sign_of, title_of
from itersel.report.page.sentences import signature_of_sentences
from itersel.tune.nbest import tune_nbest

TEXT = ["the cat sat on the mat", "a dog barked at the cat"]


def of_config(name):
    if name.lower() == QUALITY:
        lists = {"lists": "l", "target": "t", "quality": "q"}
        text = {"kind": "lists", **dict.fromkeys(("train", "dev", "devtest"), lists)}
        data = {**text, "test": {"lists": "m", "target": "t"}}
    else:
        data = {}
    content = {"evaluation": {"choose_by": name}, "experiments": {"a": {}}, "data": data}
    return read_config(content).evaluation.choose_by


def of_step(kind):
    needed = {"patience": 1} if kind is PatienceSettings else {"name": "x"}
    return lambda name: (
        read_settings(
            kind, json.dumps({"scoring": {"choose_by": name, "tokenizer": "13a"}, **needed})
        ).scoring.choose_by
    )


def of_option(command, option):
    def parse(name):
        found = getattr(make_parser(command).parse_args([*command, f"--{option}", name]), option)
        return found[0] if isinstance(found, tuple) else found

    return parse


def of_compare(name):
    [found] = compare({"one": TEXT}, TEXT, metrics=[name], trials=1)
    return found.name


COMPARE = ["compare", "--reference", "a", "b"]
RUNS = ["report", "runs", "a", "b", "--baselines", "c"]
BORDERS = {
    "config": (of_config, (*METRICS, QUALITY)),
    "choose": (of_step(ChooseSettings), (*METRICS, QUALITY)),
    "patience": (of_step(PatienceSettings), (*METRICS, QUALITY)),
    "--metrics": (of_option(COMPARE, "metrics"), OF_TEXT),
    "--metric": (of_option(RUNS, "metric"), (TOKENIZED_BLEU, *TABULATED)),
    "compare": (of_compare, OF_TEXT),
}
CASES = [(border, name) for border, (_, names) in BORDERS.items() for name in names]


@pytest.mark.parametrize(("border", "name"), CASES)
def test_either_case_is_the_same_name(border, name):
    read_name, _ = BORDERS[border]
    for text in (name, name.upper(), title_of(name).replace(" ", "-")):
        assert read_name(text) == name


@pytest.mark.parametrize("border", BORDERS)
def test_other_names_are_refused(border):
    read_name, names = BORDERS[border]
    unknown = ["chrf2++", "bleu-lowercased", "", *(name for name in METRICS if name not in names)]
    for name in unknown:
        with pytest.raises((InputError, SystemExit)):
            read_name(name)


def score_of(name, text, references):
    """Return BLEU of a text, or the mean of another metric over its sentences."""
    if METRICS[name].kind != "bleu":
        pairs = list(zip(text, references, strict=True))
        return sum(corpus_score_of(name, [line], [reference]) for line, reference in pairs) / len(pairs)
    return corpus_score_of(name, text, references)


def corpus_score_of(name, text, references):
    [metric] = make_metrics([references], names=[name])
    return metric.score(metric.counts(text))


@pytest.mark.parametrize("name", OF_TEXT)
def test_quality(name, tmp_path):
    """The quality is the metric's, in its unit, and its name may be in either case."""
    lines = [f"{number} ||| {text} ||| f{number}=1" for number, text in enumerate(TEXT)]
    lines += [f"{number} ||| {text} today ||| f{number}=0" for number, text in enumerate(TEXT)]
    (tmp_path / "list").write_text("\n".join(sorted(lines)) + "\n")
    references = ["The cat sat on the mat", "a Dog barked at the cat now"]
    for quality in (name, name.upper()):
        found = tune_nbest([tmp_path / "list"], references, tuner="mert", quality=quality)
        texts = [
            [one, other] for one in (TEXT[0], f"{TEXT[0]} today") for other in (TEXT[1], f"{TEXT[1]} today")
        ]
        scores = [score_of(name, text, references) for text in texts]
        best = max(sign_of(name) * score for score in scores) * sign_of(name)
        assert found.quality_points == pytest.approx(best)


def test_page_shows_the_metric_that_it_names():
    """The score of single sentences on the page is chrf."""
    [metric] = make_metrics([["a b c"], ["a"]], names=["chrf"])
    assert signature_of_sentences(2) == metric.signature


def test_names_and_titles_differ_only_in_case_and_spaces():
    assert {title_of(name).lower().replace(" ", "-"): name for name in METRICS} == {
        name: name for name in METRICS
    }


def test_documentation_lists_all_names(root):
    text = (root / "docs/evaluation.md").read_text()
    rows = re.findall(r"^[|] `([a-z+-]+)` [|] ([^|]+) [|] `-m", text, re.M)
    assert dict(rows) == {name: title_of(name) for name in METRICS}
