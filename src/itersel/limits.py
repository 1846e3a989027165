"""Names and bounds that the config and the steps share; it imports little, so that both start fast."""

import re

SPLITS = ("train", "dev", "devtest", "test")
TEST_SET_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_-]*"
# What all test sets together are called, and the keys of a single one.
POOLED = "pooled"
NO_TEST_SETS = (POOLED, "source", "target", "task", "devtest")
# As Debian writes languages: de, pt-br.
LANGUAGE_PATTERN = r"[a-z]{2,3}(-[a-z]+)*"

# Scores of detokenised text, each cased and lowercased.
METRICS = ("BLEU", "chrF2++", "TER")
CASES = ("cased", "lowercased")
LOWER_IS_BETTER = ("TER",)
# sacrebleu's tokenizers that need no download.
TOKENIZERS = ("13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none")
# What the epoch can be chosen by, beside BLEU of the tokenised text: metric and case.
TOKENIZED_BLEU = "tokenized-bleu"
TEXT_SCORES = {
    "bleu": ("BLEU", "cased"),
    "chrf": ("chrF2++", "cased"),
    "ter": ("TER", "cased"),
    "bleu-lowercased": ("BLEU", "lowercased"),
    "chrf-lowercased": ("chrF2++", "lowercased"),
    "ter-lowercased": ("TER", "lowercased"),
}

MAX_SEED = 2**31 - 1
# Of a whole number where nothing else bounds it: up to here, doubles hold all of them.
MAX_INTEGER = 2**53

# Of a rule: words of its source span (phrases are indexed up to this length), source symbols, nonterminals.
MAX_SPAN = 30
MAX_SYMBOLS = 15
MAX_NONTERMINALS = 2
MAX_SAMPLES = 1_000_000

# Words of a sentence that `itersel translate` takes: some ten seconds.
MAX_SENTENCE = 2000

MAX_POP_LIMIT = 10_000
# The products of all pairs of a k-best list are kept while it is learned from: 800 MB for this one.
MAX_K_BEST = 10_000
MAX_ORDER = 9

# Of raw text, as the config bounds it; what is made of a line in preparation is at most four times as long.
MIN_RAW_LINE_BYTES = 2**10
DEFAULT_LINE_BYTES = 2**20
MAX_RAW_LINE_BYTES = 2**24
# Of all other text that is read.
MAX_LINE_BYTES = 2**26
# Text is read in pieces of this size.
BLOCK_BYTES = 2**18
# What is read whole from a .gz may be this large, and beyond that so many times as large as the file: text
# packs to a third or a tenth, a gzip file can unpack to a thousand times its size.
UNPACKED_BYTES = 2**26
MAX_UNPACKING = 100
# A JSON text takes some 25 times its size in memory.
MAX_JSON_BYTES = 2**26
MAX_CONFIG_BYTES = 2**24

# Dense features. Of a rule in the grammar of a sentence (counts differ from sentence to sentence:
# leave-one-out).
GRAMMAR_FEATURES = (
    "EgivenFCoherent",
    "SampleCountF",
    "CountEF",
    "MaxLexFgivenE",
    "MaxLexEgivenF",
    "IsSingletonF",
    "IsSingletonFE",
)
# Of a rule alone, or of a derivation: the decoder adds them.
DECODER_FEATURES = ("Glue", "PassThrough", "WordPenalty", "LanguageModel", "LanguageModel_OOV")
DENSE_FEATURES = (*GRAMMAR_FEATURES, *DECODER_FEATURES)
# Templates of sparse features, and how their names begin: see itersel.grammar.templates.
TEMPLATES = {
    "R": "R:",
    "RBS": "RBS:",
    "RBT": "RBT:",
    "Shape": "Shape_S",
    "ShapeT": "Shape_T",
    "Lex": "Lex:",
    "Del": "Del:",
    "Count": "Count:",
}
DEFAULT_TEMPLATES = ("R", "RBS", "RBT", "Shape")


def is_test_set_name(name: object) -> bool:
    """Tell whether a test set can have this name: it must suit file names and not be a reserved key."""
    return isinstance(name, str) and bool(re.fullmatch(TEST_SET_PATTERN, name)) and name not in NO_TEST_SETS


def test_split(name: str) -> str:
    """Return the split of a test set; the one without a name is ``test``."""
    return f"test.{name}" if name else "test"


def devtest_split(name: str) -> str:
    """Return the split on which a test set that has its own devtest chooses the epoch."""
    return f"devtest.{name}"
