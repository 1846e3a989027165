"""The script that compares systems on sentences with and without a near-duplicate in the training corpus."""

import importlib.util

import pytest
from tests.refusals import check_facts

from itersel.storage.files import write_lines

TRAIN = ["a b c d", "e f g h i j k l m n", "p q"]
# three of four words; nine of ten; without a common bigram; with the same beginning
TEST = ["a b c x", "e f g h x j k l m n", "q p", "p x y z"]
REFERENCE = ["one two three four", "five six seven eight", "nine ten eleven twelve", "one two five six"]


@pytest.fixture
def script(root):
    path = root / "experiments/package-descriptions/near_duplicates.py"
    specification = importlib.util.spec_from_file_location("near_duplicates", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def run(tmp_path):
    """Write a run in which the system is right where there is a near-duplicate, the baseline elsewhere."""
    folder = tmp_path / "it"
    write_lines(folder / "corpus/train.source.gz", TRAIN)
    write_lines(folder / "corpus/test.source.gz", TEST)
    write_lines(folder / "corpus/test.target.gz", REFERENCE)
    wrong = ["one"] * 2
    write_lines(folder / "experiments/dev/best/test.txt", [*wrong, *REFERENCE[2:]])
    write_lines(folder / "experiments/train/best/test.txt", [*REFERENCE[:2], *wrong])
    return folder


@pytest.mark.parametrize(
    ("one", "other", "similarity"),
    [("a b c d", "a b c d", 1), ("a b c d", "a x b y d", 1 - 2 / 5), ("a b", "c d e", 0)],
)
def test_similarity(script, one, other, similarity):
    assert script.similarity_of(one.split(), other.split()) == pytest.approx(similarity)


def test_best_similarities(script):
    train, test = ([line.split() for line in lines] for lines in (TRAIN, TEST))
    assert script.best_similarities(train, test) == pytest.approx([0.75, 0.9, 0, 0.25])


def test_frequent_bigrams_suggest_nothing(script, monkeypatch):
    monkeypatch.setattr(script, "MAX_SENTENCES_PER_BIGRAM", 1)
    assert script.best_similarities([["a"], ["a"], ["b"]], [["a"], ["b"]]) == [0, 1]


def test_table(script, run, monkeypatch, capsys):
    monkeypatch.setattr(
        "sys.argv", ["near_duplicates.py", str(run), "--baseline", "dev", "--system", "train"]
    )
    script.main()
    header, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert header == ["run", "near-duplicate", "sentences", "baseline", "system", "difference", "p"]
    assert [row[:3] for row in rows] == [["it", "no", "2"], ["it", "yes", "2"], ["it", "all", "4"]]
    (_, _, _, baseline, system, difference, _), (_, _, _, *near, _), _ = rows
    assert (baseline, difference) == ("100.00", f"{float(system) - 100:+.2f}")
    assert near == ["0.00", "100.00", "+100.00"]


def test_a_system_and_itself(script, run, monkeypatch, capsys):
    arguments = ["near_duplicates.py", str(run), "--baseline", "dev", "--system", "dev"]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit):
        script.main()
    check_facts(capsys.readouterr().err, "--baseline", "--system", "dev")


@pytest.mark.parametrize("similarity", ["0", "1.5"])
def test_similarity_out_of_range(script, similarity, monkeypatch, capsys):
    arguments = ["near_duplicates.py", "it", "--baseline", "dev", "--system", "train"]
    monkeypatch.setattr("sys.argv", [*arguments, "--similarity", similarity])
    with pytest.raises(SystemExit):
        script.main()
    check_facts(capsys.readouterr().err, "--similarity", similarity)


@pytest.mark.parametrize("name", ["corpus/train.source.gz", "experiments/dev/best/test.txt"])
def test_missing_files(script, run, name, monkeypatch):
    monkeypatch.setattr(
        "sys.argv", ["near_duplicates.py", str(run), "--baseline", "dev", "--system", "train"]
    )
    (run / name).unlink()
    with pytest.raises(SystemExit) as error:
        script.main()
    check_facts(str(error.value), run / name)


def test_short_translation(script, run, monkeypatch):
    monkeypatch.setattr(
        "sys.argv", ["near_duplicates.py", str(run), "--baseline", "dev", "--system", "train"]
    )
    path = run / "experiments/train/best/test.txt"
    write_lines(path, REFERENCE[:3])
    with pytest.raises(SystemExit) as error:
        script.main()
    check_facts(str(error.value), f"{run / 'corpus/test.target.gz'}:4", path)
