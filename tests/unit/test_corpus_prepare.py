"""``itersel corpus prepare``: text, splits, filters, samples, statistics."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.cli.main import main
from itersel.corpus.pipeline import Settings, prepare_corpus
from itersel.corpus.prepare import CompoundSplitter, Preparation, read_preparation
from itersel.corpus.recase import RecaserCounts
from itersel.corpus.split import sample, split_of, trainable
from itersel.corpus.text import Bitext
from itersel.limits import SPLITS
from itersel.storage.files import read_lines, write_lines

LANGUAGES = ("--source-language=de", "--target-language=en")


@pytest.mark.parametrize(
    ("language", "raw", "tokens"),
    [
        # output of Moses, checked by hand: quotes, abbreviations, apostrophes by language, nothing escaped
        ("de", "Er sagte: „Z.B. 3,5 % & <B>“.", 'er sagte : " z.b. 3,5 ▁% & <B> " .'),
        ("en-us", "Don’t use “A1” (yet)…", 'don \'t use " a1 " ( yet ) ...'),
        ("fr", "L’aide — d'abord.", "l' aide - d' abord ."),
        ("ja", "Calcの図", "calc￭ の 図"),
        ("de", "u\u0308ber", "\u00fcber"),
    ],
)
def test_raw_text(language: str, raw: str, tokens: str) -> None:
    assert Preparation(language, language).source([raw]) == [tokens]
    assert Preparation("de", language).target([raw]) == [tokens]


def test_no_warning_in_a_container_without_shared_memory() -> None:
    """There is no semaphore for joblib there, which sacremoses imports."""
    refuse = "def refuse(*_, **__): raise OSError(38, 'Function not implemented')"
    code = f"{refuse}\nimport _multiprocessing\n_multiprocessing.SemLock = refuse\n"
    code += "from itersel.corpus.tokenization import tokenizer\nprint(*tokenizer('de').tokenize('Ja.'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("Ja .\n", "")


def test_tokenized_text_keeps_its_tokens() -> None:
    preparation = Preparation("de", "en", tokenized=True)
    assert preparation.source(["Z.B.  (DAS)  u\u0308ber-Haus "]) == ["z.b. (das) \u00fcber-haus"]


def test_preparation_file(tmp_path: Path) -> None:
    files = prepare_options(tmp_path, ["haus tür"] * 2 + ["haustür"], ["house door"] * 3)
    out = tmp_path / "out"
    train = ["--split=train", "--split-compounds", "--deduplicate=none", f"--output={out}"]
    assert main([*files, *LANGUAGES, *train]) == 0
    assert read_lines(out / "train.source.gz") == ["haus tür"] * 3
    write_lines(tmp_path / "source", ["Die Haustür.", "", "Tür"])
    options = ["--preparation", str(out / "preparation.json"), "--split", "dev", "--output", str(out)]
    assert main([*files, *options]) == 0
    # The words of dev are split by the counts of train; empty lines of dev stay.
    assert read_lines(out / "dev.source.gz") == ["die haus tür .", "", "tür"]
    preparation = read_preparation(out / "preparation.json")
    assert preparation.split_compounds(preparation.source(["Türhaus!"])) == ["tür haus !"]
    assert main([*files, *options, "--tokenized"]) == 1


@pytest.mark.parametrize(
    ("what", "kept"),
    [(None, [0, 1, 3]), ("pairs", [0, 1, 3]), ("source", [0, 3]), ("none", [0, 1, 2, 3, 4])],
)
def test_duplicates_in_train(tmp_path: Path, what: str | None, kept: list[int]) -> None:
    """The first of each stays, with its label; case and compounds do not make a difference."""
    source = ["Das Haus", "Das Haus", "das haus", "ein Haus Tür", "Ein Haustür"]
    target = ["the house", "this house", "The house", "a door", "a door"]
    files = prepare_options(tmp_path, source, target, list("abcde"))
    options = [*LANGUAGES, "--split-compounds", "--split=train"]
    options += ["--deduplicate", what] if what else []
    assert main([*files, *options, "--output", str(tmp_path)]) == 0
    assert read_lines(tmp_path / "train.task.gz") == ["abcde"[index] for index in kept]
    statistics = json.loads((tmp_path / "train.statistics.json").read_text())
    assert statistics["splits"]["train"]["dropped"].get("duplicates", 0) == 5 - len(kept)


@pytest.mark.parametrize("split_compounds", [True, False])
def test_duplicates_are_found_among_what_can_be_trained_on(tmp_path: Path, split_compounds: bool) -> None:
    files = prepare_options(tmp_path, ["ein haus", "ein haus", "ein haus"], ["", "a " * 40, "a house"])
    options = [*LANGUAGES, "--split", "train"]
    options += ["--deduplicate", "source", *(["--split-compounds"] if split_compounds else [])]
    assert main([*files, *options, "--output", str(tmp_path)]) == 0
    assert read_lines(tmp_path / "train.target.gz") == ["a house"]


def prepare_options(
    folder: Path, source: list[str], target: list[str], task: list[str] | None = None
) -> list[str]:
    write_lines(folder / "source", source)
    write_lines(folder / "target", target)
    options = ["corpus", "prepare", f"--source={folder / 'source'}", f"--target={folder / 'target'}"]
    if task is not None:
        write_lines(folder / "task", task)
        options += ["--task", str(folder / "task")]
    return options


def prepare_train(
    folder: Path, lines: list[tuple[str, str]], *options: str
) -> dict[str, list[tuple[str, str]]]:
    """Prepare train from pairs, and return the pairs of all splits that are written."""
    folder.mkdir(exist_ok=True)
    files = prepare_options(folder, [source for source, _ in lines], [target for _, target in lines])
    output = folder / "out"
    assert main([*files, *LANGUAGES, "--split=train", f"--output={output}", *options]) == 0
    splits = [path.name.split(".")[0] for path in output.glob("*.source.gz")]
    return {
        split: list(
            zip(*(read_lines(output / f"{split}.{side}.gz") for side in ("source", "target")), strict=True)
        )
        for split in splits
    }


def test_several_processes_prepare_the_same_text(tmp_path: Path) -> None:
    """There are more blocks than processes."""
    lines = [(f"Der Satz Nr. {n}, am 1. Mai " * 3, f"Sentence no. {n}, May 1") for n in range(6000)]
    lines[7] = ("", "")
    options = ["--split-compounds", "--cut", "dev=3"]
    for jobs in ("1", "2"):
        prepare_train(tmp_path / jobs, lines, *options, "--jobs", jobs)
    files = sorted(path.name for path in (tmp_path / "1" / "out").iterdir())
    assert "train.source.gz" in files
    for name in files:
        assert (tmp_path / "1" / "out" / name).read_bytes() == (tmp_path / "2" / "out" / name).read_bytes()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bad_line_in_several_processes(
    tmp_path: Path, jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = prepare_options(tmp_path, ["haus"] * 9 + ["a\x07b"], ["house"] * 10)
    options = [*LANGUAGES, "--jobs", jobs]
    assert main([*files, *options, "--output", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "source:10: control character U+0007" in error
    assert not (tmp_path / "out").exists()


@given(st.data())
def test_sets_that_are_cut_from_train(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
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
    assert read_lines(folder / "a/out/test.raw.gz") == [target for _, target in one["test"]]


def test_a_set_that_grows_keeps_its_sentences(tmp_path: Path) -> None:
    lines = [(f"satz {number}", f"sentence {number}") for number in range(20)]
    small, large = (prepare_train(tmp_path / size, lines, "--cut", f"dev={size}") for size in ("3", "5"))
    assert large["dev"][:3] == small["dev"]


def test_too_few_sentences_to_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = prepare_options(tmp_path, ["eins", "zwei", "zwei"], ["one", "two", "TWO"])
    options = [*LANGUAGES, "--split", "train", "--cut", "dev=3"]
    assert main([*files, *options, "--output", str(tmp_path / "out")]) == 1
    message = "train has 2 different sentences, too few to cut 3 for dev"
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_pairs_of_held_out_sets_are_not_in_train(tmp_path: Path) -> None:
    """With any of their references; the first set that has a pair is named."""
    for name, text in {
        "dev": "Das Haus\nDer Hund\n",
        "dev.0": "the cottage\nthe dog\n",
        "dev.1": "the House\nthe hound\n",
        "test": "ein Tier\nDer Hund\n",
        "test.0": "an animal\nthe dog\n",
    }.items():
        (tmp_path / name).write_text(text)
    sets = ["--held-out", "dev", f"--source={tmp_path / 'dev'}"]
    sets += [f"--target={tmp_path / f'dev.{number}'}" for number in range(2)]
    sets += ["--held-out", "test", f"--source={tmp_path / 'test'}", f"--target={tmp_path / 'test.0'}"]
    lines = [("das haus", "the house"), ("das Haus", "a house"), ("der Hund", "the dog"), ("neu", "new")]
    found = prepare_train(tmp_path / "dropped", lines, *sets)
    assert found == {"train": [("das haus", "a house"), ("neu", "new")]}
    document = json.loads((tmp_path / "dropped/out/train.statistics.json").read_text())
    assert document["splits"]["train"]["dropped"]["also in dev"] == 2
    assert document["overlaps"] == [{"split": "test", "other": "dev", "pairs": 1}]
    kept = prepare_train(tmp_path / "kept", lines, "--keep-overlap", *sets)
    assert len(kept["train"]) == 4
    document = json.loads((tmp_path / "kept/out/train.statistics.json").read_text())
    assert document["overlaps"] == [
        {"split": "dev", "other": "train", "pairs": 2},
        {"split": "test", "other": "train", "pairs": 1},
        {"split": "test", "other": "dev", "pairs": 1},
    ]


@pytest.fixture(scope="module")
def hashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with 1,000 pairs split by hash; each source occurs twice, with different targets."""
    folder = tmp_path_factory.mktemp("hashed")
    source = [f"Satz {number // 2}" for number in range(1000)] + ["satz 1"]
    target = [f"Sentence {number}" for number in range(1000)] + ["sentence 2"]
    task = ["even" if number % 4 < 2 else "odd" for number in range(1000)] + ["odd"]
    options = prepare_options(folder, source, target, task)
    assert main([*options, *LANGUAGES, f"--output={folder}"]) == 0
    return folder


