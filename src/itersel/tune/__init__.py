"""Batch tuners: k-best lists or forests of all iterations in, weights out."""
