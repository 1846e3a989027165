"""Make parallel text of the descriptions of Debian's packages, of another language and English.

    python experiments/package-descriptions/fetch.py --language it --output data/package-descriptions/it

This writes ``source.gz`` (the language), ``target.gz`` (English), ``labels.gz`` (the section of the
archive that the package is in) and ``tasks.gz`` (the section, or the name of several small ones), one
sentence per line, and ``statistics.json``: what was taken, and what was dropped and why.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

from itersel.corpus.debian import DEBIAN_MIRROR, DEBIAN_RELEASE
from itersel.corpus.debian_files import fetch_release_file
from itersel.errors import InputError
from itersel.storage.files import write_lines
from itersel.storage.json_files import write_json

TRANSLATION = "main/i18n/Translation-{}"
# Its packages include those of all architectures; those that it lacks have the label OTHER.
PACKAGES, OTHER = "main/binary-amd64/Packages", "other"

# Sections that together are one task. Every other section is a task of its own.
JOINED = {
    "desktop": "gnome gnustep kde x11 xfce",
    "development": "debug introspection libdevel",
    "languages": "cli-mono devel golang interpreters java lisp ocaml ruby rust vcs",
    "libraries": "libs oldlibs",
    "media": "graphics sound video",
    "network": "comm mail net news",
    "research": "education electronics gnu-r hamradio math science",
    "system": "admin database embedded kernel metapackages otherosfs shells tasks",
    "text": "fonts localization tex text",
    "utilities": f"editors misc utils {OTHER}",
    "web": "httpd javascript php web zope",
}
TASK_OF_SECTION = {section: task for task, sections in JOINED.items() for section in sections.split()}

# Lines that begin with two spaces are set as they are, unless they are items of a list.
ITEM = re.compile(r"(?P<indent>  +)[-*+o•·] +(?P<text>\S.*)")
# A sentence ends here if the next one begins like one, and the word before is no abbreviation.
END = re.compile(r"""(?<=[.!?])["”»)\]]* +(?=["“«(\[]*[A-ZÀ-ÖØ-ÞА-Я0-9])""")
ABBREVIATIONS = (
    *(
        r"\w",
        r"[a-z]\.[a-z]",
        "ad es",
        "bzw",
        "ca",
        "cf",
        "cfr",
        "dr",
        "ecc",
        "ed",
        "es",
        "etc",
        "ex",
        "inc",
        "mr",
    ),
    *("nr", "p\\.ex", "sig", "st", "usw", "v", "vs"),
)
ABBREVIATION = re.compile(rf"(^|[\s(])({'|'.join(ABBREVIATIONS)})\.$", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]{2}")
# Some descriptions contain tabs, or other control characters where letters were damaged.
CONTROL_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f]")

# A paragraph: its pieces of running text (a list has one for each item), or none if it is set as it is.
Paragraph = list[str] | None


class Description(NamedTuple):
    """A description of a package: its short form, then its paragraphs."""

    package: str
    paragraphs: list[Paragraph]


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--language", required=True, metavar="CODE", help="as Debian writes it: it, fr, pt_BR"
    )
    parser.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder to write to")
    parser.add_argument("--mirror", default=DEBIAN_MIRROR, help="default: %(default)s")
    parser.add_argument("--release", default=DEBIAN_RELEASE, help="default: %(default)s")
    options = parser.parse_args()

    def fetched(name: str) -> str:
        print(f"downloading {name}", file=sys.stderr)
        return fetch_release_file(options.mirror, options.release, name)

    try:
        translated = read_descriptions(fetched(TRANSLATION.format(options.language)))
        english = read_descriptions(fetched(TRANSLATION.format("en")))
        sections = read_sections(fetched(PACKAGES))
        pairs, counts = pair_descriptions(translated, english, sections)
        write(options.output, pairs, counts)
    except (InputError, OSError) as error:
        sys.exit(f"fetch.py: {error}")


def write(folder: Path, pairs: list[tuple[str, str, str]], counts: Counter[str]) -> None:
    """Write the pairs and the counts, and print the counts."""
    if not pairs:
        raise InputError("no description has as many paragraphs in both languages; name another language")
    sources, targets, sections = zip(*pairs, strict=True)
    write_lines(folder / "source.gz", sources)
    write_lines(folder / "target.gz", targets)
    write_lines(folder / "labels.gz", sections)
    write_lines(folder / "tasks.gz", [TASK_OF_SECTION.get(section, section) for section in sections])
    write_json(folder / "statistics.json", {"pairs": len(pairs), **counts}, indent=1)
    for what, count in counts.items():
        print(f"{count:9,} {what}")
    print(f"{len(pairs):9,} pairs in {folder}")


# ---- files of Debian


def stanzas(text: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each stanza; the further lines of a field follow its first one."""
    for stanza in text.split("\n\n"):
        fields, name = dict[str, str](), ""
        # splitlines would also cut at control characters
        for line in stanza.split("\n"):
            if line.startswith(" "):
                fields[name] += f"\n{line}"
            elif line:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        if fields:
            yield fields


def read_sections(text: str) -> dict[str, str]:
    """Return the section of each package."""
    return {fields["Package"]: fields.get("Section", OTHER) for fields in stanzas(text)}


def read_descriptions(text: str) -> dict[str, Description]:
    """Return descriptions by the digest of the English text, which several packages may share."""
    found = dict[str, Description]()
    for fields in stanzas(text):
        digest = fields["Description-md5"]
        [value] = [value for name, value in fields.items() if re.fullmatch(r"Description-(?!md5).*", name)]
        found.setdefault(digest, Description(fields["Package"], paragraphs(value)))
    return found


def paragraphs(value: str) -> list[Paragraph]:
    """Return the paragraphs of the value of a field."""
    short, *lines = value.split("\n")
    found: list[Paragraph] = [[short]]
    for part in "\n".join(lines).split("\n ."):
        if part.strip():
            found.append(pieces(part.strip("\n").split("\n")))
    return found


def pieces(lines: list[str]) -> Paragraph:
    """Return the pieces of running text of a paragraph, or none if parts of it are set as they are."""
    found, indent = list[str](), 1
    for line in lines:
        item = ITEM.fullmatch(line)
        if item:
            found.append(item["text"])
            indent = len(item["indent"])
        elif not found and not line.startswith("  "):
            found.append(line.strip())
        elif found and (indent > 1) == line.startswith("  "):
            # the next line of the same piece
            found[-1] += f" {line.strip()}"
        else:
            return None
    return found


# ---- pairs


def pair_descriptions(
    translated: dict[str, Description], english: dict[str, Description], sections: dict[str, str]
) -> tuple[list[tuple[str, str, str]], Counter[str]]:
    """Return pairs of sentences with their section, and how much was taken and dropped."""
    reasons = (
        "descriptions",
        "descriptions dropped: no English text",
        "descriptions dropped: other number of paragraphs",
        "paragraphs",
        "paragraphs dropped: set as they are",
        "paragraphs dropped: other number of items or sentences",
        "sentences",
        "sentences dropped: without words",
        "sentences dropped: not translated",
    )
    counts = Counter(dict.fromkeys(reasons, 0))
    pairs = list[tuple[str, str, str]]()

    for digest, description in translated.items():
        counts["descriptions"] += 1
        counterpart = english.get(digest)
        if counterpart is None:
            counts["descriptions dropped: no English text"] += 1
            continue
        both = list(zip_longest(description.paragraphs, counterpart.paragraphs, fillvalue=()))
        if any(() in pair for pair in both):
            counts["descriptions dropped: other number of paragraphs"] += 1
            continue

        section = sections.get(description.package, OTHER)
        for source, target in both:
            counts["paragraphs"] += 1
            if source is None or target is None:
                counts["paragraphs dropped: set as they are"] += 1
                continue
            found = pair_sentences(list(source), list(target))
            if not found:
                counts["paragraphs dropped: other number of items or sentences"] += 1
            for ours, theirs in found:
                counts["sentences"] += 1
                if not (WORD.search(ours) and WORD.search(theirs)):
                    counts["sentences dropped: without words"] += 1
                elif ours == theirs:
                    counts["sentences dropped: not translated"] += 1
                else:
                    pairs.append((ours, theirs, section))
    return pairs, counts


def pair_sentences(source: list[str], target: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of sentences of a paragraph, none if it has other numbers of them on each side."""
    ours, theirs = ([sentences(piece) for piece in side] for side in (source, target))
    if [len(piece) for piece in ours] != [len(piece) for piece in theirs]:
        return []
    return list(zip(chain.from_iterable(ours), chain.from_iterable(theirs), strict=True))


def sentences(text: str) -> list[str]:
    """Cut text into sentences; control characters become spaces."""
    text = CONTROL_CHARACTER.sub(" ", text)
    found, begin = list[str](), 0
    for end in END.finditer(text):
        if not ABBREVIATION.search(text[begin : end.start()]):
            found.append(text[begin : end.end()].strip())
            begin = end.end()
    return [*found, text[begin:].strip()]


if __name__ == "__main__":
    main()
