"""n-best lists: one table, its files, and the lists of other decoders as text."""
