"""Grammars: corpus index, extraction, text format, files of sentences with their grammars."""
