"""Warnings of `itersel config check` about sides that are swapped, shifted or in another language."""

import random
import re

import pytest

from itersel.config.data import Data
from itersel.config.suspicions import Suspicions
from itersel.config.values import Config
from itersel.corpus.text import Bitext

GERMAN = [f"wort{number}en" for number in range(40)] + ["Berlin", "12", "und", "die"]
ENGLISH = [f"word{number}s" for number in range(40)] + ["Berlin", "12", "and", "the"]


def pairs(size, seed):
    """Return two sides of made-up pairs, whose lengths go together; a few words are on both."""
    source = random.Random(seed)
    german, english = [], []
    for _ in range(size):
        length = source.randint(3, 30)
        german.append(" ".join(source.choices(GERMAN, k=length)))
        english.append(" ".join(source.choices(ENGLISH, k=length + source.randint(0, 3))))
    return german, english


def found(dev, languages=("de", "en"), train=None):
    """Return the warnings about dev."""
    data = Data(kind="files", source_language=languages[0], target_language=languages[1])
    suspicions = Suspicions(Config(data=data, experiments={}))
    suspicions.add("dev", Bitext(*dev))
    suspicions.add("train", Bitext(*(train or pairs(400, 1))))
    return list(suspicions.warnings())


def test_usual_text():
    assert found(pairs(100, 2)) == []
    assert found(pairs(9, 2)) == []


def test_swapped_sides_share_no_sentence_with_train():
    german, english = pairs(100, 2)
    [warning] = found((english, german))
    assert "source and target of dev" in warning
    # the measured shares
    assert "% of its words are in the source of train, 100 % in the target" in warning


@pytest.mark.parametrize("side", ["source", "target"])
def test_one_side_in_the_other_language(side):
    german, english = pairs(100, 2)
    [warning] = found((english, english) if side == "source" else (german, german))
    assert warning.startswith(f"the {side} of dev ")
    assert "100 %" in warning


@pytest.mark.parametrize("shift", [1, -2])
def test_shifted_lines(shift):
    german, english = pairs(200, 2)
    moved = english[-shift:] + english[:-shift]
    [warning] = found((german, moved))
    assert "source and target of dev" in warning
    assert f"{'up' if shift > 0 else 'down'} by {abs(shift)} line" in warning
    # too few lines to tell
    assert found((german[:40], moved[:40])) == []


@pytest.mark.parametrize("change", ["lost", "doubled"])
@pytest.mark.parametrize("line", [10, 120, 700])
def test_lines_shifted_from_some_line_on(change, line):
    """One lost line is the usual case; in a long text, it may be beyond the first lines."""
    german, english = pairs(900, 2)
    moved = [*english[:line], *english[line + 1 :], ""] if change == "lost" else None
    moved = moved or [*english[:line], *english[line - 1 : -1]]
    [warning] = found((german, moved))
    assert f"{'down' if change == 'lost' else 'up'} by 1 line" in warning
    place = re.search("([0-9]+) to ([0-9]+)", warning)
    assert int(place[1]) - 50 <= line <= int(place[2])


def test_other_sentences():
    german, english = pairs(200, 2)
    random.Random(3).shuffle(english)
    [warning] = found((german, english))
    assert "correlation" in warning
    assert " by " not in warning


def test_equal_lengths_tell_nothing():
    german, english = ([f"{word} " * 5] * 100 for word in ("wort1en", "word1s"))
    assert found((german, english)) == []


@pytest.mark.parametrize(
    ("languages", "side", "script"),
    [(("de", "zh"), "target", "Latin"), (("ru", "en"), "source", "Latin"), (("de", "ja"), "target", "Latin")],
)
def test_script_of_another_language(languages, side, script):
    [warning] = [one for one in found(pairs(60, 2), languages) if " of dev " in one]
    assert warning.startswith(f"the {side} of dev ")
    assert script in warning


def test_scripts_that_languages_have():
    chinese = ["\u6211\u4eec" * (2 + number % 9) + "\u3002" for number in range(60)]
    german = ["das ist gut " * (2 + number % 9) for number in range(60)]
    assert found((german, chinese), ("de", "zh"), (german, chinese)) == []
    # of an unknown language, nothing is expected, nor of a code that names the script
    for code in ("xx", "kk-latn"):
        assert [one for one in found(pairs(60, 2), ("de", code)) if " of dev " in one] == []


def test_near_duplicates():
    """Sources that differ from one of train in numbers, or in one name, are counted; equal ones are not."""
    sources = [f"die Datei {number} gehört jetzt dem Benutzer Anna" for number in range(50)]
    targets = [f"file {number} belongs to user Anna now" for number in range(50)]
    german, english = pairs(50, 2)
    train = pairs(400, 1)
    train[0].append("die Datei 77.3 gehört jetzt dem Benutzer Anna")
    train[1].append("file 77.3 belongs to user Anna now")
    [warning] = found((german + sources, english + targets), train=train)
    assert warning.startswith("50 of the 100 different sources of dev (50 %)")

    other = [line.replace("Anna", "Otto") for line in sources]
    [warning] = found((german + other, english + targets), train=train)
    assert warning.startswith("50 of the 100 ")

    # two names differ, or a word that is no name
    for old, new in (("die Datei", "die Mappe"), ("gehört", "nimmt")):
        changed = [line.replace(old, new) for line in other]
        assert found((german + changed, english + targets), train=train) == []

    train[0].extend(sources)
    train[1].extend(targets)
    # all of dev is in train, but each has near-duplicates beside itself
    assert len(found((german + sources, english + targets), train=train)) == 1
    few = [*german, train[0][0]], [*english, train[1][0]]
    assert found(few) == []
