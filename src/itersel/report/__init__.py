"""Choosing epochs, tables of systems, runs, tasks and corpora, and the page of a run."""
