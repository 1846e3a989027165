"""Corpora of several files and formats: TSV, TMX, parts, names."""

import json
from dataclasses import replace

import psutil
import pytest
from tests.refusals import check_facts, input_error

from itersel.cli.main import main, make_parser
from itersel.cli.prepare_options import prepare_settings
from itersel.config.settings import as_json
from itersel.corpus import records
from itersel.corpus.blocks import corpus_blocks
from itersel.corpus.corpora import Columns, Corpus, Reading
from itersel.corpus.records import matches
from itersel.corpus.text import Bitext, concatenate_bitexts
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
    found = read(Corpus(source=source, target=target, labels=task))
    assert found == Bitext(["eins", "zwei", "drei"], ["one", "two", "three"], ["a", "b", "a"])


def test_parts_must_match_one_by_one(tmp_path):
    """The same total number of lines is not enough."""
    source = parts(tmp_path, "source", ["1", "2"], ["3"])
    target = parts(tmp_path, "target", ["1"], ["2", "3"])
    for corpus, facts in (
        (Corpus(source=source, target=target), ("source.0:2:", 2, 1, "target.0")),
        (Corpus("news", source, target[:1]), ("'news'", 2, 1)),
        (Corpus("", source[:1], target[:1], labels=target), (1, 2)),
    ):
        with input_error(facts):
            read(corpus)


def test_names_are_labels_by_default(tmp_path):
    news = Corpus("news", parts(tmp_path, "s", ["eins"]), parts(tmp_path, "t", ["one"]))
    law = tsv(tmp_path, "zwei\ttwo\tcivil\n", label=3)
    memory = tmx(tmp_path, HEAD + unit("drei", "three") + TAIL)
    found = read(news, replace(law, name="law"), replace(memory, name="memory"))
    assert found.source == ["eins", "zwei", "drei"]
    assert found.labels == ["news", "civil", "memory"]


def test_labels_are_for_all_or_for_none(tmp_path):
    table = tsv(tmp_path, "a\tb\tcivil\n").file
    memory = tmx(tmp_path, HEAD + unit("c", "d") + TAIL).file
    mixed = Corpus(file=table + memory, columns=Columns(label=3))
    for corpora in ([mixed], [Corpus("x", file=table), Corpus(file=memory)]):
        with input_error(".t"):
            read(*corpora)
    assert read(replace(mixed, name="law")).labels == ["civil", "law"]


def test_tsv(tmp_path):
    text = 'id1\tone\teins "\tmore\r\nid2\t\tzwei\r\n'
    found = read(tsv(tmp_path, text, source=3, target=2))
    assert found == Bitext(['eins "', "zwei"], ["one", ""])


def test_bad_tsv(tmp_path):
    reading = READING._replace(tokenized=True, advice="; break it")
    for text, columns, facts in (
        ("a\tb\nc\n", {}, (":2:", 1, 2)),
        ("a\tb\n", {"label": 3}, (":1:", 2, 3)),
        ("a\tb\tx\na\tb\tx y\n", {"label": 3}, (":2:", "'x y'")),
        ("a\tb\n\x07c\td\n", {}, (":2:", "U+0007")),
        ("a\tb\nc ||| d\te\n", {}, (":2:", "'|||'")),
        ("a\tb\nc\t[X,1]\n", {}, (":2:", "'[X,1]'")),
        ("", {}, ":"),
        ("a\t" + "b" * 2**20, {}, (":1:", 1048576)),
    ):
        with input_error("pairs.tsv", facts):
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
    facts = ("'fr'", 2, "'de'", 1, "'en'")
    with input_error(facts):
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
    warned = f"{corpus.file[0]}: warning: "
    check_facts(capsys.readouterr().err, warned, 4, 5, "en-gb", 3, "'en-US' (3), 'EN_AU' (1)")
    assert read(corpus).size == 4
    said = capsys.readouterr().err
    check_facts(said, warned, 1, 5, "de", "en")
    # there are no regions to blame
    assert "'" not in said
    assert read(tmx(tmp_path, HEAD + units[0] + TAIL)).size == 1
    assert capsys.readouterr().err == ""


def test_skipped_tmx_units_of_two_regions(tmp_path, capsys):
    """The side that is there is not the reason."""
    units = unit("a", "b", ("pt-BR", "pt-PT")) + unit("a", "c", ("pt-BR", "en"))
    assert read(tmx(tmp_path, HEAD + units + TAIL), reading=Reading("pt-br", "pt-pt")).size == 1
    said = capsys.readouterr().err
    check_facts(said, 1, 2, "pt-br", "pt-pt")
    assert "'" not in said


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
    for text, facts in (
        ("", "XML"),
        ("<html/>", (":1:", "TMX", "<html>")),
        (HEAD + TAIL, ("de", "en")),
        (HEAD + unit("a", "b"), (":5:", "XML")),
        (HEAD + "\n<tu><tuv xml:lang='de'/><tuv xml:lang='en'/></tu>" + TAIL, (":5:", "<tuv>", "<seg>")),
        (HEAD + unit("a", "b") + unit("c ||| d", "e") + TAIL, (":5:", "'|||'")),
        (HEAD + unit("a", "<unk>".replace("<", "&lt;")) + TAIL, (":4:", "'<unk>'")),
        (HEAD + unit("a&nbsp;b", "c") + TAIL, ":4:"),
        (f"<tmx><body>\n{unit('a', 'b')}{unit('a&nbsp;b', 'c')}{TAIL}", (":3:", "XML", "'nbsp'")),
        # libxml2 does not know the lines of elements without text beyond 65535
        (HEAD + "\n" * 70_000 + unit("", "c ||| d") + TAIL, "'|||'"),
        (HEAD + "\n" * 70_000 + unit("c ||| d", "") + TAIL, (":70004:", "'|||'")),
        (HEAD + unit("a", "b" * (2**20 + 1)) + TAIL, (":4:", 1048576)),
    ):
        with input_error("memory.tmx", facts) as error:
            read(tmx(tmp_path, text), reading=reading)
        assert "\n" not in str(error.value)
    # not UTF-8
    with input_error("memory.tmx:4:", "XML"):
        read(tmx(tmp_path, HEAD + unit("\xff", "b") + TAIL, "latin-1"))


