"""Corpus scores and significance tests."""
