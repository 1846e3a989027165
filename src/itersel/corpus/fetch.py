"""Fetch corpora with mtdata and test sets with sacrebleu, and write them as files of sentences.

Both packages cache their downloads.
"""

from __future__ import annotations

import logging
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import chain, product
from pathlib import Path
from typing import Any

from itersel.corpus.languages import primary_language
from itersel.corpus.text import FIELD_SEPARATOR, clean_text
from itersel.corpus.text_names import STATISTICS, collected_file, reference_columns
from itersel.errors import InputError, suggest
from itersel.run.progress import count_up
from itersel.storage.files import open_output, read_lines, write_lines
from itersel.storage.json_files import write_json

# Maximum number of language pairs in a message.
SHOWN = 8
INSTALL = "install it with `pip install 'itersel[mtdata]'`"
_NETWORK = "check the network, or copy this folder from a machine that has it"
_MAX_REASON = 100
_CONNECTION = re.compile(r"^(<[^>]*>|\w+\([^)]*\)): ")


def fetch_mtdata(names: Sequence[str], source_language: str, target_language: str, output: Path) -> int:
    """Write mtdata datasets to ``source.gz``, ``target.gz`` and ``statistics.json``; return their pairs.

    Runs of white space and control characters become single spaces. Pairs with an empty side or ``|||`` are
    dropped and counted. The files are kept in mtdata's folder (``~/.mtdata``, or $MTDATA), and downloaded
    only if they are missing.
    """
    dropped: Counter[str] = Counter()
    pairs = 0

    sides = [_find(name, source_language, target_language) for name in names]
    found = chain.from_iterable(_pairs(*side, dropped) for side in sides)
    # before the output is created: there may be none, which is an error
    first = next(found)

    files = [output / collected_file(side) for side in ("source", "target")]
    with open_output(files[0]) as source, open_output(files[1]) as target:
        for one, other in count_up(chain([first], found), "pairs fetched", lambda _: 1):
            source.write(f"{one}\n")
            target.write(f"{other}\n")
            pairs += 1

    _write_statistics(output, "mtdata", [*names], pairs, dropped=dict(dropped))
    return pairs


def fetch_sacrebleu(name: str, source_language: str, target_language: str, output: Path) -> int:
    """Write a test set, with all references that sacrebleu scores against; return its number of sentences.

    Writes ``source.gz``, ``target.gz``, ``target.1.gz`` and so on, and ``statistics.json``. The test set is
    kept in sacrebleu's folder (``~/.sacrebleu``, or $SACREBLEU), and downloaded only if it is missing.
    """
    texts = _test_set(name, source_language, target_language)
    for column, lines in zip(["source", *reference_columns(len(texts) - 1)], texts, strict=True):
        write_lines(output / collected_file(column), lines)
    _write_statistics(output, "sacrebleu", [name], len(texts[0]))
    return len(texts[0])


def _write_statistics(output: Path, package: str, names: list[str], pairs: int, **further: Any) -> None:
    document = {"packages": {package: version(package)}, "datasets": names, "pairs": pairs, **further}
    write_json(output / STATISTICS, document, indent=1)


# ---- mtdata


def _find(name: str, source_language: str, target_language: str) -> tuple[Any, bool]:
    """Return a dataset, and whether its second language is the source."""
    datasets, languages = _mtdata()
    try:
        wanted = languages.bcp47(source_language), languages.bcp47(target_language)
        dataset = datasets.DatasetId.parse(name)
    except Exception as error:  # mtdata uses assertions, and raises plain Exception
        raise InputError(f"mtdata does not understand '{name}' in these languages: {error}") from None

    if dataset not in datasets.INDEX:
        known = [str(one) for one in datasets.INDEX.entries if one.langs == dataset.langs]
        raise InputError(f"mtdata has no dataset '{name}'{suggest(name, known)}; see `mtdata list`")
    if len(dataset.langs) != 2:
        raise InputError(f"mtdata's dataset '{name}' has one language; name one with two")

    reason = f"not in {source_language} and {target_language}"
    try:
        fits, is_swapped = languages.BCP47Tag.check_compat_swap(wanted, dataset.langs)
    except AssertionError as error:
        fits = False
        is_swapped = False
        reason = str(error)
    if not fits:
        raise InputError(f"mtdata's dataset '{name}' cannot be used: {reason}")
    return datasets.INDEX[dataset], is_swapped


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence packages, whose errors are reported in one line."""
    is_disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(is_disabled)


def _mtdata() -> tuple[Any, Any]:
    """Import mtdata, which reads its index of all datasets, or builds it the first time (about a minute)."""
    with _quiet():
        try:
            import mtdata
            import mtdata.data
            import mtdata.iso.bcp47
        except ImportError as error:
            if error.name != "mtdata":
                raise InputError(f"the package mtdata does not work ({error}); {INSTALL}") from None
            raise InputError(f"data.*.mtdata needs the package mtdata; {INSTALL}") from None
        except Exception as error:
            import mtdata

            index = str(mtdata.cached_index_file)
            raise InputError(f"mtdata's index cannot be made or read ({error}); remove it", index) from None
    mtdata.pbar_man.enabled = False
    return mtdata.data, mtdata.iso.bcp47


def _pairs(entry: Any, is_swapped: bool, dropped: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a dataset that can be used, and count the others."""
    from mtdata import cache_dir
    from mtdata.cache import Cache
    from mtdata.parser import Parser

    with _explained(f"mtdata cannot get '{entry.did}'", _NETWORK, cache_dir):
        files = Cache(cache_dir).get_entry(entry)

    is_empty = True
    advice = "remove its files, to download them again"
    with _explained(f"mtdata cannot read '{entry.did}'", advice, cache_dir):
        for record in Parser(files, ext=entry.in_ext or None, ent=entry).read_segs(show_pbar=False):
            if len(record) < 2:
                continue
            first, second = (clean_text(text or "") for text in record[:2])
            if not (first and second):
                dropped["empty"] += 1
            elif FIELD_SEPARATOR in first or FIELD_SEPARATOR in second:
                dropped[f"with {FIELD_SEPARATOR}"] += 1
            else:
                is_empty = False
                yield (second, first) if is_swapped else (first, second)

    if is_empty:
        raise InputError(f"mtdata's dataset '{entry.did}' has no pair of sentences")


