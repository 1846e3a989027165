"""The parameters of chrF and chrF++; imports nothing, so kernels can use them."""

# The longest n-grams of characters, and of words, which chrF has none of.
CHARACTER_ORDER, WORD_ORDER = 6, 2
# The weight of recall.
BETA = 2.0
