"""The models that features of text need."""

import pytest

from itersel.vectors.feature_names import NeededModels, needed_models, that_need


@pytest.mark.parametrize(
    ("groups", "templates", "needed"),
    [
        ((), (), ()),
        (("length", "copies"), ("Ngram1", "Ngram3"), ()),
        (("coverage",), (), ("aligners",)),
        (("unknown", "lexical"), (), ("lexicon",)),
        (("language-model",), ("Phrase", "Ngram2"), ("aligners", "language_model")),
    ],
)
def test_models_of_groups_and_templates(groups, templates, needed):
    found = needed_models(groups, templates)
    assert tuple(name for name in NeededModels._fields if getattr(found, name)) == needed


def test_what_needs_a_model():
    """Messages name the first, whatever the order of a config."""
    found = that_need("aligners", ["length", "coverage"], ["Ins", "Del", "Ngram1"])
    assert found == ["Del", "Ins", "coverage"]
