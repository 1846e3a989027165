"""References, n-gram counts, and sentence and corpus BLEU."""
