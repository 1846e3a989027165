"""mtdata corpora and sacrebleu test sets: the real packages, with files placed in their download folders.

These tests have no network, so only files in these folders are available.
"""

import gzip
import importlib
import json
import logging
import socket
import sys
import types
from hashlib import md5
from unittest.mock import Mock

import pytest
from sacrebleu import utils
from sacrebleu.dataset import DATASETS
from tests.archives import archive

from itersel.cli.main import main
from itersel.config.reading import load_config
from itersel.corpus import fetch as fetching
from itersel.corpus.fetch import count_references
from itersel.storage.files import read_lines

LANGUAGES = ["--source-language=de", "--target-language=en-us"]


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    error = socket.gaierror(-2, "Name or service not known")
    monkeypatch.setattr(socket, "getaddrinfo", Mock(side_effect=error))


@pytest.fixture(scope="module")
def mtdata_folder(tmp_path_factory):
    """Return mtdata's folder, with an index of only the WMT datasets, created by mtdata."""
    pytest.importorskip("mtdata", reason="needs mtdata: pip install 'itersel[mtdata]'")
    folder = tmp_path_factory.mktemp("mtdata")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in sys.modules if name.partition(".")[0] == "mtdata"]:
            patch.delitem(sys.modules, name)
        patch.setenv("MTDATA", str(folder))
        patch.chdir(folder)
        empty = types.SimpleNamespace(load_all=lambda index: None)
        # the others have hundreds of thousands of datasets, and take a minute
        for name in (
            *("paracrawl", "tilde", "joshua_indian", "unitednations", "wikimatrix", "other", "anuvaad", "eu"),
            *("neulab_tedtalks", "elrc_share", "ai4bharat", "linguatools", "allenai_nllb", "flores"),
            *("leipzig", "opus.opus_index", "opus.opus100", "huggingface"),
        ):
            patch.setitem(sys.modules, f"mtdata.index.{name}", empty)
        fetching._mtdata()
        yield folder


def fetch(folder, *options, languages=LANGUAGES):
    return ["corpus", "fetch", *options, *languages, f"--output={folder / 'out'}"]


def fetched(folder, *columns):
    return [read_lines(folder / f"out/{column}.gz") for column in columns]


def keep(folder, name, content):
    """Put a file where mtdata stores the download of a dataset."""
    data = importlib.import_module("mtdata.data")
    entry = data.INDEX[data.DatasetId.parse(name)]
    digest = md5(entry.url.encode()).hexdigest()
    path = folder / entry.url.split("/")[2] / digest[:4] / digest[4:] / entry.filename
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.with_name(f"{path.name}._valid").touch()
    return path


def test_datasets_are_joined(tmp_path, mtdata_folder, capsys):
    """A TSV file and an archive of parallel files; unusable pairs are counted."""
    tsv = "Ein  Haus\tA house\nNur hier\t\nEine\x0bTür\tA door\n"
    keep(mtdata_folder, "Statmt-news_commentary-16-deu-eng", gzip.compress(tsv.encode()))
    sides = {"de": "Eins\nZwei ||| 2\n", "en": "One\nTwo\n"}
    files = {f"europarl-v7.de-en.{side}": text.encode() for side, text in sides.items()}
    keep(mtdata_folder, "Statmt-europarl-7-deu-eng", archive(files))
    names = ["Statmt-news_commentary-16-deu-eng", "Statmt-europarl-7-deu-eng"]
    assert main(fetch(tmp_path, "--mtdata", names[0], "--mtdata", names[1])) == 0
    pairs = [["Ein Haus", "Eine Tür", "Eins"], ["A house", "A door", "One"]]
    assert fetched(tmp_path, "source", "target") == pairs
    document = json.loads((tmp_path / "out/statistics.json").read_text())
    assert (document["datasets"], document["pairs"]) == (names, 3)
    assert document["dropped"] == {"empty": 1, "with |||": 1}
    assert [*document["packages"]] == ["mtdata"]
    assert capsys.readouterr() == ("3 pairs\n", "")
    assert logging.root.manager.disable == logging.NOTSET


def test_reversed_languages(tmp_path, mtdata_folder):
    keep(mtdata_folder, "Statmt-news_commentary-15-deu-eng", gzip.compress(b"Haus\thouse\n"))
    languages = ["--source-language=en", "--target-language=de"]
    assert main(fetch(tmp_path, "--mtdata=Statmt-news_commentary-15-deu-eng", languages=languages)) == 0
    assert fetched(tmp_path, "source", "target") == [["house"], ["Haus"]]


def test_unavailable_datasets(tmp_path, mtdata_folder, refused):
    for name, facts in (
        ("Statmt-europrl-7-deu-eng", "'Statmt-europrl-7-deu-eng'"),
        ("Statmt-europarl-7-ces-eng", "'Statmt-europarl-7-ces-eng'"),
        ("Statmt-news_crawl-2019-eng", "'Statmt-news_crawl-2019-eng'"),
        ("Statmt-europarl-7-xxxx-eng", "'Statmt-europarl-7-xxxx-eng'"),
        ("europarl", "'europarl'"),
        ("Statmt-europarl-9-deu-eng", ("'Statmt-europarl-9-deu-eng'", "'www.statmt.org'", "[Errno -2]")),
    ):
        refused(fetch(tmp_path, "--mtdata", name), facts)


