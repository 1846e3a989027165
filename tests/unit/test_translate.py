"""Translation of raw text: in batches, as a stream, by several processes, and with details."""

import errno
import json
import os
import shutil
import subprocess
import sys
from unittest import mock

import numba
import psutil
import pytest
from tests.refusals import check_facts
from tests.systems import WEIGHTS, make_system, raw_text, translate

from itersel.cli.main import main
from itersel.system.trained_translator import load_translator
from itersel.translate.translator import (
    MAX_SENTENCE,
    MAX_SENTENCE_BYTES,
    Details,
    TextBlock,
    Translator,
    read_blocks,
)

DETAILS = ["--k-best", "4", "--feature-values", "--alignments", "--derivations"]
COMMAND = [sys.executable, "-m", "itersel.cli.main", "translate"]
# fewer if kernels are interpreted
SENTENCES = 36 if numba.config.DISABLE_JIT else 171
KEYS = {"--alignments": "alignment", "--derivations": "derivation", "--feature-values": "features"}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "raw"
    path.write_text("".join(line + "\n" for line in [*raw_text(SENTENCES - 21), "", *raw_text(20, 7)]))
    return path


def test_text_is_prepared_and_restored(system, tmp_path):
    (tmp_path / "raw").write_text("Das kleine Hausboot am Fluss bleibt.\n\nDas alte Boot liegt (Zebra).\n")
    lines = translate(system, tmp_path / "raw", tmp_path / "out")
    # the compound is split, case is restored, and there is no space before the full stop
    assert lines == ["The small house ship stays at the River.", "", "The old ship lies (zebra)."]
    tokens = translate(system, tmp_path / "raw", tmp_path / "out", "--keep-tokens")
    assert tokens == ["the small house ship stays at the river .", "", "the old ship lies ( zebra ) ."]


@pytest.mark.parametrize("size", [1, 7])
def test_translations_do_not_depend_on_other_sentences(system, text, size):
    translator = Translator(load_translator(system))
    [whole] = read_blocks(text)
    pieces = [*read_blocks(text, size)]
    assert [line for piece in pieces for line in piece.lines] == whole.lines
    assert [piece.first for piece in pieces] == list(range(1, len(whole.lines) + 1, size))
    found = [line for piece in pieces for line in translator.translate(piece, text)]
    assert found == list(translator.translate(whole, text))


@pytest.mark.parametrize("details", [[], DETAILS], ids=["text", "JSON"])
def test_processes_give_the_same_bytes(system, text, tmp_path, monkeypatch, details):
    expected = translate(system, text, tmp_path / "one", *details)
    assert len(expected) == SENTENCES
    # three blocks
    monkeypatch.setattr("itersel.translate.translator.BLOCK_SENTENCES", SENTENCES // 3)
    assert translate(system, text, tmp_path / "two", "--processes", "2", *details) == expected


def stream(system, *options):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*COMMAND, "--system", str(system), *options], text=True, **pipes)


def answer(process, line):
    """Return the translation of a line; waits forever if the program first reads more lines."""
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    return process.stdout.readline()


@pytest.mark.parametrize("options", [["--k-best", "1"], ["--processes", "2"]], ids=" ".join)
def test_a_line_is_answered_before_the_end_of_input(system, options):
    process = stream(system, *options)
    for source, expected in (("Boot", "Ship"), ("a", "A"), ("", ""), ("Das kalte Haus.", "The cold house.")):
        line = answer(process, source)
        if "--k-best" in options:
            line = json.loads(line)["translations"][0]["text"] + "\n"
        assert line == expected + "\n"
    process.stdin.close()
    assert process.wait() == 0
    assert process.stdout.read() == ""


def test_a_stream_ends_at_a_bad_line_after_translating_earlier_ones(system):
    process = stream(system)
    assert answer(process, "Boot") == "Ship\n"
    output, error = process.communicate("Fluss\tHaus\n")
    assert (output, process.returncode) == ("", 1)
    check_facts(error, "itersel translate: <stdin>:2:", "U+0009")


