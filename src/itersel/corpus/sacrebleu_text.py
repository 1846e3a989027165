"""Test sets downloaded and cached by sacrebleu."""

from __future__ import annotations

import difflib
import logging
import os
from typing import Any

from itersel.corpus.text import Bitext, clean_text
from itersel.errors import InputError
from itersel.storage.files import read_lines

SHOWN = 8


def language_pair(name: str, source_language: str, target_language: str) -> str:
    """Return sacrebleu's name for the language pair of a test set: ``de-en`` for ``de`` and ``en-us``.

    Raises
    ------
    InputError
        If sacrebleu has no such test set, or does not have it in these languages.
    """
    pairs = _dataset(name).langpairs
    sources, targets = (
        dict.fromkeys([language, language.split("-")[0]]) for language in (source_language, target_language)
    )
    for source in sources:
        for target in targets:
            found = next((pair for pair in pairs if pair.lower() == f"{source}-{target}"), None)
            if found is not None:
                return str(found)
    there = ", ".join(sorted(pairs)[:SHOWN]) + (" and others" if len(pairs) > SHOWN else "")
    wanted = f"{source_language}-{target_language}"
    raise InputError(f"sacrebleu's test set '{name}' is not in {wanted}; it is in {there}")


def count_references(name: str, source_language: str, target_language: str) -> int:
    """Return the number of references of a test set, which sacrebleu knows without downloading it."""
    dataset, pair = _dataset(name), language_pair(name, source_language, target_language)
    # sets from 2021 on: the files contain all references, the metadata tell which ones are used
    allowed = getattr(dataset, "_get_langpair_allowed_refs", None)
    if allowed is not None:
        return len(allowed(pair))
    return sum(field.startswith("ref") for field in dataset.fieldnames(pair))


def fetch_test_set(name: str, source_language: str, target_language: str) -> Bitext:
    """Return a test set with all references that sacrebleu scores against.

    The files are kept in sacrebleu's folder (``~/.sacrebleu``, or $SACREBLEU), and downloaded only if they
    are missing.

    Raises
    ------
    InputError
        If there is no such test set, or it cannot be downloaded.
    """
    dataset, pair = _dataset(name), language_pair(name, source_language, target_language)
    logging.getLogger("sacrebleu").setLevel(logging.CRITICAL)
    try:
        files = [dataset.get_source_file(pair), *dataset.get_reference_files(pair)]
    except SystemExit:  # wrong checksum, and other errors that sacrebleu reports itself
        raise InputError(
            f"sacrebleu could not download all of '{name}'; remove it and try again", _home(name)
        ) from None
    except Exception as error:  # network and archive errors
        reason = " ".join(str(getattr(error, "reason", None) or error).split())
        raise InputError(
            f"sacrebleu cannot download '{name}' ({reason}); check the network, or copy this folder from a "
            "machine that has it",
            _home(name),
        ) from None
    source, target, *further = [list(map(clean_text, read_lines(file))) for file in files]
    for file, lines in zip(files, (source, target, *further), strict=True):
        if not lines or len(lines) != len(source):
            message = f"has {len(lines)} lines, {files[0]} has {len(source)}; remove both, and try again"
            raise InputError(message, file)
    return Bitext(source, target, further=list(zip(*further, strict=True)) if further else None)


def _dataset(name: str) -> Any:
    from sacrebleu.dataset import DATASETS

    if name not in DATASETS:
        close = difflib.get_close_matches(name, DATASETS, n=3)
        advice = f"did you mean {' or '.join(close)}?" if close else "see `sacrebleu --list`"
        raise InputError(f"sacrebleu has no test set '{name}'; {advice}")
    return DATASETS[name]


def _home(name: str) -> str:
    from sacrebleu.utils import SACREBLEU_DIR

    return os.path.join(SACREBLEU_DIR, name)
