"""Learning to rank translations: sentence BLEU, preference pairs, and online learners."""
