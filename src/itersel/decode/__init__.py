"""Translation: CKY+, cube pruning, lazy k-best."""
