"""Tuning on n-best lists with several seeds, of which the weights that are best on devtest are kept."""

import json
import re
import statistics
from pathlib import Path

import numpy as np
import pytest

from itersel.cli.main import main
from itersel.evaluate.texts import read_references
from itersel.storage.hdf5 import header_of
from itersel.tune.nbest import tune_nbest
from itersel.tune.tuners.kbest_mira import KBestMira
from itersel.vectors.weights import FORMAT

WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "red"]


@pytest.fixture
def hard(tmp_path, monkeypatch):
    """Work in a folder with lists of dev and devtest, and a reference of each; features say little."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(7)
    for name in ("dev", "devtest"):
        lines, reference = [], []
        for sentence in range(20):
            words = random.choice(WORDS, 9)
            reference.append(" ".join(words))
            for _ in range(10):
                text = " ".join(word if random.random() < 0.8 else "x" for word in words)
                features = " ".join(
                    f"{one}={random.normal() + text.count('x') * 0.1:.3f}" for one in "abcdef"
                )
                lines.append(f"{sentence} ||| {text} ||| {features}")
        (tmp_path / name).write_text("\n".join(lines))
        (tmp_path / f"{name}.ref").write_text("".join(f"{line}\n" for line in reference))
        (tmp_path / f"{name}.numbers").write_text("".join(f"{random.random()}\n" for _ in lines))


SEVERAL = ["--seeds", "3-5,9", "--devtest-nbest", "devtest", "--devtest-reference", "devtest.ref"]


@pytest.mark.parametrize("quality", ["bleu", "ter"])
def test_seeds(hard, capsys, quality):
    """The weights that are best on devtest are those of a run with their seed alone."""
    command = ["tune", "--tuner", "kbest-mira", "--passes", "1", "--nbest", "dev", "--quality", quality]
    command += ["--reference", "dev.ref", "--output"]
    assert main([*command, "best.json", *SEVERAL]) == 0
    printed = capsys.readouterr().out.splitlines()

    dev, devtest = read_references(["dev.ref"]), read_references(["devtest.ref"])
    found, weights = {}, {}
    for seed in (3, 4, 5, 9):
        tuned = tune_nbest(["dev"], *dev, tuner=KBestMira(passes=1), quality=quality, seed=seed)
        again = tune_nbest(["devtest"], *devtest, tuner=KBestMira(), start=tuned.weights, quality=quality)
        found[seed] = tuned.quality_points, again.start_quality_points
        weights[seed] = tuned.weights.to_dict()
    reached = {seed: scores[1] for seed, scores in found.items()}
    assert len({*reached.values()}) > 1
    best = (min if quality == "ter" else max)(reached, key=reached.__getitem__)
    assert json.loads(Path("best.json").read_text()) == weights[best]

    rows = {line.split("  ")[0].strip(): line.split()[-2:] for line in printed[2:9]}
    for seed, scores in found.items():
        assert rows[f"{seed} *" if seed == best else str(seed)] == [f"{score:.2f}" for score in scores]
    columns = list(zip(*found.values(), strict=True))
    assert rows["mean"] == [f"{statistics.mean(column):.2f}" for column in columns]
    assert rows["standard deviation"] == [f"{statistics.stdev(column):.2f}" for column in columns]

    assert main([*command, "best.h5", *SEVERAL]) == 0
    assert json.loads(header_of("best.h5", FORMAT).attributes["settings"])["seed"] == best


@pytest.mark.parametrize("values", ["1", "1 2 3"])
def test_devtest_has_other_numbers_of_values(hard, refused, values):
    for name, own in (("dev", "1 2"), ("devtest", values)):
        lines = Path(name).read_text().splitlines()
        Path(name).write_text("".join(f"{line} TM= {own}\n" for line in lines))
    options = ["--nbest=dev", "--reference=dev.ref", "--output=w", *SEVERAL]
    refused(["tune", "--tuner=mert", *options], ("devtest:", "'TM'", len(values.split()), 2))
    assert not Path("w").exists()


def test_the_first_of_equal_seeds(hard, capsys):
    Path("start").write_text("a 1\n")
    command = ["tune", "--tuner", "kbest-mira", "--c", "1e-9", "--start", "start", "--nbest", "dev"]
    command += ["--quality", "dev.numbers"]
    same = ["--seeds", "7,2", "--devtest-nbest", "devtest", "--devtest-quality", "devtest.numbers"]
    assert main([*command, "--output", "w.json", *same]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[3:5]] == [["7", "*"], ["2", lines[3].split()[2]]]


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (["--devtest-nbest", "devtest"], ("--devtest-nbest", "--seeds")),
        (["--devtest-feature", "lm=dev.numbers"], ("--devtest-feature", "--seeds")),
        (["--seeds", "1-2"], ("--seeds", "--devtest-nbest")),
        ([*SEVERAL, "--devtest-quality", "devtest.numbers"], ("--devtest-quality", "--quality")),
        ([*SEVERAL, "--quality", "dev.numbers"], ("--devtest-quality", "--quality")),
        ([*SEVERAL, "--feature", "lm=dev.numbers"], ("--feature", "--devtest-feature", "'lm'")),
        # a file, also where its name is that of a metric
        ([*SEVERAL, "--quality", "dev.numbers", "--devtest-quality", "ter"], "ter:"),
        (SEVERAL[:4], "bleu"),
        ([*SEVERAL[:2], "--devtest-nbest", "other", *SEVERAL[4:]], ("other:", "dev")),
    ],
)
def test_wrong_devtest(hard, refused, options, facts):
    Path("other").write_text(re.sub("([a-f]=)", r"x\1", Path("devtest").read_text()))
    refused(["tune", "--tuner=mert", "--nbest=dev", "--reference=dev.ref", "--output=w", *options], facts)
    assert not Path("w").exists()


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (["--devtest-quality", "missing"], ("--devtest-quality", "--seeds")),
        (["--devtest-feature", "a=missing"] * 2, ("--devtest-feature", "--seeds")),
        ([*SEVERAL, "--seed", "7"], ("--seed ", "--seeds")),
        ([*SEVERAL, "--devtest-quality", "missing"], ("--devtest-quality", "--quality")),
        # perhaps a metric whose name is misspelt
        ([*SEVERAL, "--quality", "missing"], "missing:"),
        ([*SEVERAL, "--feature", "lm=missing"], ("--feature", "--devtest-feature", "'lm'")),
    ],
)
def test_options_without_effect_are_refused_before_files_are_read(refused, options, facts):
    files = ["--nbest=missing", "--reference=missing", "--start=missing"]
    refused(["tune", "--tuner=mert", *files, "--output=w", *options], facts)


@pytest.mark.parametrize(
    "given", ["1", "1-1", "2-1", "1,1", "1-2000", "a", "1-", "", "1-2-3", "3,1-5", "5-1,7,9"]
)
def test_wrong_seeds(misused, given):
    misused(["tune", "--tuner=mert", "--nbest=x", "--output=w", f"--seeds={given}"], ("--seeds", "1-5"))
