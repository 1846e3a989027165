"""Names of features: dense ones, and templates of sparse ones with those that installed packages add."""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from itersel.code.plugins import Extensible

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


def _is_feature_name(name: str) -> bool:
    prefixes = tuple(template.prefix for template in BUILT_IN_TEMPLATES.values())
    return name in (DENSE, OTHER, *DENSE_FEATURES) or f"{name}:".startswith(prefixes)


class _Prefixes(Extensible[str]):
    """The prefixes of the features of all templates.

    Those of a plugin begin with its name and a colon, so that they are known without importing it.
    """

    def _load(self, reference: str) -> str:
        return reference


TEMPLATES = _Prefixes(
    "itersel.templates",
    {name: template.prefix for name, template in BUILT_IN_TEMPLATES.items()},
    lambda plugin: f"{plugin.entry.name}:",
    _is_feature_name,
)


# Features of the text of translations in lists (`itersel.rerank`): dense ones by their groups, and templates
# of sparse ones.
TEXT_FEATURES = {
    "length": ("TextWords", "TextCharacters", "TextLengthRatio"),
    "rank": ("TextRank", "TextScore"),
    "language-model": ("TextModel", "TextModelUnknown"),
    "lexical": ("TextLexForward", "TextLexReverse"),
    "coverage": ("TextUncovered", "TextInserted"),
    "copies": ("TextMissing", "TextAdded"),
    "repetition": ("TextRepeated",),
    "unknown": ("TextUnknownWords", "TextUnknownCharacters"),
    "agreement": ("TextAgreementBleu", "TextAgreementChrf"),
}
# The templates with what they are; docs/text-features.md has the same words.
TEXT_TEMPLATES = {
    "Ngram1": "words of the translation",
    "Ngram2": "bigrams of the translation, also with its edges",
    "Ngram3": "trigrams of the translation, also with its edges",
    "Lex": "pairs of linked words",
    "Del": "source words without links",
    "Ins": "words of the translation without links",
    "Phrase": "pairs of phrases of up to two words that are linked only to each other, except pairs of words",
    "LexShape": "shapes of linked words: runs of capitals (A), other letters (a), digits (0), others (-)",
}


class _AllTemplates(Collection[str]):
    """The templates of grammars, and those of text; some names are of both."""

    def __contains__(self, name: object) -> bool:
        return name in TEXT_TEMPLATES or name in TEMPLATES

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*TEMPLATES, *TEXT_TEMPLATES))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __str__(self) -> str:
        return ", ".join(self)


ALL_TEMPLATES = _AllTemplates()


def own_model_features(name: str) -> tuple[str, str]:
    """Return the dense features of a language model of the user's, given its name."""
    return f"TextModel_{name}", f"TextModelUnknown_{name}"


def text_prefix(template: str) -> str:
    """Return what the names of the features of a template of text begin with."""
    return f"{template}:"
