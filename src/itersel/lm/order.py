"""The longest n-grams of a language model; imports nothing, so configs read fast."""

MAX_ORDER = 9
