"""Names and bounds shared by the config and the steps; imports little, so both start fast."""

import re
from collections.abc import Sequence
from typing import NamedTuple

# Which pairs are duplicates: those with the same source and target, the same source, or none.
DEDUPLICATION = ("pairs", "source", "none")
HELD_OUT = ("dev", "devtest", "test")
SPLITS = ("train", *HELD_OUT)
TEST_SET_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_-]*"
# The name for all test sets together, and the config keys of a single one: not allowed as test set names.
POOLED = "pooled"
NO_TEST_SETS = (
    *(POOLED, "source", "target", "file", "columns", "fields", "mtdata", "sacrebleu", "task", "devtest"),
    *("lists", "quality"),
)
# Where the LibreOffice Help is downloaded from. The release is fixed so that everyone gets the same text.
DEBIAN_MIRROR = "https://deb.debian.org/debian"
DEBIAN_RELEASE = "bookworm"

# Addresses that are passed to a shell and shown in messages.
ADDRESS_PATTERN = r"(https?|file)://[^\s'\"]+"
RELEASE_PATTERN = r"[a-z][a-z0-9-]*"

# Language codes as Debian writes them: de, pt-br.
LANGUAGE_PATTERN = r"[a-z]{2,3}(-[a-z]+)*"

# sacrebleu's tokenizers that need no download.
TOKENIZERS = ("13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none")

MAX_SEED = 2**31 - 1
# The largest seed that numpy takes.
MAX_NUMPY_SEED = 2**32 - 1
# The limit for integers with no other bound: doubles represent all integers up to here exactly.
MAX_INTEGER = 2**53

# Limits on a rule: words in its source span (phrases are indexed up to this length), source symbols,
# non-terminals.
MAX_SPAN = 30
MAX_SYMBOLS = 15
MAX_NONTERMINALS = 2
MAX_SAMPLES = 1_000_000

# The maximum number of columns in a TSV file.
MAX_COLUMNS = 1000
# The longest sentence that `itersel translate` accepts, in words and in bytes; it takes about ten seconds.
MAX_SENTENCE = 2000
MAX_SENTENCE_BYTES = 2**18

# The maximum number of processes of a step.
MAX_PROCESSES = 256

MAX_POP_LIMIT = 10_000
# Learning from a k-best list keeps the products of all pairs in memory: 800 MB for this size.
MAX_K_BEST = 10_000
MAX_ORDER = 9

# Bounds on the config's limit for lines of raw text; preparation makes a line at most four times as long.
MIN_RAW_LINE_BYTES = 2**10
DEFAULT_LINE_BYTES = 2**20
MAX_RAW_LINE_BYTES = 2**24
# The limit for lines of all other text.
MAX_LINE_BYTES = 2**26
# The limit for a translation unit with all its languages; as a tree, it takes about 40 times as much memory.
MAX_TMX_UNIT = 2**23
# Text is read in pieces of this size.
BLOCK_BYTES = 2**18
# A compressed file that is read whole may unpack to this size, or to this many times the size of the file if
# that is larger. Text compresses to a third or a tenth, but a gzip file can unpack to a thousand times its
# size.
UNPACKED_BYTES = 2**26
MAX_UNPACKING = 100

# Parsed JSON takes about 25 times the size of its text in memory.
MAX_JSON_BYTES = 2**26
MAX_CONFIG_BYTES = 2**24

# Dense features of a rule in a sentence's grammar (counts differ between sentences because of leave-one-out).
GRAMMAR_FEATURES = (
    "EgivenFCoherent",
    "SampleCountF",
    "CountEF",
    "MaxLexFgivenE",
    "MaxLexEgivenF",
    "IsSingletonF",
    "IsSingletonFE",
)
# Dense features that the decoder adds, for a rule by itself or for a derivation.
DECODER_FEATURES = ("Glue", "PassThrough", "WordPenalty", "LanguageModel", "LanguageModel_OOV")
DENSE_FEATURES = (*GRAMMAR_FEATURES, *DECODER_FEATURES)
# Of features that are not itersel's, PhraseModel_0 is dense, R:X:haus:house and SourcePath_haus are not. The
# name alone decides, so all shards of a corpus agree on which features are dense.
DENSE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[0-9]+)?")
MAX_DENSE = 64
FEATURE_SETS = ("dense", "all")
# Groups of features without a template; those in "other" come from imported grammars.
DENSE, OTHER = "dense", "other"


class Template(NamedTuple):
    """A template of sparse features: what the names of its features begin with, and what they are."""

    prefix: str
    explanation: str


# Each has a module in `itersel.grammar.templates`. A prefix must not be the beginning of another.
BUILT_IN_TEMPLATES = {
    "R": Template("R:", "the rule itself"),
    "RBS": Template("RBS:", "bigrams of the source side"),
    "RBT": Template("RBT:", "bigrams of the target side"),
    "Shape": Template("Shape_S", "runs of terminals (positions 1, 3, 5) and nonterminals (2, 4), both sides"),
    "ShapeT": Template("Shape_T", "runs of terminals and nonterminals, target side only"),
    "Lex": Template("Lex:", "pairs of linked words (Green et al. 2013)"),
    "Del": Template("Del:", "source words without links, which are left untranslated (Green et al. 2013)"),
    "Count": Template("Count:", "how often the rule was seen, in bins: 1, 2, 3-4, 5-8, ..."),
}
DEFAULT_TEMPLATES = ("R", "RBS", "RBT", "Shape")

# The syntax of numbers in text: weights, grammars, language models and options. `float` alone would accept
# 1_000, digits of other scripts, and surrounding white space. Restricted to these characters, it accepts
# decimal numbers, with or without an exponent, and nothing else.
NUMBER_CHARACTERS = "0123456789+-.eE"
# The smallest double, written without an exponent, has more than 324 digits.
LONGEST_NUMBER = 400
_NUMBER_BYTES = NUMBER_CHARACTERS.encode() + b" "
# Readers reject these with their own messages.
_NOT_FINITE = re.compile("[-+]?(inf|infinity|nan)", re.IGNORECASE | re.ASCII)


def max_unpacked(packed: int) -> int:
    """Return the maximum number of bytes to which `packed` bytes may unpack."""
    return max(UNPACKED_BYTES, MAX_UNPACKING * packed)


def is_test_set_name(name: object) -> bool:
    """Return whether this name is valid for a test set: usable in file names and not a reserved key."""
    return isinstance(name, str) and bool(re.fullmatch(TEST_SET_PATTERN, name)) and name not in NO_TEST_SETS


def text_name(split: str, name: str) -> str:
    """Return the name of a text: ``train``, ``train.news``, ``test.wmt11``; its folder if downloaded."""
    return f"{split}.{name}" if name else split


def parse_number(text: str) -> float:
    """Parse a number, which may be ``inf`` or ``nan``; a ValueError says if the text is something else."""
    try:
        # strip is five times as fast as a regular expression
        if not text.strip(NUMBER_CHARACTERS) or _NOT_FINITE.fullmatch(text):
            return float(text)
    except ValueError:
        pass
    raise ValueError(f"'{text}' is not a number")


def are_numeric(fields: Sequence[bytes]) -> bool:
    """Return whether all fields consist of characters used in numbers and none is unreasonably long."""
    # numpy pads every string in an array to the length of the longest
    return not b" ".join(fields).strip(_NUMBER_BYTES) and max(map(len, fields), default=0) <= LONGEST_NUMBER
