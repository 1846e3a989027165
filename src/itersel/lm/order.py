"""The longest n-grams of a language model; imports nothing, so that configs load quickly."""

MAX_ORDER = 9
