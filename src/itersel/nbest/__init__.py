"""n-best lists of any decoder: reading, rescoring, and writing in their original format."""
