"""Corpora of several files and formats: TSV, TMX, parts, names."""

from dataclasses import replace

import psutil
import pytest

from itersel.cli.main import main
from itersel.corpus import records
from itersel.corpus.blocks import corpus_blocks
from itersel.corpus.corpora import Columns, Corpus, Reading
from itersel.corpus.records import matches
from itersel.corpus.text import Bitext, concatenate_bitexts
from itersel.errors import InputError
from itersel.storage.files import open_output, read_lines, write_lines

READING = Reading("de", "en", limit=2**20)
HEAD = '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header/><body>\n'
TAIL = "</body></tmx>\n"
BOTH, TABLE = "--source=s --target=t", "--corpus=b --file=f.tsv"
BOMB = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))


def variant(language, text):
    return f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>'


def unit(source, target, languages=("de-DE", "EN_us")):
    return f"<tu>{variant(languages[0], source)}{variant(languages[1], target)}</tu>\n"


def read(*corpora, reading=READING):
    return concatenate_bitexts(corpus_blocks(corpora, reading))


def tmx(folder, content, encoding="utf-8"):
    (folder / "memory.tmx").write_text(content, encoding)
    return Corpus(file=(str(folder / "memory.tmx"),))


def tsv(folder, content, **columns):
    (folder / "pairs.tsv").write_text(content, encoding="utf-8", newline="")
    return Corpus(file=(str(folder / "pairs.tsv"),), columns=Columns(**columns))


