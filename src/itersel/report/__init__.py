"""Choosing epochs, and tables of systems and corpora."""
