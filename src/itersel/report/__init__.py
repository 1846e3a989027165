"""Choice of the epoch, and tables of systems and corpora."""
