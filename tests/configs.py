"""Parts of configs shared by several tests."""

import functools

import jsonschema

from itersel.config.rendering import json_schema

PAIR = {"source": "s", "target": "t"}
FILES = {"kind": "files", **dict.fromkeys(("train", "dev", "devtest", "test"), PAIR)}


LISTED = {"lists": "l", "target": "t"}
LISTS = {"kind": "lists", **dict.fromkeys(("train", "dev", "devtest", "test"), LISTED)}


def experiment(**settings):
    return {"experiments": {"a": settings}}


def experiments(**settings):
    return {"experiments": settings}


def learner(name, **settings):
    return experiment(learner={"name": name, **settings})


def mixing(name, **settings):
    return experiment(mixing={"name": name, **settings})


def tasks(name="random", **settings):
    return experiment(tasks={"name": name, **settings})


def data(**keys):
    return experiment() | {"data": keys}


def files(**keys):
    return data(**FILES | keys)


def lists(settings=None, **keys):
    """Return a config with lists, with other settings of its experiment or keys of data."""
    return experiment(**(settings or {})) | {"data": LISTS | keys}


def train(**keys):
    return files(train=keys)


@functools.cache
def schema():
    kind = jsonschema.validators.validator_for(json_schema())
    kind.check_schema(json_schema())
    return kind(json_schema())