@contextmanager
def _explained(what: str, advice: str, folder: str) -> Iterator[None]:
    """Turn errors of a package (of networks, archives, assertions) into an InputError of one line."""
    try:
        with _quiet():
            yield
    except Exception as error:
        raise InputError(f"{what} ({_reason(error)}); {advice}", folder) from None


def _reason(error: Exception) -> str:
    """Return the cause of an error in one line; errors of requests wrap errors of urllib3."""
    cause = error.args[0] if error.args else error
    cause = cause if isinstance(cause, Exception) else error
    cause = getattr(cause, "reason", cause)
    text = _CONNECTION.sub("", " ".join(str(cause).split())) or type(error).__name__
    return text if len(text) <= _MAX_REASON else text[: _MAX_REASON - 3] + "..."


# ---- sacrebleu


def language_pair(name: str, source_language: str, target_language: str) -> str:
    """Return sacrebleu's name for the language pair of a test set: ``de-en`` for ``de`` and ``en-us``."""
    pairs: dict[str, str] = {pair.lower(): pair for pair in _dataset(name).langpairs}
    wanted = source_language, target_language
    for pair in map("-".join, product(*([language, primary_language(language)] for language in wanted))):
        if pair in pairs:
            return pairs[pair]
    there = ", ".join(sorted(pairs.values())[:SHOWN]) + (" and others" if len(pairs) > SHOWN else "")
    raise InputError(f"sacrebleu's test set '{name}' is not in {'-'.join(wanted)}; it is in {there}")


def count_references(name: str, source_language: str, target_language: str) -> int:
    """Return the number of references of a test set, which sacrebleu knows without downloading it."""
    dataset = _dataset(name)
    pair = language_pair(name, source_language, target_language)
    # sets from 2021 on: the files contain all references, the metadata say which ones are used
    allowed = getattr(dataset, "_get_langpair_allowed_refs", None)
    if allowed is not None:
        return len(allowed(pair))
    return sum(field.startswith("ref") for field in dataset.fieldnames(pair))


def _test_set(name: str, source_language: str, target_language: str) -> list[list[str]]:
    """Return the source and all references of a test set."""
    from sacrebleu.utils import SACREBLEU_DIR

    dataset = _dataset(name)
    pair = language_pair(name, source_language, target_language)
    home = os.path.join(SACREBLEU_DIR, name)
    try:
        with _explained(f"sacrebleu cannot download '{name}'", _NETWORK, home):
            files = [dataset.get_source_file(pair), *dataset.get_reference_files(pair)]
    except SystemExit:  # wrong checksum, and other errors that sacrebleu reports itself
        message = f"sacrebleu could not download all of '{name}'; remove it and try again"
        raise InputError(message, home) from None

    texts = [list(map(clean_text, read_lines(file))) for file in files]
    for file, lines in zip(files, texts, strict=True):
        if not lines or len(lines) != len(texts[0]):
            message = f"has {len(lines)} lines, {files[0]} has {len(texts[0])}; remove both, and try again"
            raise InputError(message, file)

    return texts


def _dataset(name: str) -> Any:
    from sacrebleu.dataset import DATASETS

    if name not in DATASETS:
        why = f"sacrebleu has no test set '{name}'{suggest(name, DATASETS)}"
        raise InputError(f"{why}; see `sacrebleu --list`")
    return DATASETS[name]
