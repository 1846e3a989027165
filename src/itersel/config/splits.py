"""The splits of a run: train, dev, devtest, and test sets with or without a name."""

from __future__ import annotations

from itersel.config.values import Config, ReferencedText, Split
from itersel.limits import devtest_split, test_split


def test_sets(config: Config) -> dict[str, str]:
    """Return the splits of the test sets by name; the one without a name of its own is called ``test``."""
    data = config.data
    of_help = ["", *data.held_out_modules] if data.kind != "files" else []
    return {name or "test": test_split(name) for name in [*of_help, *data.test]}


def own_devtests(config: Config) -> dict[str, str]:
    """Return the devtests of test sets that have their own: their splits, by name of the test set."""
    return {
        name: devtest_split(name) for name, one in config.data.test.items() if one.devtest != ReferencedText()
    }


def is_given(config: Config, split: str) -> bool:
    """Tell whether the config names the files of a split; others are taken from the help."""
    _, _, name = split.partition(".")
    return config.data.kind == "files" or (name != "" and name in config.data.test)


def text_of(config: Config, split: str) -> Split | ReferencedText:
    """Return the files that the config names for a split."""
    kind, _, name = split.partition(".")
    if kind == "test":
        return config.data.test[name]
    if name:
        return config.data.test[name].devtest
    given: Split | ReferencedText = getattr(config.data, kind)
    return given
