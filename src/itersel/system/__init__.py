"""Trained systems: what was chosen, what they need to translate, and bundles of both."""
