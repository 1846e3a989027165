"""Which group each feature is in: dense features, sparse ones by their template, and others."""

from __future__ import annotations

from itertools import chain

import numpy as np

from itersel.storage.arrays import Int8s, UInt64s
from itersel.storage.strings import StringTable, string_table
from itersel.vectors.feature_names import (
    ALL_TEMPLATES,
    DENSE,
    DENSE_FEATURES,
    OTHER,
    TEMPLATES,
    TEXT_GROUPS,
    TEXT_TEMPLATES,
    text_prefix,
    user_model_features,
)
from itersel.vectors.features import feature_keys, names_with


def feature_groups() -> tuple[str, ...]:
    """Return the groups of features: dense ones, sparse ones by template, and others."""
    return DENSE, *TEMPLATES, OTHER


def reported_groups() -> tuple[str, ...]:
    """Return the groups of features in reports: those of text have their own."""
    return DENSE, *ALL_TEMPLATES, OTHER


def find_groups(key: UInt64s, name: StringTable) -> Int8s:
    """Return the group of each feature, as its position in `feature_groups`."""
    groups = feature_groups()
    group = np.full(key.shape[0], groups.index(OTHER), np.int8)
    group[np.isin(key, feature_keys(string_table(DENSE_FEATURES)))] = groups.index(DENSE)
    for template, prefix in TEMPLATES.items():
        group[names_with(prefix, name)] = groups.index(template)
    return group


def find_reported_groups(key: UInt64s, name: StringTable) -> Int8s:
    """Return the group of each feature, as its position in `reported_groups`."""
    groups = reported_groups()
    places = np.array([groups.index(group) for group in feature_groups()], np.int8)
    found = find_groups(key, name)
    group = places[found]
    is_other = found == feature_groups().index(OTHER)

    members = {template: names_with(text_prefix(template), name) for template in TEXT_TEMPLATES}
    dense = feature_keys(string_table(chain.from_iterable(group.features for group in TEXT_GROUPS.values())))
    own = [names_with(prefix, name) for prefix in user_model_features("")]
    members[DENSE] = np.concatenate([np.flatnonzero(np.isin(key, dense)), *own])
    for place, rows in members.items():
        group[rows[is_other[rows]]] = groups.index(place)
    return group
