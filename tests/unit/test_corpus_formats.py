"""Corpora in formats of other tools: catalogues, XLIFF, CSV, JSON lines, Parquet, test sets of WMT."""

import json

import polib
import pyarrow
import pytest
from pyarrow import parquet
from tests.refusals import input_error

from itersel.cli.main import main
from itersel.corpus.blocks import corpus_blocks
from itersel.corpus.corpora import Columns, Corpus, Fields, Reading
from itersel.corpus.text import Bitext, concatenate_bitexts
from itersel.errors import InputError
from itersel.storage.files import open_output, read_lines

READING = Reading("de", "en")
MARKUP = ["<srcset", '<?xml version="1.0"?>', "\ufeff<!DOCTYPE x>", "  <refset>", "<doc a="]
RECORDS = [
    {"translation": {"de": "ja", "en": "yes"}, "from": "x"},
    {"translation": {"de": "ein\nHaus", "en": "a house"}},
]
BAD_PAIRS = [("ja", "yes"), ("a ||| b", "c"), ("d", "e\x07"), ("nein", "no"), ("f", "<s>")]


def read(path, reading=READING, **how):
    return concatenate_bitexts(corpus_blocks([Corpus(file=(str(path),), **how)], reading))


def write(path, text):
    with open_output(path) as stream:
        stream.write(text)
    return path


PO = """
msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=UTF-8\\n"

msgctxt "menu|File"
msgid "Open %s"
msgstr "%s öffnen"

#, fuzzy
msgid "Close"
msgstr "Offen"

msgid "{{}} file"
msgid_plural "{{}} files"
msgstr[0] "{{}} Datei"
msgstr[1] "{{}} Dateien"

msgid "Untranslated"
msgstr ""

msgid "Two\\n"
"lines"
msgstr "Zwei\\nZeilen"

#~ msgid "Old"
#~ msgstr "Alt"
"""


@pytest.mark.parametrize("name", ["a.po", "a.po.gz", "a.mo"])
@pytest.mark.parametrize("language", ["de", "de_AT.UTF-8", "en_GB"])
def test_catalogues(tmp_path, name, language):
    """Messages are in the other language; plural forms and what is not translated are left out."""
    path = tmp_path / name
    if name.endswith(".mo"):
        polib.pofile(PO.format(language=language)).save_as_mofile(path)
    else:
        write(path, PO.format(language=language))
    found = read(path, fields=Fields(label="msgctxt"))
    german, english = found[1::-1] if language == "en_GB" else found[:2]
    rows = {("%s öffnen", "Open %s", "menu|File"), ("Zwei Zeilen", "Two lines", "none")}
    assert set(zip(german, english, found.labels or (), strict=True)) == rows
    assert read(path).labels is None


XLIFF_1 = """<?xml version="1.0"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="en-US" target-language="de" datatype="plaintext" original="x"><body>
<trans-unit id="1"><source>Open <g id="1">the <x id="2"/> lid</g></source><target>Den Deckel öffnen</target>
<alt-trans><source>Close</source><target>Zu</target></alt-trans></trans-unit>
<trans-unit id="2"><source>Old</source><target state="needs-translation">Old</target></trans-unit>
<trans-unit id="3" approved="no"><source>Maybe</source><target>Vielleicht</target></trans-unit>
<trans-unit id="4" translate="no"><source>GNU</source><target>GNU</target></trans-unit>
<trans-unit id="5"><source>Empty</source><target/></trans-unit>
<trans-unit id="6"><source>None</source></trans-unit>
<group><trans-unit id="7" approved="yes"><source>Yes</source><target state="final">Ja</target>
</trans-unit></group>
</body></file></xliff>"""
XLIFF_2 = """<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="de-DE">
<file id="f"><unit id="1"><segment state="translated"><source>Open<ph id="1"/>it</source>
<target>Auf damit</target></segment>
<segment state="initial"><source>New</source><target>New</target></segment>
<segment><source>Yes</source><target>Ja</target></segment></unit></file></xliff>"""


@pytest.mark.parametrize(
    ("text", "german", "english"),
    [(XLIFF_1, "Den Deckel öffnen", "Open the lid"), (XLIFF_2, "Auf damit", "Open it")],
)
def test_xliff(tmp_path, text, german, english):
    path = write(tmp_path / "a.xlf", text)
    assert read(path) == Bitext([german, "Ja"], [english, "Yes"])
    assert read(path, Reading("en", "de")) == Bitext([english, "Yes"], [german, "Ja"])
    with input_error("a.xlf:", "fr", "en"):
        read(path, Reading("fr", "en"))


