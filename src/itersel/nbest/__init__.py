"""n-best lists of any decoder: read, rescored, and written in the form that they came in."""
