"""Learning to rank translations: sentence BLEU, preference pairs, perceptron updates."""
