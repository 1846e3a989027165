"""Compilation of kernels, and their cache."""