def parts(folder, name, *texts, suffix=""):
    paths = [folder / f"{name}.{number}{suffix}" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        write_lines(path, text)
    return tuple(map(str, paths))


def test_parts_are_joined_in_their_order(tmp_path):
    source = parts(tmp_path, "source", ["eins", "zwei"], ["drei"], suffix=".xz")
    target = parts(tmp_path, "target", ["one", "two"], ["three"], suffix=".zst")
    task = parts(tmp_path, "task", ["a", "b"], ["a"])
    found = read(Corpus(source=source, target=target, task=task))
    assert found == Bitext(["eins", "zwei", "drei"], ["one", "two", "three"], ["a", "b", "a"])


def test_parts_must_match_one_by_one(tmp_path):
    """The same total number of lines is not enough."""
    source = parts(tmp_path, "source", ["1", "2"], ["3"])
    target = parts(tmp_path, "target", ["1"], ["2", "3"])
    for corpus, message in (
        (Corpus(source=source, target=target), r"source\.0:2: has no partner: 2 lines, but 1 in .*target\.0"),
        (Corpus("news", source, target[:1]), "corpus 'news' has 2 source files, but 1 target file;"),
        (Corpus("", source[:1], target[:1], task=target), "the corpus has 1 source file, but 2 task files;"),
    ):
        with pytest.raises(InputError, match=message):
            read(corpus)


def test_names_are_labels_by_default(tmp_path):
    news = Corpus("news", parts(tmp_path, "s", ["eins"]), parts(tmp_path, "t", ["one"]))
    law = tsv(tmp_path, "zwei\ttwo\tcivil\n", task=3)
    memory = tmx(tmp_path, HEAD + unit("drei", "three") + TAIL)
    found = read(news, replace(law, name="law"), replace(memory, name="memory"))
    assert found.source == ["eins", "zwei", "drei"]
    assert found.task == ["news", "civil", "memory"]


def test_labels_are_for_all_or_for_none(tmp_path):
    table = tsv(tmp_path, "a\tb\tcivil\n").file
    memory = tmx(tmp_path, HEAD + unit("c", "d") + TAIL).file
    mixed = Corpus(file=table + memory, columns=Columns(task=3))
    for corpora in ([mixed], [Corpus("x", file=table), Corpus(file=memory)]):
        with pytest.raises(InputError, match=r"(tsv|tmx): some pairs have task labels, others have none"):
            read(*corpora)
    assert read(replace(mixed, name="law")).task == ["civil", "law"]


def test_tsv(tmp_path):
    text = 'id1\tone\teins "\tmore\r\nid2\t\tzwei\r\n'
    found = read(tsv(tmp_path, text, source=3, target=2))
    assert found == Bitext(['eins "', "zwei"], ["one", ""])


def test_bad_tsv(tmp_path):
    reading = READING._replace(tokenized=True, advice="; break it")
    for text, columns, message in (
        ("a\tb\nc\n", {}, "2: has 1 column, separated by tabs, but the target is column 2"),
        ("a\tb\n", {"task": 3}, "1: has 2 columns, separated by tabs, but the task is column 3"),
        ("a\tb\tx\na\tb\tx y\n", {"task": 3}, "2: 'x y' is not a task label"),
        ("a\tb\n\x07c\td\n", {}, r"2: control character U\+0007"),
        ("a\tb\nc ||| d\te\n", {}, r"2: '\|\|\|' separates"),
        ("a\tb\nc\t[X,1]\n", {}, r"2: '\[X,1\]' cannot be a word"),
        ("", {}, " is empty"),
        ("a\t" + "b" * 2**20, {}, "1: is longer than 1,048,576 bytes; break it"),
    ):
        with pytest.raises(InputError, match=rf"pairs\.tsv:{message}"):
            read(tsv(tmp_path, text, **columns), reading=reading)


def test_tmx_elements(tmp_path):
    """Only codes of the original format vanish; a placeholder between two words leaves a space."""
    for source, text in (
        ("Den <g id='1'>roten <b>Deckel</b></g> <mrk mtype='x'>auf</mrk>!", "Den roten Deckel auf!"),
        ("da<x id='1'/>A <ph>a</ph>ist<it>b</it>, <ut>c</ut>H<bpt>d</bpt>2<ept>e</ept>O", "da A ist, H2O"),
        ("eins<ph/><ph/>zwei <ph>&lt;br/&gt;</ph>", "eins zwei"),
        ("<sub>Fußnote</sub>", "Fußnote"),
        ('<bpt i="1">&lt;</bpt><hi>ein <ph>x</ph>Ei</hi><ept i="1">/b</ept>\n  da<!-- no -->!', "ein Ei da!"),
        ("The old house &amp; &#x263A;!", "The old house & ☺!"),
    ):
        assert read(tmx(tmp_path, HEAD + unit(source, "x") + TAIL)).source == [text]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_tmx_encodings(tmp_path, encoding):
    name = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{name}"?><tmx><body>{unit("größer", "larger")}</body></tmx>'
    assert read(tmx(tmp_path, text, encoding)) == Bitext(["größer"], ["larger"])


def test_tmx_with_a_namespace_and_compressed(tmp_path):
    with open_output(tmp_path / "a.tmx.gz") as stream:
        stream.write(f'<tmx xmlns="http://www.lisa.org/tmx14"><body>{unit("ja", "yes")}</body></tmx>')
    assert read(Corpus(file=(str(tmp_path / "a.tmx.gz"),))) == Bitext(["ja"], ["yes"])


def test_tmx_languages(tmp_path):
    several = f"<tu>{variant('en-GB', 'colour')}{variant('fr', 'x')}{variant('en-US', 'color')}"
    text = HEAD + f"{several}{variant('de', 'Farbe')}</tu>" + unit("un", "one", ("fr", "en")) + TAIL
    corpus = tmx(tmp_path, text)
    assert read(corpus) == Bitext(["Farbe"], ["colour"])
    assert read(corpus, reading=Reading("de", "en-us")).target == ["color"]
    assert read(corpus, reading=Reading("de", "en-gb")).target == ["colour"]
    assert read(corpus, reading=Reading("fr", "en")) == Bitext(["x", "un"], ["colour", "one"])
    message = r"no translation unit in de and en-au; its languages are 'fr' \(2\), 'de' \(1\), 'en' \(1\)"
    with pytest.raises(InputError, match=message):
        read(corpus, reading=Reading("de", "en-au"))


def test_skipped_tmx_units_are_counted(tmp_path, capsys):
    units = [
        unit("Farbe", "colour", ("de", "en-GB")),
        *[unit("Farbe", "color", ("de", "en-US"))] * 2,
        f"<tu>{variant('de', 'x')}{variant('EN_AU', 'y')}{variant('en-US', 'z')}</tu>",
        unit("x", "y", ("fr", "en-US")),
    ]
    corpus = tmx(tmp_path, HEAD + "".join(units) + TAIL)
    assert read(corpus, reading=Reading("de", "en-gb")).size == 1
    skipped = "4 of 5 translation units skipped, not in de and en-gb"
    regions = "3 because of the region ('en-US' (3), 'EN_AU' (1))"
    assert capsys.readouterr().err == f"{corpus.file[0]}: warning: {skipped}; {regions}\n"
    assert read(corpus).size == 4
    skipped = "1 of 5 translation units skipped, not in de and en"
    assert capsys.readouterr().err == f"{corpus.file[0]}: warning: {skipped}\n"
    assert read(tmx(tmp_path, HEAD + units[0] + TAIL)).size == 1
    assert capsys.readouterr().err == ""


def test_skipped_tmx_units_of_two_regions(tmp_path, capsys):
    """The side that is there is not the reason."""
    units = unit("a", "b", ("pt-BR", "pt-PT")) + unit("a", "c", ("pt-BR", "en"))
    assert read(tmx(tmp_path, HEAD + units + TAIL), reading=Reading("pt-br", "pt-pt")).size == 1
    assert capsys.readouterr().err.endswith("1 of 2 translation units skipped, not in pt-br and pt-pt\n")


def test_language_codes():
    for code, language in (
        ("EN-US", "en"),
        ("en_US", "en-us"),
        ("en", "en-us"),
        ("eng", "en"),
        ("zh-Hant-TW", "zh-hant"),
    ):
        assert matches(code, language), code
    for code, language in ("en-GB", "en-us"), ("enf", "en"), ("de", "den"):
        assert not matches(code, language), code


def test_bad_tmx(tmp_path):
    reading = READING._replace(tokenized=True, advice="; break it")
    for text, message in (
        ("", ": not XML: no element found"),
        ("<html/>", ":1: is not TMX: its root is <html>"),
        (HEAD + TAIL, ": has no translation unit in de and en; its languages are none"),
        (HEAD + unit("a", "b"), ":5: not XML: Premature end"),
        (HEAD + "\n<tu><tuv xml:lang='de'/><tuv xml:lang='en'/></tu>" + TAIL, ":5: a <tuv> has no <seg>"),
        (HEAD + unit("a", "b") + unit("c ||| d", "e") + TAIL, r":5: '\|\|\|' separates"),
        (HEAD + unit("a", "<unk>".replace("<", "&lt;")) + TAIL, ":4: '<unk>' cannot be a word"),
        (HEAD + unit("a&nbsp;b", "c") + TAIL, ":4: unknown entity &nbsp;"),
        (f"<tmx><body>\n{unit('a', 'b')}{unit('a&nbsp;b', 'c')}{TAIL}", ":3: not XML: Entity 'nbsp' not"),
        # libxml2 does not know the lines of elements without text beyond 65535
        (HEAD + "\n" * 70_000 + unit("", "c ||| d") + TAIL, r": '\|\|\|' separates"),
        (HEAD + "\n" * 70_000 + unit("c ||| d", "") + TAIL, r":70004: '\|\|\|' separates"),
        (HEAD + unit("a", "b" * (2**20 + 1)) + TAIL, ":4: is longer than 1,048,576 bytes; break it"),
    ):
        with pytest.raises(InputError, match=rf"memory\.tmx{message}") as error:
            read(tmx(tmp_path, text), reading=reading)
        assert "\n" not in str(error.value)
    # not UTF-8
    with pytest.raises(InputError, match=r"memory\.tmx:4: not XML: "):
        read(tmx(tmp_path, HEAD + unit("\xff", "b") + TAIL, "latin-1"))


def test_tmx_entities_are_not_expanded(tmp_path):
    """Neither endlessly growing entities nor those that read other files."""
    for declared, version, message in (
        ('<!ENTITY e "x">', "1", "declares the entity 'e'; replace entities by their text"),
        ('<!ENTITY e SYSTEM "file:///etc/passwd">', "1", "declares the entity 'e'"),
        (f'<!ENTITY e0 "x">{BOMB}<!ENTITY e "&e12;">', "1", "Maximum entity amplific|declares the entity"),
        (f'<!ENTITY e0 "{"x" * 100}">{BOMB}', "&e12;", "not XML: Maximum entity amplification"),
    ):
        body = unit("&e;", "b") if version == "1" else ""
        text = f'<!DOCTYPE tmx [{declared}]><tmx version="{version}"><body>{body}</body></tmx>'
        with pytest.raises(InputError, match=message):
            read(tmx(tmp_path, text))


def test_blocks_of_long_lines_are_small(tmp_path):
    path = tmp_path / "long.tsv"
    path.write_text("".join(f"{'a ' * 100_000}\t{'b ' * 100_000}\n" for _ in range(9)))
    sizes = [block.size for block in corpus_blocks([Corpus(file=(str(path),))], READING)]
    assert sum(sizes) == 9
    assert max(sizes) < 5


def test_tmx_of_any_size_takes_little_memory(tmp_path, monkeypatch):
    """A tree of all units would take 60 MB."""
    monkeypatch.setattr(records, "_MAX_PAIRS", 1000)
    path = tmp_path / "large.tmx"
    with open_output(path) as stream:
        stream.write(HEAD)
        for number in range(30_000):
            stream.write(unit(f"Satz {number} " + "x" * 200, "y" * 200))
        stream.write(TAIL)
    memory, before = psutil.Process().memory_info, psutil.Process().memory_info().rss
    blocks = corpus_blocks([Corpus(file=(str(path),))], READING)
    sizes, peaks = zip(*((block.size, memory().rss) for block in blocks), strict=True)
    assert sum(sizes) == 30_000
    assert max(peaks) - before < 15_000_000


def test_an_endless_unit_is_rejected(tmp_path):
    with pytest.raises(InputError, match="no translation unit ends within 8,388,608 bytes; split the file"):
        read(tmx(tmp_path, HEAD + "<tu>" + "<note/>" * 1_250_000 + "</tu>" + TAIL))


def prepare(folder, *options):
    languages = ["--source-language=de", "--target-language=en"]
    return ["corpus", "prepare", *languages, *options, f"--output={folder / 'out'}"]


def test_several_corpora_are_prepared(tmp_path):
    [source], [target] = parts(tmp_path, "s", ["Eins"]), parts(tmp_path, "t", ["One"])
    table = tsv(tmp_path, "Two\tZwei\n").file[0]
    memory = tmx(tmp_path, HEAD + unit("Drei", "Three") + TAIL).file[0]
    options = ["--split=train", "--corpus=talks", f"--source={source}", f"--target={target}"]
    options += ["--corpus=web", f"--file={table}", "--columns=2,1", "--corpus=memory", f"--file={memory}"]
    options += [f"--monolingual={source}", f"--monolingual={target}"]
    assert main(prepare(tmp_path, *options)) == 0
    columns = [read_lines(tmp_path / f"out/train.{side}.gz") for side in ("source", "target", "task")]
    assert columns == [["eins", "zwei", "drei"], ["one", "two", "three"], ["talks", "web", "memory"]]
    assert read_lines(tmp_path / "out/monolingual.gz") == ["eins", "one"]


def test_conflicting_arguments(tmp_path, refused):
    for options, message in (
        ("", "give --source and --target, or --file"),
        ("--source=s", "--target is missing; give --source and --target, or --file"),
        (f"{BOTH} --file=f.tsv", "--file replaces --source"),
        (f"{BOTH} --columns=2,1", "--columns needs a --file of .tsv, .csv"),
        ("--file=f.tmx --columns=2,1", "--columns needs a --file of .tsv, .csv"),
        ("--file=f.tsv --file=f.tmx --columns=1,2,3", "f.tmx: the file has no labels"),
        ("--file=f.txt", "f.txt: the name must end in .tsv, .csv, .tmx, "),
        (f"--corpus=a {BOTH} --alignment=x {TABLE}", "some corpora have alignment, others have none"),
        (f"{BOTH} {TABLE}", "some corpora have labels"),
        (f"--split=test --corpus=a --file=f.tsv {TABLE}", "only train may have several corpora"),
        (f"--split=dev --source=s {BOTH}", "several source files"),
    ):
        refused(prepare(tmp_path, "--split=train", *options.split()), message)


def test_usage_errors(tmp_path):
    columns = [f"--columns={columns}" for columns in ("1", "1,x", "0,1", "1,1001", "2,2")]
    for options in (*columns, "--corpus=a/b", "--corpus=a --file=x.tsv --corpus=a"):
        assert main(prepare(tmp_path, "--file=f.tsv", *options.split())) == 2, options