def xliff_unit(source, target, segmented=""):
    return f"<trans-unit id='a'><source>{source}</source>{segmented}<target>{target}</target></trans-unit>"


def segments(*texts, numbers=(1, 2, 3)):
    pairs = zip(numbers, texts, strict=False)
    return " ".join(f'<mrk mtype="seg" mid="{number}">{text}</mrk>' for number, text in pairs)


ENGLISH = segments("One.", "<g id='1'>Two</g>.", "Three.")


@pytest.mark.parametrize(
    ("target", "segmented", "pairs"),
    [
        (
            segments("Eins.", "", "Drei."),
            f"<seg-source>{ENGLISH}</seg-source>",
            ["Eins.|One.", "Drei.|Three."],
        ),
        # only some segments, in another order
        (
            segments("Drei.", "Zwei.", numbers=(3, 2)),
            f"<seg-source>{ENGLISH}</seg-source>",
            ["Drei.|Three.", "Zwei.|Two."],
        ),
        # not cut on the other side: perhaps translated in part
        (segments("Eins.", "Zwei.", "Drei."), "", []),
        (segments("Eins.", numbers=("",)), "", []),
        # a number twice
        (segments("Eins.", "Zwei.", numbers=(1, 1)), f"<seg-source>{ENGLISH}</seg-source>", []),
        (
            segments("Eins.", "Zwei.", "Drei.", numbers=(1, 1, 2)),
            f"<seg-source>{ENGLISH}</seg-source>",
            ["Eins. Zwei. Drei.|One. Two. Three."],
        ),
        (segments("Eins.", "", "Drei.", numbers=(1, 1, 2)), f"<seg-source>{ENGLISH}</seg-source>", []),
        # a mark of another kind
        ('<mrk mtype="protected" mid="1">Eins</mrk> zwei', "", ["Eins zwei|One. Two. Three."]),
    ],
)
def test_xliff_cut_by_a_tool(tmp_path, target, segmented, pairs):
    unit = xliff_unit("One. Two. Three.", target, segmented)
    path = write(tmp_path / "a.xlf", XLIFF_1.replace("<group>", f"{unit}<group>"))
    found = read(path)
    texts = [f"{german}|{english}" for german, english in zip(found.source, found.target, strict=True)]
    assert texts == ["Den Deckel öffnen|Open the lid", *pairs, "Ja|Yes"]


@pytest.mark.parametrize("code", ["deu", "ger-DE", "DE_at", "de_CH_1901", "DE-419"])
def test_other_codes_of_a_language(tmp_path, code):
    xliff = write(tmp_path / "a.xlf", XLIFF_2.replace('"de-DE"', f'"{code}"'))
    xml = write(tmp_path / "a.xml", XML.replace('lang="de"', f'lang="{code}"'))
    assert read(xliff, Reading("en", "de")).target == ["Auf damit", "Ja"]
    assert read(xml).source == ["Haus", "ja"]


def test_csv(tmp_path):
    path = write(tmp_path / "a.csv", 'label,de,en\nx,"ein, ""Haus""","a\nhouse"\ny,ja,yes\n')
    found = read(path, fields=Fields("de", "en", "label"))
    assert found == Bitext(['ein, "Haus"', "ja"], ["a house", "yes"], ["x", "y"])
    assert read(path, columns=Columns(3, 2)).source == ["en", "a house", "yes"]
    usual = write(tmp_path / "c.csv", "target,source\nhello,hallo\n\n")
    assert read(usual, fields=Fields("source", "target")) == Bitext(["hallo"], ["hello"])
    with input_error("'fr'"):
        read(path, fields=Fields("fr", "en"))
    with input_error("a.csv:1:", 3, 4):
        read(path, columns=Columns(4, 2))


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.xz", "a.parquet"])
def test_records(tmp_path, name):
    path = tmp_path / name
    if name.endswith(".parquet"):
        parquet.write_table(pyarrow.Table.from_pylist(RECORDS), path)
    else:
        write(path, "\n\n".join(map(json.dumps, RECORDS)) + "\n")
    fields = Fields("translation.de", "translation.en")
    assert read(path, fields=fields) == Bitext(["ja", "ein Haus"], ["yes", "a house"])
    with input_error("'translation.fr'"):
        read(path, fields=Fields("translation.fr", "translation.en"))
    with input_error("'from'"):
        read(path, fields=Fields("translation.de", "translation.en", "from"))


