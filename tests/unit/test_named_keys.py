"""Tables that name keys of a config: each key exists, also after a key has been renamed."""

from dataclasses import fields

import pytest

from itersel.config import data
from itersel.config.data_checks import OF_FILES, OF_HELP
from itersel.config.list_checks import OF_TEXTS, USED
from itersel.config.values import Config, DecoderSettings, Experiment
from itersel.corpus.text_names import NO_TEST_SETS, POOLED
from itersel.report.page_table import IN_COLUMNS
from itersel.report.runs_settings import LOCATION_KEYS


def keys_of(*sections):
    return {item.name for section in sections for item in fields(section)}


@pytest.mark.parametrize(
    ("names", "sections"),
    [
        (USED["data"], (data.Data,)),
        (USED["decoder"], (DecoderSettings,)),
        (OF_TEXTS, (data.TrainingText, data.ReferencedText)),
        (OF_HELP, (data.Data,)),
        (OF_FILES, (data.Data,)),
        ([key.partition(".")[0] for key in IN_COLUMNS], (Experiment,)),
        (LOCATION_KEYS, (Config,)),
    ],
)
def test_each_key_exists(names, sections):
    assert set(names) <= keys_of(*sections)


def test_a_test_set_cannot_have_the_name_of_a_key():
    """Otherwise `data.test` with this key could mean either."""
    assert set(NO_TEST_SETS) == {POOLED, *keys_of(data.TestSet)}