def test_tmx_entities_are_not_expanded(tmp_path):
    """Neither endlessly growing entities nor those that read other files."""
    for declared, version, facts in (
        ('<!ENTITY e "x">', "1", "'e'"),
        ('<!ENTITY e SYSTEM "file:///etc/passwd">', "1", "'e'"),
        (f'<!ENTITY e0 "x">{BOMB}<!ENTITY e "&e12;">', "1", ()),
        (f'<!ENTITY e0 "{"x" * 100}">{BOMB}', "&e12;", "XML"),
    ):
        body = unit("&e;", "b") if version == "1" else ""
        text = f'<!DOCTYPE tmx [{declared}]><tmx version="{version}"><body>{body}</body></tmx>'
        with input_error(facts):
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
    with input_error(8388608):
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
    columns = [read_lines(tmp_path / f"out/train.{side}.gz") for side in ("source", "target", "labels")]
    assert columns == [["eins", "zwei", "drei"], ["one", "two", "three"], ["talks", "web", "memory"]]
    assert read_lines(tmp_path / "out/monolingual.gz") == ["eins", "one"]


def test_settings_are_what_options_say(tmp_path, refused):
    """Corpora of train, and a held-out set with two references, of which only one source is named."""
    [source], [target] = parts(tmp_path, "s", ["Eins", "Zwei"]), parts(tmp_path, "t", ["One", "Two"])
    table = tsv(tmp_path, "Three\tDrei\n").file[0]
    options = ["--split=train", "--corpus=a", f"--source={source}", f"--target={target}", "--max-ratio=3"]
    options += ["--corpus=b", f"--file={table}", "--columns=2,1", "--cut=dev=1", "--no-drop-overlap"]
    options += ["--held-out=test", f"--source={source}", f"--target={target}", f"--target={source}"]
    words = prepare(tmp_path, *options, "--protected=a,b", "--protected=c")

    made = prepare_settings(make_parser(words).parse_args(words))
    assert made.held_out == {"test": Corpus(source=(source,), target=(target,), further=(source,))}
    assert (made.preparation.protected, made.cut.by_split) == (("a,b", "c"), {"dev": 1})
    again = ["corpus", "prepare", "--settings", as_json(made), f"--output={tmp_path / 'again'}"]
    refused([*again, "--max-train=3"], "--settings")

    assert main(words) == main(again) == 0
    names = [path.name for path in (tmp_path / "out").iterdir()]
    assert len(names) > 8
    for name in names:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_wrong_settings(tmp_path, refused):
    corpus = {"source": ["s"], "target": ["t"]}
    languages = {"source_language": "de", "target_language": "en"}
    for key, value in (
        ("split", "nowhere"),
        ("corpora", [{**corpus, "file": ["f.tsv"]}]),
        ("held_out", {"train": corpus}),
        ("held_out", {"dev": {**corpus, "file": ["f.tsv"]}}),
        ("cut", {"train": 1}),
        ("cut", {"dev": 0}),
        ("preparation", {**languages, "protected": "("}),
    ):
        given = json.dumps({"corpora": [corpus], "preparation": languages, "split": "train", key: value})
        words = ["corpus", "prepare", "--settings", given, f"--output={tmp_path / 'out'}"]
        refused(words, "--settings", "protected" if key == "preparation" else key)


def test_conflicting_arguments(tmp_path, refused):
    for options, facts in (
        ("", ("--source", "--target", "--file")),
        ("--source=s", ("--target", "--source", "--file")),
        (f"{BOTH} --file=f.tsv", ("--file", "--source")),
        (f"{BOTH} --columns=2,1", ("--columns", "--file", ".tsv")),
        ("--file=f.tmx --columns=2,1", ("--columns", "--file", ".tsv")),
        ("--file=f.tsv --file=f.tmx --columns=1,2,3", "f.tmx"),
        ("--file=f.txt", ("f.txt", ".tsv", ".csv", ".tmx")),
        (f"--corpus=a {BOTH} --alignment=x {TABLE}", "alignment"),
        (f"{BOTH} {TABLE}", "labels"),
        (f"{BOTH} --protected=(", "protected"),
        (f"--split=test --corpus=a --file=f.tsv {TABLE}", "train"),
        (f"--split=dev --source=s {BOTH}", "train"),
    ):
        refused(prepare(tmp_path, "--split=train", *options.split()), facts)


def test_usage_errors(tmp_path):
    columns = [f"--columns={columns}" for columns in ("1", "1,x", "0,1", "1,1001", "2,2")]
    for options in (*columns, "--corpus=a/b", "--corpus=a --file=x.tsv --corpus=a"):
        assert main(prepare(tmp_path, "--file=f.tsv", *options.split())) == 2, options
