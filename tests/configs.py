"""Parts of configs shared by several tests."""

from __future__ import annotations

import functools

import jsonschema

from itersel.config.rendering import json_schema


def experiment(**settings):
    return {"experiments": {"a": settings}}


def perceptron(**settings):
    return {"name": "perceptron", **settings}


@functools.cache
def schema():
    """Return a validator of the schema."""
    kind = jsonschema.validators.validator_for(json_schema())
    kind.check_schema(json_schema())
    return kind(json_schema())


def selection(**settings):
    return {"name": "selection", **settings}