@pytest.mark.parametrize("victim", ["children", "parent"])
def test_a_killed_process(system, victim):
    """Processes end with their parent, which reports it if they are killed."""
    process = stream(system, "--processes", "2")
    answer(process, "Boot")
    children = psutil.Process(process.pid).children(recursive=True)
    assert children
    if victim == "parent":
        process.kill()
        process.wait()
        psutil.wait_procs(children)
        return
    for child in children:
        child.kill()
    output, error = process.communicate("Boot\n")
    assert (output, process.returncode) == ("", 1)
    check_facts(error, "itersel translate:", "--processes")
    assert error.count("\n") == 1


def test_a_process_that_cannot_be_started_is_reported(system, text, refused):
    """It is not said to have been killed."""
    error = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    facts = "--processes"
    with mock.patch("multiprocessing.context.SpawnContext.Pipe", side_effect=error):
        refused(["translate", "--system", system, "--input", text, "--processes", "2"], facts)


# These would take minutes without any message, so they are rejected before extraction.
BYTES, WORDS = "a" * (MAX_SENTENCE_BYTES + 1), "a " * (MAX_SENTENCE + 1)
REJECTED = {"|||": "'|||'", BYTES: f"{MAX_SENTENCE_BYTES:,}", WORDS: (MAX_SENTENCE + 1, MAX_SENTENCE)}


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize(("line", "facts"), REJECTED.items(), ids=["reserved", "bytes", "words"])
def test_no_partial_output(system, tmp_path, refused, line, facts, processes):
    text, output = tmp_path / "text", tmp_path / "out"
    text.write_text(f"Boot\nBoot\n{line}\n")
    arguments = ["--system", system, "--input", text, "--output", output, "--processes", processes]
    refused(["translate", *arguments], (f"{text}:3:", facts))


@pytest.fixture(scope="module")
def documents(system, text, tmp_path_factory):
    output = tmp_path_factory.mktemp("details") / "out"
    return [json.loads(line) for line in translate(system, text, output, *DETAILS)]


def test_documents_have_the_translations_and_scores(documents, system, text, tmp_path):
    sources = text.read_text().splitlines()
    assert [one["source"] for one in documents] == sources
    assert [one["line"] for one in documents] == list(range(1, len(sources) + 1))
    texts = translate(system, text, tmp_path / "text")
    tokens = translate(system, text, tmp_path / "tokens", "--keep-tokens")
    assert [one["translations"][0]["text"] for one in documents] == texts
    assert [" ".join(one["translations"][0]["tokens"]) for one in documents] == tokens
    for one in documents:
        for translation in one["translations"]:
            assert all(translation["features"].values())
            score = sum(WEIGHTS.get(name, 0) * value for name, value in translation["features"].items())
            assert score == pytest.approx(translation["score"], abs=1e-9)
        scores = [translation["score"] for translation in one["translations"]]
        assert scores == sorted(scores, reverse=True)
        different = {tuple(translation["tokens"]) for translation in one["translations"]}
        assert len(different) == len(scores) == (4 if one["source"] else 1)


def read_rule(nodes, number):
    """Return the words of both sides of a tree."""
    node = nodes[number]
    _, source, target = (field.split() for field in node["rule"].split(" ||| "))
    parts = {gap: read_rule(nodes, child) for gap, child in enumerate(node["children"], 1)}
    sides = []
    for which, side in enumerate((source, target)):
        words = []
        for symbol in side:
            is_gap = symbol.startswith("[") and symbol.endswith(("1]", "2]"))
            words += parts[int(symbol[-2])][which] if is_gap else [symbol]
        sides.append(words)
    assert node["span"][1] - node["span"][0] == len(sides[0])
    for gap, child in enumerate(node["children"], 1):
        left = nodes[child]["rule"].partition(" ")[0]
        assert f"{left[:-1]},{gap}]" in source
        assert child > number
    return sides


