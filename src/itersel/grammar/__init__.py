"""Grammars: index of a corpus, extraction, text form, shards."""
