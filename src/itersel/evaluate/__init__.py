"""Corpus BLEU and tests of significance."""