def test_derivations_yield_the_translations(documents):
    for one in documents:
        for translation in one["translations"]:
            tree = translation["derivation"]
            if not one["source"]:
                assert (tree, translation["alignment"]) == ([], [])
                continue
            assert tree[0]["rule"].startswith("[S] ||| ")
            assert read_rule(tree, 0) == [one["tokens"], translation["tokens"]]
            model = WEIGHTS["LanguageModel"] * translation["features"]["LanguageModel"]
            assert sum(node["score"] for node in tree) + model == pytest.approx(translation["score"])


def test_alignments_are_those_of_the_rules(system):
    translator = Translator(load_translator(system), details=Details(alignments=True))
    [line] = translator.translate(TextBlock(1, ["Das alte Boot am Haus bleibt."]), "-")
    [best] = json.loads(line)["translations"]
    assert best["tokens"] == ["the", "old", "ship", "stays", "at", "the", "house", "."]
    assert best["alignment"] == [[0, 0], [1, 1], [2, 2], [3, 4], [3, 5], [4, 6], [5, 3], [6, 7]]


@pytest.mark.parametrize(("option", "key"), KEYS.items())
def test_only_requested_details_are_written(system, text, tmp_path, option, key):
    first = json.loads(translate(system, text, tmp_path / "out", option)[0])
    assert list(first) == ["line", "source", "tokens", "translations"]
    assert [list(one) for one in first["translations"]] == [["text", "tokens", "score", key]]


def test_a_long_sentence_has_a_derivation(system):
    """Its tree is deeper than the nesting limits of JSON and Python."""
    translator = Translator(load_translator(system), details=Details(derivations=True))
    [line] = translator.translate(TextBlock(1, [" ".join(["Zebra"] * 1500)]), "-")
    [best] = json.loads(line)["translations"]
    assert len(best["derivation"]) == 3000
    assert len(best["tokens"]) == 1500


def test_dense_systems_skip_sparse_features(tmp_path, text, monkeypatch):
    """They are not even extracted, which makes no difference."""
    dense = make_system(tmp_path / "run", "dense")
    lines = translate(dense, text, tmp_path / "out")
    translator = Translator(load_translator(dense))
    [block] = read_blocks(text)
    grammars = translator.extractor.extract(translator.prepare(block, text))
    assert grammars.feature_key.shape[0] == 0
    monkeypatch.setattr("itersel.translate.translator.replace", lambda settings, **_: settings)
    translator = Translator(load_translator(dense))
    assert translator.extractor.extract(translator.prepare(block, text)).feature_key.shape[0] > 0
    assert list(translator.translate(block, text)) == lines


def test_words_of_a_stream_are_forgotten(system):
    translator = Translator(load_translator(system))
    before = len(translator.extractor._ids), len(translator.extractor._words)
    for number in range(3):
        [line] = translator.translate(TextBlock(1, [f"Zebra{number} Boot Giraffe{number}"]), "-")
        assert line == f"Zebra{number} ship giraffe{number}"
        assert (len(translator.extractor._ids), len(translator.extractor._words)) == before


@pytest.mark.parametrize("processes", ["1", "2"])
def test_start_up_does_not_read_input_of_a_broken_system(tmp_path, refused, processes):
    command = ["translate", "--system", tmp_path / "none", "--processes", processes, "--input", "none"]
    refused(command, f"{tmp_path}/none:")


def test_weights_of_a_folder_and_of_a_bundle(system, tmp_path, capsys):
    """The same rows, after what is only known of a file."""
    assert main(["bundle", str(system), str(tmp_path / "bundle")]) == 0
    shown = []
    for path in (system, system / "weights.h5", tmp_path / "bundle"):
        capsys.readouterr()
        assert main(["weights", "show", str(path)]) == 0
        shown.append([line for line in capsys.readouterr().out.splitlines() if line[0] != "#"])
    assert shown[0] == shown[1] == shown[2] != []


def test_a_copied_folder_is_no_system(system, tmp_path, text, refused):
    copy = shutil.copytree(system, tmp_path / "a/b/copy")
    refused(["translate", "--system", copy, "--input", text], f"{copy}")
