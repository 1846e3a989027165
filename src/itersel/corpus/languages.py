"""Language codes in files of other tools."""

from __future__ import annotations


def matches(code: str, language: str) -> bool:
    """Return whether a language code matches a language: ``en`` matches ``en-us``, ``en-gb`` does not."""
    code, language = code.replace("_", "-").lower(), language.lower()
    return f"{code}-".startswith(f"{language}-") or f"{language}-".startswith(f"{code}-")
