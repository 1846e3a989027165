"""Names and bounds that the config and the steps share; it imports nothing, so that both start fast."""

SPLITS = ("train", "dev", "devtest", "test")
# As Debian writes languages: de, pt-br.
LANGUAGE_PATTERN = r"[a-z]{2,3}(-[a-z]+)*"

MAX_SEED = 2**31 - 1

# Of a rule: words of its source span (phrases are indexed up to this length), source symbols, nonterminals.
MAX_SPAN = 30
MAX_SYMBOLS = 15
MAX_NONTERMINALS = 2
MAX_SAMPLES = 1_000_000

MAX_POP_LIMIT = 10_000
# The products of all pairs of a k-best list are kept while it is learned from: 800 MB for this one.
MAX_K_BEST = 10_000
MAX_ORDER = 9
