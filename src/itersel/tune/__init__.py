"""Batch tuners: learn weights from the k-best lists or forests of all iterations."""
