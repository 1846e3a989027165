"""Corpora downloaded and cached by the package mtdata."""

from __future__ import annotations

import difflib
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from itersel.corpus.text import FIELD_SEPARATOR, Bitext, clean_text
from itersel.errors import InputError
from itersel.progress import count_up

_MAX_PAIRS = 10_000
_MAX_REASON = 100
_CONNECTION = re.compile(r"^(<[^>]*>|\w+\([^)]*\)): ")
INSTALL = "install it with `pip install 'itersel[mtdata]'`"


class _Side(NamedTuple):
    """A dataset, and whether its second language is the source."""

    entry: Any
    is_swapped: bool


def fetch_corpus(
    names: Sequence[str], source_language: str, target_language: str, dropped: Counter[str]
) -> Iterator[Bitext]:
    """Yield the pairs of datasets in blocks, one dataset after the other.

    Runs of white space and control characters become single spaces. Pairs with an empty side or ``|||`` are
    dropped and counted in `dropped`. The files are kept in mtdata's folder (``~/.mtdata``, or $MTDATA), and
    downloaded only if they are missing.

    Raises
    ------
    InputError
        If mtdata is missing; a dataset is unknown, in other languages, cannot be downloaded or read, or is
        empty.
    """
    sides = [_find(name, source_language, target_language) for name in names]
    for side in sides:
        yield from count_up(_blocks(side, dropped), "pairs fetched", lambda block: block.size)


def _find(name: str, source_language: str, target_language: str) -> _Side:
    datasets, languages = _mtdata()
    try:
        wanted = languages.bcp47(source_language), languages.bcp47(target_language)
        dataset = datasets.DatasetId.parse(name)
    except Exception as error:  # mtdata uses assertions, and raises plain Exception
        raise InputError(f"mtdata does not understand '{name}' in these languages: {error}") from None
    if dataset not in datasets.INDEX:
        known = [str(one) for one in datasets.INDEX.entries if one.langs == dataset.langs]
        close = difflib.get_close_matches(name, known, n=3)
        advice = f"did you mean {' or '.join(close)}?" if close else "see `mtdata list`"
        raise InputError(f"mtdata has no dataset '{name}'; {advice}")
    if len(dataset.langs) != 2:
        raise InputError(f"mtdata's dataset '{name}' has one language; name one with two")
    try:
        fits, is_swapped = languages.BCP47Tag.check_compat_swap(wanted, dataset.langs)
    except AssertionError as error:
        fits, is_swapped = False, False
        reason = str(error)
    else:
        reason = f"not in {source_language} and {target_language}"
    if not fits:
        raise InputError(f"mtdata's dataset '{name}' cannot be used: {reason}")
    return _Side(datasets.INDEX[dataset], is_swapped)


def _mtdata() -> tuple[Any, Any]:
    """Import mtdata, which reads its index of all datasets, or builds it the first time (about a minute)."""
    is_disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # errors are reported in one line
    try:
        import mtdata
        import mtdata.data
        import mtdata.iso.bcp47
    except ImportError as error:
        if error.name != "mtdata":
            raise InputError(f"the package mtdata does not work ({error}); {INSTALL}") from None
        raise InputError(f"data.*.mtdata needs the package mtdata; {INSTALL}") from None
    except Exception as error:
        raise InputError(f"mtdata's index cannot be made or read ({error}); remove it", _index()) from None
    finally:
        logging.disable(is_disabled)
    mtdata.pbar_man.enabled = False
    return mtdata.data, mtdata.iso.bcp47


def _index() -> str:
    import mtdata

    return str(mtdata.cached_index_file)


def _blocks(side: _Side, dropped: Counter[str]) -> Iterator[Bitext]:
    pairs: list[tuple[str, str]] = []
    is_empty = True
    for first, second in _pairs(side.entry):
        pair = (second, first) if side.is_swapped else (first, second)
        if not all(pair):
            dropped["empty"] += 1
        elif any(FIELD_SEPARATOR in text for text in pair):
            dropped[f"with {FIELD_SEPARATOR}"] += 1
        else:
            pairs.append(pair)
        if len(pairs) == _MAX_PAIRS:
            yield _bitext(pairs)
            pairs, is_empty = [], False
    if pairs:
        yield _bitext(pairs)
    elif is_empty:
        raise InputError(f"mtdata's dataset '{side.entry.did}' has no pair of sentences")


def _bitext(pairs: list[tuple[str, str]]) -> Bitext:
    return Bitext(*map(list, zip(*pairs, strict=True)))


def _pairs(entry: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of a dataset in the dataset's own language order."""
    from mtdata import cache_dir
    from mtdata.cache import Cache
    from mtdata.parser import Parser

    is_disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        try:
            files = Cache(cache_dir).get_entry(entry)
        except Exception as error:  # requests, archives, and assertions
            raise InputError(
                f"mtdata cannot get '{entry.did}' ({_reason(error)}); check the network, or copy this folder "
                "from a machine that has it",
                cache_dir,
            ) from None
        try:
            for record in Parser(files, ext=entry.in_ext or None, ent=entry).read_segs(show_pbar=False):
                if len(record) >= 2:
                    yield clean_text(record[0] or ""), clean_text(record[1] or "")
        except Exception as error:
            raise InputError(
                f"mtdata cannot read '{entry.did}' ({_reason(error)}); remove its files, to download them "
                "again",
                cache_dir,
            ) from None
    finally:
        logging.disable(is_disabled)


def _reason(error: Exception) -> str:
    """Return the cause of an error in one line.

    Network errors of requests wrap those of urllib3, whose text begins with the connection object.
    """
    cause = error.args[0] if error.args else error
    cause = getattr(cause, "reason", cause) if isinstance(cause, Exception) else error
    text = _CONNECTION.sub("", " ".join(str(cause).split())) or type(error).__name__
    return text if len(text) <= _MAX_REASON else text[: _MAX_REASON - 3] + "..."
