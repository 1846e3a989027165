"""``itersel corpus prepare``: text, splits, filters, samples, statistics."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.limited import limited

from itersel.cli.main import main
from itersel.config.text_steps import PrepareSettings
from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.pipeline import prepare_corpus
from itersel.corpus.prepare import Preparation, read_preparation
from itersel.corpus.settings import Words
from itersel.corpus.split import split_of
from itersel.corpus.text import Bitext
from itersel.corpus.text_names import SPLITS
from itersel.storage.files import read_lines, write_lines

LANGUAGES = ("--source-language=de", "--target-language=en")


def test_raw_text():
    for language, raw, tokens in (
        # output of Moses, checked by hand: quotes, abbreviations, apostrophes by language, nothing escaped
        ("de", "Er sagte: „Z.B. 3,5 % & <B>“.", 'er sagte : " z.b. 3,5 ▁% & <B> " .'),
        ("en-us", "Don’t use “A1” (yet)…", 'don \'t use " a1 " ( yet ) ...'),
        ("fr", "L’aide — d'abord.", "l' aide - d' abord ."),
        ("ja", "Calcの図", "calc￭ の 図"),
        ("de", "u\u0308ber", "\u00fcber"),
    ):
        assert Preparation(Words(language, language)).source([raw]) == [tokens]
        assert Preparation(Words("de", language)).target([raw]) == [tokens]
    tokenized = Preparation(Words("de", "en", tokenized=True))
    assert tokenized.source(["Z.B.  (DAS)  u\u0308ber-Haus "]) == ["z.b. (das) \u00fcber-haus"]


def test_no_warning_in_a_container_without_shared_memory():
    """There is no semaphore for joblib there, which sacremoses imports."""
    refuse = "def refuse(*_, **__): raise OSError(38, 'Function not implemented')"
    code = f"{refuse}\nimport _multiprocessing\n_multiprocessing.SemLock = refuse\n"
    code += "from itersel.corpus.tokenization import tokenizer\nprint(*tokenizer('de').tokenize('Ja.'))"
    done = limited(program=("-c", code))
    assert (done.stdout, done.stderr) == ("Ja .\n", "")


def command(folder, *options, **texts):
    folder.mkdir(exist_ok=True)
    for name, lines in texts.items():
        write_lines(folder / name, lines)
    files = [f"--{name}={folder / name}" for name in texts]
    return ["corpus", "prepare", *files, *LANGUAGES, f"--output={folder / 'out'}", *options]


def prepare(folder, *options, **texts):
    assert main(command(folder, *options, **texts)) == 0
    return folder / "out"


def prepare_train(folder, lines, *options):
    """Prepare train from pairs, and return the pairs of all splits that are written."""
    source, target = [source for source, _ in lines], [target for _, target in lines]
    out = prepare(folder, "--split=train", *options, source=source, target=target)
    splits = [path.name.split(".")[0] for path in out.glob("*.source.gz")]
    return {split: read_split(out, split, "source", "target") for split in splits}


def read_split(folder, split, *columns):
    """Return the pairs of a split, as tuples of source, target and task, or of other columns."""
    texts = (read_lines(folder / f"{split}.{name}.gz") for name in columns or ("source", "target", "labels"))
    return list(zip(*texts, strict=True))


def statistics(folder, name="statistics.json"):
    return dict(json.loads((folder / name).read_text())["splits"])


def test_preparation_file(tmp_path, refused):
    options = ["--split=train", "--compound-splitting", "--deduplicate=none"]
    source = ["haus tür"] * 2 + ["haustür"]
    out = prepare(tmp_path, *options, source=source, target=["house door"] * 3)
    assert read_lines(out / "train.source.gz") == ["haus tür"] * 3
    files = command(tmp_path, source=["Die Haustür.", "", "Tür"], target=["house door"] * 3)
    dev = [word for word in files if word not in LANGUAGES]
    dev += [f"--preparation={out / 'preparation.json'}", "--split=dev"]
    assert main(dev) == 0
    # The words of dev are split by the counts of train; empty lines of dev stay.
    assert read_lines(out / "dev.source.gz") == ["die haus tür .", "", "tür"]
    preparation = read_preparation(out / "preparation.json")
    assert preparation.split_compounds(preparation.source(["Türhaus!"])) == ["tür haus !"]
    refused([*dev, "--tokenized"], "--preparation", "--tokenized")


@pytest.mark.parametrize(("by", "kept"), [("", "abd"), ("pairs", "abd"), ("source", "ad"), ("none", "abcde")])
def test_duplicates_in_train(tmp_path, by, kept):
    """The first of each stays, with its label; case and compounds do not make a difference."""
    source = ["Das Haus", "Das Haus", "das haus", "ein Haus Tür", "Ein Haustür"]
    target = ["the house", "this house", "The house", "a door", "a door"]
    options = ["--split=train", "--compound-splitting", *([f"--deduplicate={by}"] if by else [])]
    out = prepare(tmp_path, *options, source=source, target=target, labels=list("abcde"))
    assert read_lines(out / "train.labels.gz") == list(kept)
    dropped = statistics(out, "train.statistics.json")["train"]["dropped"]
    assert dropped.get("duplicates", 0) == 5 - len(kept)


@pytest.mark.parametrize("options", [(), ("--compound-splitting",)])
def test_duplicates_are_found_among_what_can_be_trained_on(tmp_path, options):
    lines = [("ein haus", ""), ("ein haus", "a " * 40), ("ein haus", "a house")]
    found = prepare_train(tmp_path, lines, "--deduplicate=source", *options)
    assert found["train"] == [("ein haus", "a house")]


def test_several_processes_prepare_the_same_text(tmp_path, monkeypatch):
    """There are more blocks than processes."""
    monkeypatch.setattr("itersel.storage.files.BLOCK_BYTES", 2**13)
    lines = [(f"Der Satz Nr. {n}, am 1. Mai " * 3, f"Sentence no. {n}, May 1") for n in range(600)]
    lines[7] = ("", "")
    for processes in ("1", "2"):
        prepare_train(
            tmp_path / processes, lines, "--compound-splitting", "--cut=dev=3", "--processes", processes
        )
    files = sorted(path.name for path in (tmp_path / "1/out").iterdir())
    assert "train.source.gz" in files
    for name in files:
        assert (tmp_path / "1/out" / name).read_bytes() == (tmp_path / "2/out" / name).read_bytes()


def test_a_bad_line_in_several_processes(tmp_path, refused):
    texts = {"source": ["haus"] * 9 + ["a\x07b"], "target": ["house"] * 10}
    refused(command(tmp_path, "--processes=2", **texts), ("source:10:", "U+0007"))


@given(st.data())
def test_sets_that_are_cut_from_train(tmp_path_factory, data):
    """The same sentences in whatever order, one pair of each; train has none of their sources."""
    folder = tmp_path_factory.mktemp("cut")
    lines = [(f"satz {n // 2}", f"sentence {n}") for n in range(40)] + [("leer", ""), ("", "empty")]
    shuffled = data.draw(st.permutations(lines))
    sizes = ["--cut", "dev=3", "--cut", "test=4"]
    one, two = (prepare_train(folder / name, text, *sizes) for name, text in (("a", lines), ("b", shuffled)))
    assert {split: len(pairs) for split, pairs in one.items()} == {"train": 26, "dev": 3, "test": 4}
    assert one["dev"] == two["dev"]
    assert sorted(one["train"]) == sorted(two["train"])
    for split in ("dev", "test"):
        assert [source for source, _ in one[split]] == [source for source, _ in two[split]]
        assert [pair for pair in one[split] if pair not in lines] == []
    sources = [{source for source, _ in pairs} for pairs in one.values()]
    assert sum(map(len, sources)) == len(set().union(*sources)) == 20
    for column, side in (("raw.source", 0), ("raw", 1)):
        assert read_lines(folder / f"a/out/test.{column}.gz") == [pair[side] for pair in one["test"]]


def test_a_set_that_grows_keeps_its_sentences(tmp_path):
    lines = [(f"satz {number}", f"sentence {number}") for number in range(20)]
    small, large = (prepare_train(tmp_path / size, lines, "--cut", f"dev={size}") for size in ("3", "5"))
    assert large["dev"][:3] == small["dev"]


def test_too_few_sentences_to_cut(tmp_path, refused):
    options, texts = ("--split=train", "--cut=dev=3"), {"source": ["1", "2", "2"], "target": ["a", "b", "B"]}
    facts = (2, 3)
    refused(command(tmp_path, *options, **texts), facts)


def test_pairs_of_held_out_sets_are_not_in_train(tmp_path):
    """With any of their references; the first set that has a pair is named."""
    write_lines(tmp_path / "dev", ["Das Haus", "Der Hund"])
    write_lines(tmp_path / "dev.0", ["the cottage", "the dog"])
    write_lines(tmp_path / "dev.1", ["the House", "the hound"])
    write_lines(tmp_path / "test", ["ein Tier", "Der Hund"])
    write_lines(tmp_path / "test.0", ["an animal", "the dog"])
    sets = ["--held-out=dev", f"--source={tmp_path / 'dev'}"]
    sets += [f"--target={tmp_path / 'dev.0'}", f"--target={tmp_path / 'dev.1'}"]
    sets += ["--held-out=test", f"--source={tmp_path / 'test'}", f"--target={tmp_path / 'test.0'}"]
    lines = [("das haus", "the house"), ("das Haus", "a house"), ("der Hund", "the dog"), ("neu", "new")]
    found = prepare_train(tmp_path / "dropped", lines, *sets)
    assert found == {"train": [("das haus", "a house"), ("neu", "new")]}
    document = json.loads((tmp_path / "dropped/out/train.statistics.json").read_text())
    assert document["splits"]["train"]["dropped"]["also in dev"] == 2
    assert document["overlaps"] == [{"split": "test", "other": "dev", "pairs": 1}]
    kept = prepare_train(tmp_path / "kept", lines, "--no-drop-overlap", *sets)
    assert len(kept["train"]) == 4
    document = json.loads((tmp_path / "kept/out/train.statistics.json").read_text())
    assert document["overlaps"] == [
        {"split": "dev", "other": "train", "pairs": 2},
        {"split": "test", "other": "train", "pairs": 1},
        {"split": "test", "other": "dev", "pairs": 1},
    ]


def test_splits_by_hash(tmp_path, capsys):
    """No source is in two splits, and no pair is lost; statistics are those of the files."""
    # each source occurs twice, with different targets; at the end a lowercased copy of Satz 1 / Sentence 2
    source = [f"Satz {number // 2}" for number in range(1000)] + ["satz 1"]
    target = [f"Sentence {number}" for number in range(1000)] + ["sentence 2"]
    task = ["even" if number % 4 < 2 else "odd" for number in range(1000)] + ["odd"]
    out = prepare(tmp_path, source=source, target=target, labels=task)
    splits = {split: read_split(out, split) for split in SPLITS}
    sources = [{source for source, _, _ in pairs} for pairs in splits.values()]
    assert sum(map(len, sources)) == len(set.union(*sources)) == 500
    assert sum(map(len, splits.values())) == len(set().union(*splits.values())) == 1000
    assert [pair[2] for pairs in splits.values() for pair in pairs if pair[1] == "sentence 2"] == ["odd"]
    found = statistics(out)
    assert sum(split["dropped"]["duplicates"] for split in found.values()) == 1
    for split, pairs in splits.items():
        words = [word for source, _, _ in pairs for word in source.split()]
        assert found[split]["sentences"] == sum(found[split]["labels"].values()) == len(pairs)
        assert found[split]["source"] == {"tokens": len(words), "types": len(set(words))}
    capsys.readouterr()
    assert main(["corpus", "statistics", str(out / "statistics.json")]) == 0
    header, _, *rows = capsys.readouterr().out.splitlines()
    assert " ".join(header.split()) == "split sentences source tokens source types target tokens target types"
    sizes = [[split, str(len(pairs))] for split, pairs in splits.items()]
    assert [row.split()[:2] for row in rows[:4]] == sizes
    assert rows[4].endswith(": duplicates 1")


def test_held_out_labels_are_test_sets(tmp_path, refused):
    """Their pairs are in no other split; they lose pairs whose source is in another split."""
    texts = {
        "source": [f"Satz {number}" for number in range(600)] + ["Satz 1", "Satz 599"],
        "target": [f"Sentence {number}" for number in range(600)] + ["Other", "Another"],
        "labels": [("calc", "basic", "math")[number // 200] for number in range(600)] + ["basic", "basic"],
    }
    out = prepare(tmp_path, "--held-out-labels=basic,math", **texts)
    splits = {split: read_split(out, split) for split in (*SPLITS, "test.basic", "test.math")}
    assert [{pair[2] for pair in splits[split]} for split in SPLITS] == [{"calc"}] * 4
    assert sum(len(splits[split]) for split in SPLITS) == 200
    # "Satz 1" is in another split with calc; "Satz 599" is in math, which comes after
    assert len(splits["test.basic"]) == 201
    assert len(splits["test.math"]) == 199
    assert statistics(out)["test.basic"]["dropped"]["source in another split"] == 1
    for modules, facts in {
        "draw": ("draw", "basic", "calc", "math"),
        "a/b": "'a/b'",
        "basic,basic": "'basic'",
    }.items():
        refused(command(tmp_path, f"--held-out-labels={modules}", **texts), facts)
    out = prepare(tmp_path / "of modules", "--only-labels=math", "--held-out-labels=basic", **texts)
    assert {pair[2] for pair in read_split(out, "train")} == {"math"}
    assert {pair[2] for pair in read_split(out, "test.basic")} == {"basic"}


@pytest.mark.parametrize("last", [["calc", "basic"], ["basic", "calc"]])
def test_shared_pairs_are_not_held_out(tmp_path, last):
    """Regardless of which module comes first."""
    source = [f"Satz {number}" for number in range(400)] + ["Hilfe", "Hilfe"]
    target = [f"Sentence {number}" for number in range(400)] + ["Help", "Help"]
    task = ["calc"] * 200 + ["basic"] * 200 + last
    out = prepare(tmp_path, "--held-out-labels=basic", source=source, target=target, labels=task)
    splits = {split: read_split(out, split) for split in (*SPLITS, "test.basic")}
    places = [split for split, pairs in splits.items() if ("hilfe", "help", "calc") in pairs]
    assert places == [split_of("hilfe")]
    assert len(splits["test.basic"]) == 200


def test_several_references_stay_parallel(tmp_path, refused):
    texts = {"source": ["Eins", "Zwei", "Drei"], "target": ["One", "Two", "Three"]}
    write_lines(tmp_path / "other", ["1!", "2!", "3!"])
    other = f"--target={tmp_path / 'other'}"
    out = prepare(tmp_path, other, "--max-held-out=2", "--split=test.news", **texts)
    kept = read_split(out, "test.news", "source", "target", "target.1")
    assert len(kept) == 2
    assert set(kept) < {("eins", "one", "1 !"), ("zwei", "two", "2 !"), ("drei", "three", "3 !")}
    train = command(tmp_path, other, "--split=train", **texts)
    refused(train, (1, 2))
    write_lines(tmp_path / "other", ["1!", "2!"])
    test = command(tmp_path, other, "--split=test", **texts)
    refused(test, ("source:3:", 3, 2, tmp_path / "other"))


def test_only_train_is_filtered(tmp_path):
    out = prepare(tmp_path, "--split=test", "--max-length=1", source=["a b c", ""], target=["x", "y"])
    assert read_lines(out / "test.source.gz") == ["a b c", ""]
    assert not (out / "preparation.json").exists()


def test_labels_and_bounds(tmp_path):
    source = [f"satz {number}" for number in range(300)]
    options = ["--max-train=50", "--max-held-out=2", "--only-labels=swriter,smath"]
    task = ["swriter", "scalc", "smath"] * 100
    out = prepare(tmp_path, *options, source=source, target=source, labels=task)
    pairs = {split: read_split(out, split) for split in SPLITS}
    assert len(pairs["train"]) == 50
    assert all(1 <= len(pairs[split]) <= 2 for split in SPLITS[1:])
    assert {task for _, _, task in pairs["train"]} == {"swriter", "smath"}
    recorded = json.loads((out / "statistics.json").read_text())["settings"]
    found = [
        recorded[name]
        for name in ("max_train", "max_held_out", "only_labels", "compound_splitting", "max_ratio")
    ]
    assert found == [50, 2, ["swriter", "smath"], False, 9.0]


def test_alignment_and_monolingual_text(tmp_path):
    texts = {
        "source": ["Ein Haus", "a " * 81, "Haus"],
        "target": ["A house", "x " * 80, "House"],
        "alignment": ["0-0 1-1", "0-0", "0-0"],
        "monolingual": ["One  more", "", "And more"],
    }
    out = prepare(tmp_path, "--tokenized", "--split=train", **texts)
    assert read_split(out, "train", "source", "alignment") == [("ein haus", "0-0 1-1"), ("haus", "0-0")]
    assert read_lines(out / "monolingual.gz") == ["one more", "and more"]
    document = json.loads((out / "train.statistics.json").read_text())
    assert document["monolingual"] == {"sentences": 2, "tokens": 4, "types": 3, "dropped": {"empty": 1}}


def test_split_compounds_do_not_put_a_source_into_two_splits():
    """The hash may put `türhaus` and `tür haus`, which are equal once split, into different splits."""
    first, last = ("tür", "baum", "wand", "dach"), ("haus", "bild", "stein", "licht")
    words = [f"{a}{b}" for a in first for b in last]
    whole = [f"{one} {two}" for one in words for two in words]
    known = [*first, *last] * 50
    splitter = CompoundSplitter(Counter(known))
    others = [f"satz {number}" for number in range(500)]
    sources = [*known, *whole, *map(splitter.split_sentence, whole), *others]
    bitext = Bitext(sources, [f"{number}" for number in range(len(sources))])
    settings = PrepareSettings(corpora=(), compound_splitting=True)
    preparation = Preparation(Words("de", "en", tokenized=True))
    splits = prepare_corpus([bitext], preparation, settings, {}, processes=1).splits
    found = [set(split.bitext.source) for split in splits.values()]
    assert sum(map(len, found)) == len(set().union(*found))
    assert sum(split.statistics["dropped"]["source in another split"] for split in splits.values()) > 0
