"""The features and their groups: names, explanations, and the models that features of text need.

The groups are dense features, and the templates of sparse ones with those that installed packages add. Dense
features of text have groups of their own, by which a config names them. `itersel.vectors.feature_groups`
finds the group of a feature.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from itersel.code.plugins import Extensible

# The dense features of a rule in a grammar, with explanations; docs/features.md has the same words. Counts
# differ between sentences because of leave-one-out.
_OF_GRAMMAR = {
    "EgivenFCoherent": "−log10 of the relative frequency of the rule among the sampled occurrences of its "
    "source side",
    "SampleCountF": "log10 of one plus the number of sampled occurrences of the source side",
    "CountEF": "log10 of one plus the number of sampled occurrences of the rule",
    "MaxLexFgivenE": "lexical cost of the source side given the target side",
    "MaxLexEgivenF": "lexical cost of the target side given the source side",
    "IsSingletonF": "1 if the source side gives a rule at a single occurrence",
    "IsSingletonFE": "1 if the rule was seen once",
}
# Those that the decoder adds, for a rule by itself or for a derivation.
LANGUAGE_MODEL_FEATURE = "LanguageModel"
_OF_DECODER = {
    "Glue": "1 for each glue rule",
    "PassThrough": "1 for each word that is copied",
    "WordPenalty": "−0.434 for each target word",
    LANGUAGE_MODEL_FEATURE: "log10 of the language model's probability",
    "LanguageModel_OOV": "number of words that the language model does not know",
}
GRAMMAR_FEATURES, DECODER_FEATURES = tuple(_OF_GRAMMAR), tuple(_OF_DECODER)
DENSE_FEATURES = (*GRAMMAR_FEATURES, *DECODER_FEATURES)
_DENSE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[0-9]+)?")
MAX_DENSE = 64


def is_dense_name(name: str) -> bool:
    """Return whether a name is that of a dense feature: ours, or a word that may end in a number.

    Of other tools, PhraseModel_0 is dense; R:X:haus:house and SourcePath_haus are not. Only the name decides,
    so all shards of a corpus agree on which features are dense.
    """
    return name in DENSE_FEATURES or _DENSE_NAME.fullmatch(name) is not None


# What settings call all dense features: the only ones that are used (`features`), a group that is kept
# (`keep`), or as many directions of a line search (`directions`). `features` may also be all features.
DENSE, ALL_FEATURES = "dense", "all"
# The group of sparse features without a template, which come from imported grammars.
OTHER = "other"


class Template(NamedTuple):
    """A template of sparse features: what the names of its features begin with, and what they are."""

    prefix: str
    explanation: str


# The template whose features follow from the samples of a rule, not from the rule.
COUNT = "Count"
# Each has a module in `itersel.grammar.templates`. A prefix must not be the beginning of another.
BUILT_IN_TEMPLATES = {
    "R": Template("R:", "the rule itself"),
    "RBS": Template("RBS:", "bigrams of the source side"),
    "RBT": Template("RBT:", "bigrams of the target side"),
    "Shape": Template("Shape_S", "runs of terminals (positions 1, 3, 5) and nonterminals (2, 4), both sides"),
    "ShapeT": Template("Shape_T", "runs of terminals and nonterminals, target side only"),
    "Lex": Template("Lex:", "pairs of linked words (Green et al. 2013)"),
    "Del": Template("Del:", "source words without links, which are left untranslated (Green et al. 2013)"),
    COUNT: Template("Count:", "how often the rule was seen, in bins: 1, 2, 3-4, 5-8, ..."),
}
DEFAULT_TEMPLATES = ("R", "RBS", "RBT", "Shape")
# The templates that cdec computes itself, and what it calls them; text grammars list the others.
CDEC_TEMPLATES = {
    "R": "RuleIdentityFeatures",
    "RBS": "RuleSourceBigramFeatures",
    "RBT": "RuleTargetBigramFeatures",
    "Shape": "RuleShape",
}


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


# Explanations of dense features and templates of grammars, by name.
EXPLANATIONS = {
    **_OF_GRAMMAR,
    **_OF_DECODER,
    **{name: template.explanation for name, template in BUILT_IN_TEMPLATES.items()},
}


class NeededModels(NamedTuple):
    """Which models features of text need."""

    aligners: bool
    lexicon: bool
    language_model: bool


ALIGNERS, LEXICON, LANGUAGE_MODEL = NeededModels._fields


class TextGroup(NamedTuple):
    """A group of dense features of text: their explanations by name, and the kind of models they need."""

    features: Mapping[str, str]
    model: str | None = None


class TextTemplate(NamedTuple):
    """A template of sparse features of text: what they are, and the kind of models they need."""

    explanation: str
    model: str | None = None


# Features of the text of translations in lists (`itersel.rerank`); docs/text-features.md has the same words.
TEXT_GROUPS = {
    "length": TextGroup(
        {
            "TextWords": "words",
            "TextCharacters": "characters without spaces",
            "TextLengthRatio": "absolute difference of log10(words + 1) between translation and source",
        }
    ),
    "rank": TextGroup(
        {
            "TextRank": "log10 of the rank in the list, from 1",
            "TextScore": "the decoder's score minus the highest one of the list",
        }
    ),
    "language-model": TextGroup(
        {
            "TextModel": "log10 of the probability under a language model of train",
            "TextModelUnknown": "words that this model does not know",
        },
        LANGUAGE_MODEL,
    ),
    "lexical": TextGroup(
        {
            "TextLexForward": "log10 p(translation given source), by IBM model 1 with the words linked in "
            "train",
            "TextLexReverse": "log10 p(source given translation)",
        },
        LEXICON,
    ),
    "coverage": TextGroup(
        {
            "TextUncovered": "source words without links",
            "TextInserted": "words of the translation without links",
        },
        ALIGNERS,
    ),
    "copies": TextGroup(
        {
            "TextMissing": "numbers, addresses, placeholders, tags and the like of the source that are "
            "missing",
            "TextAdded": "those of the translation that the source does not have",
        }
    ),
    "repetition": TextGroup({"TextRepeated": "bigrams that occur earlier in the translation, too"}),
    "unknown": TextGroup(
        {
            "TextUnknownWords": "words that do not occur in train",
            "TextUnknownCharacters": "characters that do not occur in train",
        },
        LEXICON,
    ),
    "agreement": TextGroup(
        {
            "TextAgreementBleu": "BLEU of the translation against what its list expects",
            "TextAgreementChrf": "chrF likewise",
        }
    ),
}
TEXT_TEMPLATES = {
    "Ngram1": TextTemplate("words of the translation"),
    "Ngram2": TextTemplate("bigrams of the translation, also with its edges"),
    "Ngram3": TextTemplate("trigrams of the translation, also with its edges"),
    "Lex": TextTemplate("pairs of linked words", ALIGNERS),
    "Del": TextTemplate("source words without links", ALIGNERS),
    "Ins": TextTemplate("words of the translation without links", ALIGNERS),
    "Phrase": TextTemplate(
        "pairs of phrases of up to two words that are linked only to each other, except pairs of words",
        ALIGNERS,
    ),
    "LexShape": TextTemplate(
        "shapes of linked words: runs of capitals (A), other letters (a), digits (0), others (-)", ALIGNERS
    ),
}
# Explanations of dense features and templates of text, by name.
TEXT_EXPLANATIONS = {
    **{name: text for group in TEXT_GROUPS.values() for name, text in group.features.items()},
    **{name: template.explanation for name, template in TEXT_TEMPLATES.items()},
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


def that_need(model: str, groups: Collection[str], templates: Collection[str]) -> list[str]:
    """Return the groups and templates of text that need a kind of models, in the order of their names."""
    found = [name for name in groups if TEXT_GROUPS[name].model == model]
    found += [name for name in templates if TEXT_TEMPLATES[name].model == model]
    return sorted(found)


def needed_models(groups: Collection[str], templates: Collection[str]) -> NeededModels:
    """Return which models these groups and templates of text need."""
    return NeededModels(*(bool(that_need(model, groups, templates)) for model in NeededModels._fields))


def user_model_features(name: str) -> tuple[str, str]:
    """Return the dense features of one of the user's own language models, given its name."""
    return f"TextModel_{name}", f"TextModelUnknown_{name}"


def added_dense_features(groups: Iterable[str], user_models: Iterable[str]) -> tuple[str, ...]:
    """Return the dense features that are added to lists: of groups, and of language models by their names."""
    of_groups = (TEXT_GROUPS[group].features for group in groups)
    return tuple(chain.from_iterable([*of_groups, *map(user_model_features, user_models)]))


def text_prefix(template: str) -> str:
    """Return what the names of the features of a template of text begin with."""
    return f"{template}:"