def read_split(folder: Path, split: str) -> list[tuple[str, str, str]]:
    columns = [read_lines(folder / f"{split}.{column}.gz") for column in ("source", "target", "task")]
    return list(zip(*columns, strict=True))


def test_no_source_is_in_two_splits_and_no_pair_is_lost(hashed: Path) -> None:
    splits = {split: read_split(hashed, split) for split in SPLITS}
    sources = {split: {source for source, _, _ in pairs} for split, pairs in splits.items()}
    assert sum(map(len, sources.values())) == len(set.union(*sources.values())) == 500
    assert sum(map(len, splits.values())) == len(set().union(*splits.values())) == 1000


def test_equal_pairs_become_one_and_are_counted(hashed: Path) -> None:
    statistics = json.loads((hashed / "statistics.json").read_text())["splits"]
    # "Satz 1 / Sentence 2" and its lowercased copy
    assert sum(split["dropped"]["duplicates"] for split in statistics.values()) == 1
    kept = [
        pair for split in SPLITS for pair in read_split(hashed, split) if pair[:2] == ("satz 1", "sentence 2")
    ]
    assert kept == [("satz 1", "sentence 2", "odd")]


def test_held_out_modules_are_test_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their pairs are in no other split; they lose pairs whose source is in another split."""
    source = [f"Satz {number}" for number in range(600)] + ["Satz 1", "Satz 599"]
    target = [f"Sentence {number}" for number in range(600)] + ["Other", "Another"]
    task = [("calc", "basic", "math")[number // 200] for number in range(600)] + ["basic", "basic"]
    options = prepare_options(tmp_path, source, target, task)
    options += [*LANGUAGES, "--output", str(tmp_path)]
    assert main([*options, "--held-out-modules", "basic,math"]) == 0
    splits = {split: read_split(tmp_path, split) for split in (*SPLITS, "test.basic", "test.math")}
    assert [{pair[2] for pair in splits[split]} for split in SPLITS] == [{"calc"}] * 4
    assert sum(len(splits[split]) for split in SPLITS) == 200
    # "Satz 1" is in another split with calc; "Satz 599" is in math, which comes after
    assert len(splits["test.basic"]) == 201
    assert len(splits["test.math"]) == 199
    dropped = json.loads((tmp_path / "statistics.json").read_text())["splits"]["test.basic"]["dropped"]
    assert dropped["source in another split"] == 1
    assert main([*options, "--held-out-modules", "draw"]) == 1
    assert "no pair is of module draw; there are basic, calc, math" in capsys.readouterr().err
    assert main([*options, "--held-out-modules", "a/b"]) == 1
    assert "'a/b' cannot be the name of a test set" in capsys.readouterr().err
    assert main([*options, "--held-out-modules", "basic,basic"]) == 1
    assert "two test sets are named 'basic'" in capsys.readouterr().err
    out = tmp_path / "of modules"
    modules = ["--modules", "math", "--held-out-modules", "basic", "--output", str(out)]
    assert main([*options, *modules]) == 0
    assert {pair[2] for pair in read_split(out, "train")} == {"math"}
    assert {pair[2] for pair in read_split(out, "test.basic")} == {"basic"}


@pytest.mark.parametrize("first", ["calc", "basic"])
def test_shared_pairs_are_not_held_out(tmp_path: Path, first: str) -> None:
    """Regardless of which module comes first."""
    second = "basic" if first == "calc" else "calc"
    source = [f"Satz {number}" for number in range(400)] + ["Hilfe", "Hilfe"]
    target = [f"Sentence {number}" for number in range(400)] + ["Help", "Help"]
    task = [("calc", "basic")[number // 200] for number in range(400)] + [first, second]
    options = prepare_options(tmp_path, source, target, task)
    options += [*LANGUAGES, "--output", str(tmp_path)]
    assert main([*options, "--held-out-modules", "basic"]) == 0
    splits = {split: read_split(tmp_path, split) for split in (*SPLITS, "test.basic")}
    places = [split for split, pairs in splits.items() if ("hilfe", "help", "calc") in pairs]
    assert places == [split_of("hilfe")]
    assert len(splits["test.basic"]) == 200


def test_several_references_stay_parallel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = prepare_options(tmp_path, ["Eins", "Zwei", "Drei"], ["One", "Two", "Three"])
    write_lines(tmp_path / "other", ["1!", "2!", "3!"])
    languages = [*LANGUAGES, "--max-held-out", "2"]
    options = [*files, "--target", str(tmp_path / "other"), *languages]
    assert main([*options, "--split", "test.news", "--output", str(tmp_path / "out")]) == 0
    names = ["test.news.source", "test.news.target", "test.news.target.1"]
    kept = list(zip(*[read_lines(tmp_path / f"out/{name}.gz") for name in names], strict=True))
    assert len(kept) == 2
    assert set(kept) < {("eins", "one", "1 !"), ("zwei", "two", "2 !"), ("drei", "three", "3 !")}
    assert main([*options, "--split", "train", "--output", str(tmp_path / "no")]) == 1
    assert "the corpus has 1 source file, but 2 target files" in capsys.readouterr().err
    write_lines(tmp_path / "other", ["1!", "2!"])
    assert main([*options, "--split", "test", "--output", str(tmp_path / "no")]) == 1
    assert f"source:3: has no partner: 3 lines, but 2 in {tmp_path / 'other'}" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


def test_statistics_are_those_of_the_files(hashed: Path) -> None:
    statistics = json.loads((hashed / "statistics.json").read_text())["splits"]
    for split in SPLITS:
        pairs = read_split(hashed, split)
        words = [word for source, _, _ in pairs for word in source.split()]
        assert statistics[split]["sentences"] == len(pairs)
        assert statistics[split]["source"] == {"tokens": len(words), "types": len(set(words))}
        assert sum(statistics[split]["tasks"].values()) == len(pairs)


def test_statistics_as_a_table(hashed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "statistics", str(hashed / "statistics.json")]) == 0
    header, _, *rows = capsys.readouterr().out.splitlines()
    assert " ".join(header.split()) == "split sentences source tokens source types target tokens target types"
    sizes = [str(len(read_split(hashed, split))) for split in SPLITS]
    assert [row.split()[:2] for row in rows[:4]] == [list(row) for row in zip(SPLITS, sizes, strict=True)]
    assert rows[4].endswith(": duplicates 1")


def test_split_is_md5_modulo_1000() -> None:
    # echo -n 'hilfe zu dieser hilfe' | md5sum: a 128-bit number, 15 modulo 1000, which is below 28.
    assert int("6c947b66a50508529f6d98e362086a5f", 16) % 1000 == 15
    assert split_of("hilfe zu dieser hilfe") == "dev"


def test_sizes_of_the_splits() -> None:
    counts = dict.fromkeys(SPLITS, 0)
    for number in range(20_000):
        counts[split_of(f"satz {number}")] += 1
    # 28, 28, 56 and 888 of 1000, within five standard deviations.
    for split, expected in (("dev", 560), ("devtest", 560), ("test", 1120), ("train", 17_760)):
        assert abs(counts[split] - expected) < 5 * expected**0.5


def test_filters_count_what_they_drop_and_why() -> None:
    source = ["a", "", "a b c d", "a b c d e f", "a", "a b"]
    target = ["x", "x", "x y", "x", "x y z v w", ""]
    kept, dropped = trainable(Bitext(source, target), max_length=5, max_ratio=3.0)
    assert kept == [0, 2]
    assert dropped == {"empty": 2, "too long": 1, "length ratio": 1}


def test_only_train_is_filtered(tmp_path: Path) -> None:
    options = prepare_options(tmp_path, ["a b c", ""], ["x", "y"])
    common = [
        *options,
        *LANGUAGES,
        "--output",
        str(tmp_path / "out"),
    ]
    assert main([*common, "--split", "test", "--max-length", "1"]) == 0
    assert read_lines(tmp_path / "out" / "test.source.gz") == ["a b c", ""]
    assert not (tmp_path / "out" / "preparation.json").exists()


def test_modules_and_bounds(tmp_path: Path) -> None:
    source = [f"satz {number}" for number in range(300)]
    task = ["swriter", "scalc", "smath"] * 100
    options = prepare_options(tmp_path, source, source, task)
    common = [*options, *LANGUAGES, "--output", str(tmp_path)]
    bounds = ["--max-train=50", "--max-held-out=2"]
    assert main([*common, "--modules=swriter,smath", *bounds]) == 0
    pairs = {split: read_split(tmp_path, split) for split in SPLITS}
    assert len(pairs["train"]) == 50
    assert all(1 <= len(pairs[split]) <= 2 for split in SPLITS[1:])
    assert {task for _, _, task in pairs["train"]} == {"swriter", "smath"}


@given(
    st.lists(st.tuples(st.text("ab", max_size=3), st.text("xy", max_size=3)), max_size=20), st.integers(0, 25)
)
def test_samples_are_nested_and_in_order(pairs: list[tuple[str, str]], count: int) -> None:
    bitext = Bitext([source for source, _ in pairs], [target for _, target in pairs])
    chosen = sample(bitext, count)
    assert len(chosen) == min(count, len(pairs))
    assert chosen == sorted(set(chosen))
    assert set(chosen) <= set(sample(bitext, count + 1))


def test_alignment_and_monolingual_text(tmp_path: Path) -> None:
    options = prepare_options(tmp_path, ["Ein Haus", "a " * 81, "Haus"], ["A house", "x " * 80, "House"])
    write_lines(tmp_path / "alignment", ["0-0 1-1", "0-0", "0-0"])
    write_lines(tmp_path / "more.gz", ["One  more", "", "And more"])
    files = [f"--alignment={tmp_path / 'alignment'}", f"--monolingual={tmp_path / 'more.gz'}", "--tokenized"]
    languages = [*LANGUAGES, "--output", str(tmp_path)]
    assert main([*options, *files, *languages, "--split", "train"]) == 0
    assert read_lines(tmp_path / "train.alignment.gz") == ["0-0 1-1", "0-0"]
    assert read_lines(tmp_path / "train.source.gz") == ["ein haus", "haus"]
    assert read_lines(tmp_path / "monolingual.gz") == ["one more", "and more"]
    statistics = json.loads((tmp_path / "train.statistics.json").read_text())
    assert statistics["monolingual"] == {"sentences": 2, "tokens": 4, "types": 3, "dropped": {"empty": 1}}


def test_split_compounds_do_not_put_a_source_into_two_splits() -> None:
    """The hash may put `türhaus` and `tür haus`, which are equal once split, into different splits."""
    words = [f"{a}{b}" for a in ("tür", "baum", "wand", "dach") for b in ("haus", "bild", "stein", "licht")]
    whole = [f"{one} {two}" for one in words for two in words]
    known = ["tür", "baum", "wand", "dach", "haus", "bild", "stein", "licht"] * 50
    splitter = CompoundSplitter.learn(known)
    others = [f"satz {number}" for number in range(500)]
    sources = [*known, *whole, *map(splitter.split_sentence, whole), *others]
    bitext = Bitext(sources, [f"{number}" for number in range(len(sources))])
    preparation = Preparation("de", "en", tokenized=True)
    settings = Settings(split_compounds=True)
    splits = prepare_corpus([bitext], preparation, settings, RecaserCounts(), {}, processes=1).splits
    found = [set(split.bitext.source) for split in splits.values()]
    assert sum(map(len, found)) == len(set().union(*found))
    assert sum(split.statistics["dropped"]["source in another split"] for split in splits.values()) > 0
