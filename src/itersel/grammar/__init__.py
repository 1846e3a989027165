"""Grammars: corpus index, extraction, text format, shards."""
