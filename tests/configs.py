"""Parts of configs shared by several tests."""

from __future__ import annotations


def experiment(**settings):
    return {"experiments": {"a": settings}}


def perceptron(**settings):
    return {"name": "perceptron", **settings}


def selection(**settings):
    return {"name": "selection", **settings}