def command(folder, *files):
    languages = ["--source-language=de", "--target-language=en", "--split=test"]
    return ["corpus", "prepare", *languages, *files, f"--output={folder / 'out'}"]


def prepare(folder, *files):
    assert main(command(folder, *files)) == 0
    return folder / "out"


SGML = """<{kind}set setid="x"><DOC docid="1">
<hl><seg id="1">{one}</seg></hl>
<p><SEG id="2"> {two}
</SEG></p></DOC></{kind}set>
"""


def test_sgml(tmp_path):
    """As in WMT, entities stand for characters; a segment may have line breaks."""
    source = write(tmp_path / "src.sgm.gz", SGML.format(kind="src", one="Haus &amp; Hof", two="ja"))
    target = write(tmp_path / "ref.sgm", SGML.format(kind="ref", one="house", two="yes &lt;3"))
    out = prepare(tmp_path, f"--source={source}", f"--target={target}")
    assert read_lines(out / "test.source.gz") == ["haus & hof", "ja"]
    assert read_lines(out / "test.raw.source.gz") == ["Haus & Hof", "ja"]
    assert read_lines(out / "test.raw.gz") == ["house", "yes <3"]


def test_bad_sgml(tmp_path, refused):
    for name, text, facts in (
        ("a.sgm", "<seg>a\n", "a.sgm:"),
        ("a.sgm", "a\n", ("a.sgm:", "<seg>")),
        ("a.sgm", SGML.replace('id="2"', 'id="1"'), 1),
        ("a.sgm", SGML.replace("<DOC", '<DOC sysid="a"></DOC><DOC sysid="b"'), ("a.sgm:", "a, b")),
        *(("a.de", f"{start}\nja\n", ("a.de:1:", "SGML", "XML")) for start in MARKUP),
    ):
        path = write(tmp_path / name, text)
        refused(command(tmp_path, f"--source={path}", f"--target={path}"), facts)


@pytest.mark.parametrize("beginning", ["<html> and <body>", "<!-- no comment -->", "<doc> is a tag"])
def test_text_about_markup(tmp_path, beginning):
    path = write(tmp_path / "a.de", f"{beginning}\nja\n")
    out = prepare(tmp_path, f"--source={path}", f"--target={path}")
    assert read_lines(out / "test.raw.gz") == [beginning, "ja"]


XML = """<?xml version="1.0"?><dataset id="x"><collection id="g">
<doc id="1" origlang="de"><src lang="de"><p><seg id="1">Haus</seg><seg id="2">ja</seg></p></src>
<ref lang="en" translator="A"><p><seg id="1">house</seg><seg id="2">yes</seg></p></ref>
<ref lang="en" translator="B"><p><seg id="1">home</seg><seg id="2">aye</seg></p></ref>
<hyp lang="en" system="S"><p><seg id="1">x</seg></p></hyp></doc></collection></dataset>"""


def test_wmt_xml(tmp_path):
    path = write(tmp_path / "a.xml", XML)
    assert read(path) == Bitext(["Haus", "ja"], ["house", "yes"])
    with input_error("a.xml:", "de", "fr"):
        read(path, Reading("de", "fr"))


def test_documents_without_a_reference(tmp_path, capsys):
    """They are left out, and counted."""
    start, end = XML.index("<doc "), XML.index("</collection>")
    begin, behind = XML.index("<ref "), XML.index("<hyp ")
    without = XML[start:begin] + XML[behind:end]
    path = write(tmp_path / "a.xml", XML[:end] + 2 * without + XML[end:])
    assert read(path).target == ["house", "yes"]
    assert "a.xml: warning: 2 of 3 documents" in capsys.readouterr().err


GERMAN_PO = PO.format(language="de")
JSON = '{"source": "a", "target": "b"}\n'