def test_damaged_downloads(tmp_path, mtdata_folder, refused):
    name = "Statmt-europarl-10-deu-eng"
    for content, facts in (
        (b"no gzip", f"'{name}'"),
        (gzip.compress(b"Haus\n"), f"'{name}'"),
        (gzip.compress(b"Haus\t\n"), f"'{name}'"),
    ):
        keep(mtdata_folder, name, content)
        refused(fetch(tmp_path, "--mtdata", name), facts)


def test_missing_package(tmp_path, refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "mtdata", None)
    facts = "'itersel[mtdata]'"
    refused(fetch(tmp_path, "--mtdata", "Statmt-europarl-7-deu-eng"), facts)


@pytest.fixture
def sacrebleu_folder(tmp_path_factory, monkeypatch):
    """Return sacrebleu's folder, the path of which its test sets also store."""
    folder = tmp_path_factory.mktemp("sacrebleu")
    monkeypatch.setattr(utils, "SACREBLEU_DIR", str(folder))
    for name in ("wmt11", "wmt20/tworefs", "wmt19"):
        monkeypatch.setattr(DATASETS[name], "_outdir", str(folder / name))
        monkeypatch.setattr(DATASETS[name], "_rawdir", str(folder / name / "raw"))
    return folder


def test_a_test_set(tmp_path, sacrebleu_folder, capsys, monkeypatch):
    """sacrebleu extracts the text of a test set that it has downloaded but not unpacked."""
    raw = sacrebleu_folder / "wmt11/raw"
    raw.mkdir(parents=True)
    for side, lines in (("de", ["Ein  Haus", "Eine Tür"]), ("en", ["A house", "A door"])):
        segments = "".join(f'<seg id="{n}">{line}</seg>\n' for n, line in enumerate(lines, 1))
        (raw / f"newstest2011-src.{side}.sgm").write_text(f'<doc docid="x">\n{segments}</doc>\n')
    (raw / "wmt11.test.tgz").write_bytes(b"downloaded")
    monkeypatch.setattr(DATASETS["wmt11"], "md5", None)
    monkeypatch.setattr(DATASETS["wmt11"], "data", ["http://example.org/test.tgz"])
    assert main(fetch(tmp_path, "--sacrebleu", "wmt11")) == 0
    assert fetched(tmp_path, "source", "target") == [["Ein Haus", "Eine Tür"], ["A house", "A door"]]
    assert json.loads((tmp_path / "out/statistics.json").read_text())["pairs"] == 2
    assert capsys.readouterr() == ("2 pairs\n", "")


def write_fields(folder, name, **fields):
    (folder / name).mkdir(parents=True)
    for field, text in fields.items():
        (folder / name / f"{name.replace('/', '_')}.de-en.{field.replace('_', '-')}").write_text(text)


def test_several_references(tmp_path, sacrebleu_folder):
    fields = dict.fromkeys(("docid", "genre", "origlang"), "x\n")
    fields |= {"src": "Haus\n", "ref_0": "house\n", "ref_1": "building\n"}
    write_fields(sacrebleu_folder, "wmt20/tworefs", **fields)
    assert main(fetch(tmp_path, "--sacrebleu", "wmt20/tworefs")) == 0
    assert fetched(tmp_path, "source", "target", "target.1") == [["Haus"], ["house"], ["building"]]


def test_sides_of_different_length(tmp_path, sacrebleu_folder, refused):
    fields = dict.fromkeys(("src", "docid", "genre", "origlang"), "x\nx\n")
    write_fields(sacrebleu_folder, "wmt11", ref="x\n", **fields)
    command = fetch(tmp_path, "--sacrebleu", "wmt11")
    refused(command, ("wmt11.de-en.ref", 1), ("wmt11.de-en.src", 2))


def test_unavailable_test_sets(tmp_path, sacrebleu_folder, refused):
    for name, facts in (
        ("wmt19", ("'wmt19'", "[Errno -2]")),
        ("wmt111", "'wmt111'"),
        ("mtnt1.1/train", ("'mtnt1.1/train'", "de-en-us")),
    ):
        refused(fetch(tmp_path, "--sacrebleu", name), facts)


def test_numbers_of_references_are_known_beforehand():
    """Planning needs them before the download; sets from 2021 on have several, not all of them used."""
    assert count_references("wmt11", "de", "en-us") == 1
    assert count_references("wmt20/tworefs", "de", "en") == 2
    assert count_references("wmt21", "de", "en") == 1
    assert count_references("wmt21/AB", "en", "de") == 2


@pytest.mark.parametrize("name", ["europarl", "news-commentary"])
def test_datasets_of_the_experiments_exist(root, mtdata_folder, name):
    config = load_config(root / f"experiments/{name}.yaml")
    datasets = [one for corpus in config.data.train.values() for one in corpus.mtdata]
    assert datasets
    for one in datasets:
        assert not fetching._find(one, config.data.source_language, config.data.target_language)[1]
    held_out = [config.data.dev, config.data.devtest, *config.data.test.values()]
    assert all(text.sacrebleu for text in held_out)
