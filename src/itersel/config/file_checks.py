"""Check that the files named in a config can be read, and measure their text."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import compress, islice
from pathlib import Path
from typing import TYPE_CHECKING

from itersel.config.messages import wrong
from itersel.config.splits import corpora, held_out_splits, is_fetched, is_given, test_sets, texts_of
from itersel.config.values import Config
from itersel.corpus.blocks import corpus_blocks
from itersel.corpus.corpora import Reading
from itersel.corpus.overlaps import HeldOutPairs
from itersel.corpus.text import text_blocks
from itersel.errors import InputError, attempt_all, check_by_reading
from itersel.storage.files import line_blocks
from itersel.storage.numbers import MAX_INTEGER

if TYPE_CHECKING:
    from itersel.config.suspicions import Suspicions

# The key that names a folder, and the suffix of keys that may name one.
FOLDER, LISTS = "data.folder", ".lists"
LONG_LINE = "; break the line, or raise data.max_line_bytes"


class Size(Counter[int]):
    """The size of a text: the number of source sentences by length in words, before tokenisation."""

    @property
    def words(self) -> int:
        """Number of source words."""
        return sum(length * count for length, count in self.items())


def help_files(config: Config) -> list[str]:
    """Return the files of the LibreOffice Help if the config names its folder; none otherwise."""
    if config.data.kind != "libreoffice-help" or config.data.folder is None:
        return []

    folder = Path(config.data.folder)
    try:
        files = sorted(folder.glob("*.deb")) or sorted(folder.rglob("*.html"))
    except OSError as error:
        raise InputError(str(error.strerror), error.filename) from None

    return list(map(str, files)) or [str(folder)]


def check_files_exist(config: Config) -> list[str]:
    """Reject files and folders that cannot be read, and text that is used twice.

    Returns a warning for each text that two held-out sets share, such as devtest used as test.
    """
    data = config.data
    named = [(FOLDER, data.folder), ("language_model.arpa", config.language_model.arpa)]
    named += [("data.monolingual", path) for path in data.monolingual]
    for name in ("source", "target", "user_models"):
        named += [(f"text_features.{name}", path) for path in getattr(config.text_features, name)]

    outputs = (config.evaluation.outputs or {}).items()
    named += [(f"evaluation.outputs.{name}", path) for name, files in outputs for path in files]

    for name, score in config.evaluation.user_scores.items():
        key = f"evaluation.user_scores.{name}"
        named += [(f"{key}.list_numbers", path) for path in score.list_numbers]
        systems = (score.system_numbers or {}).items()
        named += [(f"{key}.system_numbers.{system}", path) for system, files in systems for path in files]

    text: list[tuple[str, str]] = []
    for split in given_splits(config):
        texts = texts_of(config, split)
        for corpus in corpora(config, split, ""):
            if not is_fetched(texts[corpus.name]):
                key = f"data.{split}.{corpus.name}" if corpus.name else f"data.{split}"
                named += [(key, path) for path in corpus.files]
                sides = (corpus.source, corpus.target, corpus.further, corpus.file)
                text += [(key, path) for side in sides for path in side]

        for one in texts.values():
            key = f"data.{split}"
            text += [(key, path) for path in one.lists]
            named += [(key + LISTS, path) for path in one.lists]
            named.append((key, one.quality))

    attempt_all(partial(_check_readable, key, path) for key, path in named if path is not None)
    return _used_twice(text)


def _used_twice(text: Iterable[tuple[str, str]]) -> list[str]:
    """Return a warning for each text that two held-out sets share; any other shared text is an error."""
    warnings = []
    keys: dict[str, str] = {}
    for key, path in text:
        other = keys.get(os.path.realpath(path))
        keys[os.path.realpath(path)] = key

        if other == key:
            raise InputError(f"is named twice in {key}; name each text once", path)
        if other is not None:
            what = f"is named in both {other} and {key}"
            if any(name.startswith("data.train") for name in (other, key)):
                raise InputError(f"{what}; use each text once", path)
            warnings.append(f"{path} {what}: scores on the two are not independent")

    return warnings


def check_given_texts(config: Config) -> tuple[dict[str, Size], list[str]]:
    """Read all text files that the config names, except downloads; return sizes by split, and warnings.

    Raises the first error in each split and in each monolingual text, or else an error for experiments with
    more shards than sentences.
    """
    splits = [
        split
        for split in given_splits(config)
        if not any(is_fetched(text) for text in texts_of(config, split).values())
    ]

    # not needed by jobs, and slow to import
    from itersel.config.suspicions import Suspicions

    shared = HeldOutPairs()
    suspicions = Suspicions(config)
    sizes: dict[str, Size] = {}

    # train is compared with the others, so it is last
    last = [*splits[1:], *splits[:1]]
    measures = [partial(_measure, config, split, sizes, shared, suspicions) for split in last]
    attempt_all([*measures, *(partial(_check_monolingual, config, path) for path in config.data.monolingual)])
    attempt_all(partial(check_shards, config, name, sizes) for name in config.experiments)
    check_outputs(config, sizes)

    warnings = []
    for overlap in shared.overlaps():
        is_dropped = overlap.other == "train" and config.data.drop_overlap
        more = "; they are dropped from train (data.drop_overlap)" if is_dropped else ""
        warnings.append(f"{overlap}{more}")
    warnings += suspicions.warnings()
    return {split: sizes[split] for split in ("train", *sizes) if split in sizes}, warnings


def check_sizes(sizes: Mapping[str, Size]) -> None:
    """Reject a split without sentences; after the warnings, which may say more about the text."""
    for split, size in sizes.items():
        if not size:
            raise InputError(f"no pair of {split} is left without those of held-out sets (data.drop_overlap)")


def given_splits(config: Config) -> list[str]:
    """Return the splits whose text the config names."""
    return [split for split in ("train", *held_out_splits(config)) if is_given(config, split)]


def _check_readable(key: str, path: str) -> None:
    try:
        is_folder = key == FOLDER or (_may_be_folder(key) and os.path.isdir(path))
        with os.scandir(path) if is_folder else open(path, "rb"):
            pass
    except OSError as error:
        raise wrong(key, f"names {path}: {error.strerror or error}") from None


def _may_be_folder(key: str) -> bool:
    return key.startswith("data.") and key.endswith(LISTS)


def _check_monolingual(config: Config, path: str) -> None:
    data = config.data
    check_by_reading(
        text_blocks(path, limit=data.max_line_bytes, advice=LONG_LINE, is_tokenized=data.tokenized)
    )


def _measure(
    config: Config, split: str, sizes: dict[str, Size], shared: HeldOutPairs, suspicions: Suspicions
) -> None:
    """Add the size of a split, and of the splits cut from it, as if they were its first sentences."""
    limit = config.data.max_train if split == "train" else config.data.max_held_out
    parts = [*(config.data.cut.by_split.items() if split == "train" else ()), (split, limit or MAX_INTEGER)]
    lengths = (len(sentence.split()) for sentence in _sentences(config, split, shared, suspicions))
    for name, bound in parts:
        sizes[name] = Size(islice(lengths, bound))

    if not sizes[split] and len(parts) > 1:
        cut = " and ".join(f"{bound:,} for {name}" for name, bound in parts[:-1])
        raise wrong("data.cut", f"takes {cut} from train, which has too few sentences")

    check_by_reading(lengths)


def _sentences(config: Config, split: str, shared: HeldOutPairs, suspicions: Suspicions) -> Iterator[str]:
    data = config.data
    languages = data.source_language, data.target_language
    dropped: Counter[str] | None = Counter() if data.drop_invalid_pairs else None
    reading = Reading(*languages, data.tokenized, data.max_line_bytes, LONG_LINE, dropped)

    for block in corpus_blocks(corpora(config, split, ""), reading):
        suspicions.add(split, block)
        plain = block._replace(
            source=_plain(block.source),
            target=_plain(block.target),
            further=[tuple(_plain(lines)) for lines in block.further] if block.further else None,
        )

        if split != "train":
            shared.add(split, plain)
            yield from block.source
            continue

        found = shared.find(plain)
        is_kept = (not (other and data.drop_overlap) for other in found)
        yield from compress(block.source, is_kept)


def _plain(lines: Iterable[str]) -> list[str]:
    """Return text after the fast steps of preparation: lowercased, with single spaces, but not tokenised."""
    return [" ".join(line.lower().split()) for line in lines]


def check_outputs(config: Config, sizes: Mapping[str, Size]) -> None:
    """Reject outputs of other systems that do not have the size of their test set, if that is known."""
    for name, files in (config.evaluation.outputs or {}).items():
        for (test_set, split), path in zip(test_sets(config).items(), files, strict=True):
            lines = sum(map(len, line_blocks(path)))
            size = sizes.get(split)
            if size is not None and lines != size.total():
                found = f"names {path}, which has {lines} lines"
                message = f"{found}, but test set {test_set} has {size.total()}"
                raise wrong(f"evaluation.outputs.{name}", message)


def check_shards(config: Config, name: str, sizes: Mapping[str, Size]) -> None:
    """Reject more shards than sentences; tasks with labels are checked when the labels are read."""
    experiment = config.experiments[name]
    size = sizes.get(experiment.tune_on)
    if not size or experiment.tasks.needed_labels:
        return

    if size.total() < (files := experiment.tasks.file_count):
        message = (
            f"makes {files} {experiment.tasks.unit}, but {experiment.tune_on} has {size.total()} sentences"
        )
        raise wrong(f"experiments.{name}.tasks.shards", message)
