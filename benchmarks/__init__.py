"""Measurements of speed and memory: ``python -m benchmarks`` (see README.md in this folder)."""
