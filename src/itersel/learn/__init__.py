"""Learning to rank translations: preference pairs and online learners."""