@pytest.mark.parametrize(
    ("name", "text", "facts"),
    [
        ("a.po", PO.format(language="fr"), "'fr'"),
        ("a.po", GERMAN_PO.replace('"Language', '"X'), ("a.po:", "de", "en")),
        ("a.po", GERMAN_PO + 'x "y"\n', "a.po:29:"),
        # a library would take the line without its last character
        ("a.po", GERMAN_PO + 'msgid "new"\nmsgstr "neu\n', "a.po:30:"),
        ("a.po", GERMAN_PO[: GERMAN_PO.index("msgctxt")], "a.po:"),
        ("a.mo", GERMAN_PO, "a.mo:"),
        ("a.xlf", XLIFF_2.replace("<unit id", '<unit translate="no" id'), ("a.xlf:", "de", "en")),
        ("a.xlf", XLIFF_2.replace("<file id", '<file translate="no" id'), ("a.xlf:", "de", "en")),
        ("a.csv", '"a" b,c\n', ("a.csv:1:", "CSV")),
        ("a.jsonl", JSON + '["a"]\n', ("a.jsonl:2:", "'source'")),
        ("a.jsonl", JSON + '{"source"\n', ("a.jsonl:2:", "JSON")),
        ("a.jsonl", JSON.replace('"a"', '"a ||| b"'), ("a.jsonl:1:", "'|||'")),
        ("a.jsonl", JSON.replace('"a"', "1"), "'source'"),
        ("a.jsonl", "", "a.jsonl"),
        ("a.jsonl", JSON.replace('"b"', '"\\ud800"'), ("a.jsonl:1:", "'target'")),
        ("a.parquet", "", "a.parquet:"),
        ("a.parquet", JSON, "a.parquet:"),
        ("a.xml", XML.replace('<seg id="2">yes</seg>', ""), ("a.xml:2:", 2)),
        ("a.xml", XML.replace('2">ja', '1">ja'), ("a.xml:2:", "'1'")),
        ("a.xml", "<tmx/>", ("<tmx>", "<dataset>")),
    ],
)
def test_bad_files(tmp_path, name, text, facts):
    with input_error(facts):
        read(write(tmp_path / name, text))


def test_a_line_break_in_a_label(tmp_path):
    """It would shift all later ones."""
    path = write(tmp_path / "a.jsonl", "\n" + JSON.replace("}", ', "from": "x\\ny"}'))
    with pytest.raises(InputError) as error:
        read(path, fields=Fields(label="from"))
    assert (error.value.path, error.value.line) == (str(path), 2)


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl", ""])
def test_invalid_pairs(tmp_path, capsys, name):
    """All are listed, or dropped and counted; only tokenised text has reserved words."""
    files = [f"--file={tmp_path / name}"]
    if name == "a.tsv":
        write(tmp_path / name, "".join("\t".join(pair) + "\n" for pair in BAD_PAIRS))
    elif name:
        records = [json.dumps({"source": one, "target": two}) for one, two in BAD_PAIRS]
        write(tmp_path / name, "\n".join(records).replace("\\u0007", " ||| "))
    else:
        write(tmp_path / "source", "".join(f"{one}\n" for one, _ in BAD_PAIRS))
        write(tmp_path / "target", "".join(f"{two}\n" for _, two in BAD_PAIRS))
        files = [f"--source={tmp_path / 'source'}", f"--target={tmp_path / 'target'}"]
    assert main(command(tmp_path, *files)) == 1
    assert 1 <= len(capsys.readouterr().err.splitlines()) <= 2
    for options, kept, dropped in (([], ["ja", "nein", "f"], 2), (["--tokenized"], ["ja", "nein"], 3)):
        out = prepare(tmp_path, *files, "--drop-invalid-pairs", *options)
        assert read_lines(out / "test.source.gz") == kept
        statistics = json.loads((out / "test.statistics.json").read_text())
        assert statistics["splits"]["test"]["dropped"] == {"invalid": dropped}


def test_at_most_ten_bad_lines_are_listed(tmp_path, capsys):
    path = write(tmp_path / "a.tsv", "ja\tyes\n" + "a ||| b\tc\n" * 20)
    assert main(command(tmp_path, f"--file={path}")) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[2] for line in lines] == [str(number) for number in range(2, 12)]


def test_line_separators_do_not_end_lines_of_catalogues(tmp_path):
    text = PO.format(language="de") + '# a\u2028b\nmsgid "new\u2028line"\nmsgstr "neue\u0085Zeile"\n'
    assert read(write(tmp_path / "a.po", text)).source[-1].split() == ["neue", "Zeile"]
