"""The longest n-grams that BLEU counts; imports nothing, so metrics load without compiled code."""

ORDER = 4
